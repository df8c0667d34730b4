/* A rulebook: a configuration with reference counting. After a reload the old one stays until the
 * jobs that began under it have ended. The loop's thread alone. */
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
