#include "daemon/work/turns.h"

/* After so many jobs of clients in a row a folder gets a turn, so that it never starves. */
#define AHEAD_MAX 7

static bool was_served_before(const struct job_flow *a, const struct job_flow *b)
{
    uint64_t of_a = a->user ? a->user->served : 0, of_b = b->user ? b->user->served : 0;
    return of_a != of_b ? of_a < of_b : a->served < b->served;
}

struct job *turns_next(const struct turns *turns, const struct job_list *list)
{
    struct job *job, *client = NULL, *backlog = NULL;
    TAILQ_FOREACH(job, list, in_list)
    {
        if (job_is_stalled(job))
            continue;
        if (!job->flow)
            backlog = backlog ? backlog : job;
        else if (!client || was_served_before(job->flow, client->flow))
            client = job;
    }
    if (!client || (backlog && turns->n_ahead >= AHEAD_MAX))
        return backlog;
    return client;
}

void turns_took(struct turns *turns, struct job *job)
{
    turns->n_ahead = job->flow ? turns->n_ahead + 1 : 0;
    if (job->flow)
        job->flow->served = ++turns->turn;
    if (job->flow && job->flow->user)
        job->flow->user->served = turns->turn;
}
