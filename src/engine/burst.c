/* Bursts: several small jobs at once on one thread. The device needs less time for a picture of a
 * few hundred kilobytes than a thread needs to sleep and to be woken. So a thread starts small jobs
 * while more wait in the queue, and then ends them in the same order: the device goes from one to
 * the next while no thread wakes, and most jobs have finished by the time they are waited for.
 *
 * A thread that has to wait for anything else (memory, an input that is not a regular file) first
 * ends the jobs it has started: nobody then waits for memory that a waiting thread holds. */
#include "engine/engine_internal.h"

/* More jobs would only hold more of the device's memory. */
#define BURST_MAX 4

/* A ring of jobs: new ones are started at one end while others are ended at the other. */
struct burst {
    unsigned begin, end;
    struct job_state jobs[BURST_MAX];
};

static struct job_state *at(struct burst *burst, unsigned index)
{
    return &burst->jobs[index % BURST_MAX];
}

void burst_settle(struct burst *burst)
{
    for (; burst && burst->begin != burst->end; burst->begin++) {
        struct engine_job *job = at(burst, burst->begin)->job;
        job_end(at(burst, burst->begin));
        job->done(job);
    }
}

void burst_work(struct engine *engine)
{
    struct burst burst = {0};
    for (;;) {
        bool is_empty = burst.begin == burst.end;
        struct engine_job *job = engine_next(engine, is_empty);
        if (!job && is_empty)
            return;
        if (job) {
            job_start(at(&burst, burst.end), engine, job, &burst);
            burst.end++;
        }
        if (!job || !at(&burst, burst.end - 1)->is_small || burst.end - burst.begin == BURST_MAX)
            burst_settle(&burst);
    }
}
