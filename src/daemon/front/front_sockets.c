/* The sockets that the settings ask for, and what they need to know of the front. */
#include "daemon/front/front_internal.h"

#include "base/log.h"
#include "base/text.h"
#include "daemon/serve/http.h"
#include "daemon/serve/jobs_socket.h"
#include "daemon/serve/manager.h"

#include <sys/socket.h>

static const char *state(void *context)
{
    return front_state_name(context);
}

/* Chains with names come first, then those that folders have without a name. */
static bool chain(void *context, size_t index, const char **name, const char **text)
{
    const struct front *front = context;
    const struct config *config = &front->book->config;
    if (index < config->n_chains) {
        *name = config->chains[index].name;
        *text = config->chains[index].text;
        return true;
    }
    index -= config->n_chains;
    for (size_t i = 0; i < config->settings.n_watches; i++) {
        const struct watch_settings *watch = &config->settings.watches[i];
        if (!watch->chain_name && index-- == 0) {
            *name = NULL;
            *text = watch->chain;
            return true;
        }
    }
    return false;
}

/* Folders that are not started yet, or have stopped, have no files. */
static struct folder *folder(void *context, size_t index)
{
    const struct front *front = context;
    for (size_t i = 0; i < front->n_folders; i++)
        if (!front->folders[i].waits && !front->folders[i].stopped && index-- == 0)
            return front->folders[i].folder;
    return NULL;
}

static const struct supervisor *supervisor(void *context, size_t index)
{
    const struct front *front = context;
    const struct crew *crew = index == 0 ? front->crew : index == 1 ? front->next_crew : NULL;
    return crew ? &crew->supervisor : NULL;
}

static void measure(void *context)
{
    front_measure(context);
}

static void on_changed(void *context)
{
    front_leave_if_done(context);
}

/* A socket from the service manager is used even if the settings do not name it. */
static bool is_wanted(const struct socket_settings *settings, int type)
{
    return settings->unix_path || manager_has_socket(type);
}

static int listen_to(struct front *front, struct fault *fault)
{
    const struct settings *settings = front->sockets.service.settings;
    int result = 0;
    service_init(&front->sockets.service);
    if (is_wanted(&settings->http, SOCK_STREAM))
        result = http_open(&front->sockets.http, &front->sockets.service, &settings->http,
                           on_changed, front, fault);
    if (result == 0 && is_wanted(&settings->jobs_socket, SOCK_SEQPACKET))
        result = jobs_socket_open(&front->sockets.jobs, &front->sockets.service,
                                  &settings->jobs_socket, on_changed, front, fault);
    manager_drop_sockets();
    return result;
}

int front_open_sockets(struct front *front, struct fault *fault)
{
    front->sockets.service = (struct service){.loop = &front->loop,
                                              .queue = &front->queue,
                                              .metrics = front->metrics,
                                              .settings = &front->book->config.settings,
                                              .state = state,
                                              .chain = chain,
                                              .folder = folder,
                                              .supervisor = supervisor,
                                              .measure = measure,
                                              .context = front};
    return listen_to(front, fault);
}

bool front_sockets_are_idle(const struct front *front)
{
    return http_is_idle(front->sockets.http) && jobs_socket_is_idle(front->sockets.jobs);
}

void front_close_sockets(struct front *front)
{
    http_close(&front->sockets.http);
    jobs_socket_close(&front->sockets.jobs);
    if (front->sockets.service.started != 0)
        service_finish(&front->sockets.service);
}

void front_sockets_reloaded(struct front *front)
{
    struct service *service = &front->sockets.service;
    const struct settings *old = service->settings, *now = &front->book->config.settings;
    if (!texts_equal(old->http.unix_path, now->http.unix_path) ||
        !texts_equal(old->jobs_socket.unix_path, now->jobs_socket.unix_path))
        log_warning("listen: sockets stay where they are until the next start");
    service->settings = now;
    service_worker_ready(service);
}
