/* Whose job is next: clients before the backlog of folders, which still gets each eighth turn, and
 * of the clients one of the user that was served longest ago, and of those the one that was. Pure.
 */
#ifndef SLUICE_DAEMON_WORK_TURNS_H
#define SLUICE_DAEMON_WORK_TURNS_H

#include "daemon/work/job.h"

struct turns {
    uint64_t turn;
    unsigned n_ahead; /* jobs of clients that have gone before the backlog, in a row */
};

/* The one of the list to take, of those that are not stalled; NULL: there is none. Of one flow the
 * first. */
struct job *turns_next(const struct turns *turns, const struct job_list *list);

/* It was taken. */
void turns_took(struct turns *turns, struct job *job);

#endif
