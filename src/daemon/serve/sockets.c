#include "daemon/serve/sockets.h"

#include "base/log.h"
#include "daemon/serve/http.h"
#include "daemon/serve/jobs_socket.h"
#include "daemon/serve/manager.h"

#include <sys/socket.h>

/* A socket from the service manager is used even if the settings do not name it. */
static bool is_wanted(const struct socket_settings *settings, int type)
{
    return settings->unix_path || manager_has_socket(type);
}

int sockets_open(struct sockets *sockets, struct fault *fault)
{
    const struct settings *settings = sockets->service.settings;
    int result = 0;
    service_init(&sockets->service);
    if (is_wanted(&settings->http, SOCK_STREAM))
        result = http_open(&sockets->http, &sockets->service, &settings->http, sockets->changed,
                           sockets->context, fault);
    if (result == 0 && is_wanted(&settings->jobs_socket, SOCK_SEQPACKET))
        result = jobs_socket_open(&sockets->jobs, &sockets->service, &settings->jobs_socket,
                                  sockets->changed, sockets->context, fault);
    manager_drop_sockets();
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
