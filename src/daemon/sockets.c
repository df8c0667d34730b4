#include "daemon/sockets.h"

#include "base/log.h"
#include "daemon/http.h"
#include "daemon/jobs_socket.h"

int sockets_open(struct sockets *sockets, struct fault *fault)
{
    const struct settings *settings = sockets->service.settings;
    int result = 0;
    service_init(&sockets->service);
    if (settings->http.unix_path)
        result = http_open(&sockets->http, &sockets->service, &settings->http, sockets->changed,
                           sockets->context, fault);
    if (result == 0 && settings->jobs_socket.unix_path)
        result = jobs_socket_open(&sockets->jobs, &sockets->service, &settings->jobs_socket,
                                  sockets->changed, sockets->context, fault);
    return result;
}

bool sockets_are_idle(const struct sockets *sockets)
{
    return http_is_idle(sockets->http) && jobs_socket_is_idle(sockets->jobs);
}

void sockets_close(struct sockets *sockets)
{
    http_close(&sockets->http);
    jobs_socket_close(&sockets->jobs);
    if (sockets->service.started != 0)
        service_finish(&sockets->service);
}
