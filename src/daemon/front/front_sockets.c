/* Gives the sockets what they need to know of the front. */
#include "daemon/front/front_internal.h"

#include "base/log.h"
#include "base/text.h"

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

int front_open_sockets(struct front *front, struct fault *fault)
{
    front->sockets = (struct sockets){.service = {.loop = &front->loop,
                                                  .queue = &front->queue,
                                                  .metrics = front->metrics,
                                                  .settings = &front->book->config.settings,
                                                  .state = state,
                                                  .chain = chain,
                                                  .folder = folder,
                                                  .supervisor = supervisor,
                                                  .measure = measure,
                                                  .context = front},
                                      .changed = on_changed,
                                      .context = front};
    return sockets_open(&front->sockets, fault);
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
