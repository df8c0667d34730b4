/* A configuration that is in force for somebody: what was read last, and, after a reload, what jobs
 * in flight began under. Counted; the loop's thread alone. */
#ifndef SLUICE_CONFIG_RULEBOOK_H
#define SLUICE_CONFIG_RULEBOOK_H

#include "config/config.h"
#include <stdlib.h>

struct rulebook {
    struct config config;
    unsigned users;
};

static inline struct rulebook *rulebook_use(struct rulebook *book)
{
    book->users++;
    return book;
}

/* Takes NULL; clears the pointer. */
static inline void rulebook_leave(struct rulebook **book)
{
    if (*book && --(*book)->users == 0) {
        config_finish(&(*book)->config);
        free(*book);
    }
    *book = NULL;
}

#endif
