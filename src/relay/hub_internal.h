/* What hub.c and jetstream.c share. */
#ifndef SLUICE_RELAY_HUB_INTERNAL_H
#define SLUICE_RELAY_HUB_INTERNAL_H

#include "relay/hub.h"
#include <nats/nats.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>

struct hub {
    const struct relay_settings *settings;
    natsOptions *options;
    /* Held for reading while `nats` is used, for writing while it is replaced. */
    pthread_rwlock_t lock;
    natsConnection *nats;
    jsCtx *js;
    atomic_uint connections;
    atomic_bool up;
    atomic_bool closed; /* the library has given the connection up */
    char told[256];     /* the error that was logged last, and when; the library's thread alone */
    uint64_t told_at;
    atomic_bool ending; /* it is we who close */
    atomic_bool denied; /* some subject is not permitted */
    atomic_bool no_get; /* $JS.API.STREAM.MSG.GET is not permitted */
};

/* What the library says about the call that failed last on this thread. */
const char *hub_error_text(natsStatus status);

#endif
