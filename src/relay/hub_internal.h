/* The connection to the hub. Shared by hub.c and jetstream.c alone. */
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
    /* Held for reading while `nats` is used, and for writing while it is replaced. */
    pthread_rwlock_t lock;
    natsConnection *nats;
    jsCtx *js;
    atomic_uint connections;
    atomic_bool up;
    atomic_bool closed; /* the library has given the connection up */
    char told[256]; /* the error that was logged last, and when; for the library's thread alone */
    uint64_t told_at;
    atomic_bool ending; /* hub_close was called */
    atomic_bool denied; /* permission for some subject is missing */
    atomic_bool no_get; /* permission for $JS.API.STREAM.MSG.GET is missing */
};

/* The library's text about the last failed call of this thread. */
const char *hub_error_text(natsStatus status);

#endif
