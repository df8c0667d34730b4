/* Whose job is next. Clients go before folders, which still get every eighth turn. Among clients,
 * the user who was served longest ago comes first, and among that user's clients the one who was
 * served longest ago. Pure. */
#ifndef SLUICE_DAEMON_WORK_TURNS_H
#define SLUICE_DAEMON_WORK_TURNS_H

#include "daemon/work/job.h"

struct turns {
    uint64_t turn;
    unsigned n_ahead; /* jobs of clients in a row since the last job of a folder */
};

/* Returns the next job of the list to take, leaving out stalled ones; NULL: there is none. Jobs of
 * one flow keep their order. */
struct job *turns_next(const struct turns *turns, const struct job_list *list);

/* Notes that the job was taken. */
void turns_took(struct turns *turns, struct job *job);

#endif
