/* Several small jobs at once on one thread. A picture of a few hundred kilobytes takes the device
 * less time than it takes a thread to be put to sleep for it and woken again. So a thread starts
 * small jobs while more of them wait in the queue, and then ends them in the same order: the device
 * goes from one to the next without anybody being woken in between, and most have ended when they
 * are waited for.
 *
 * A thread that has to wait for anything else (memory, an input that is not a file) ends what it
 * has started first: nobody waits for what is held by somebody who waits. */
#include "engine/engine_internal.h"

/* More would only hold more of the device's memory. */
#define BURST_MAX 4

/* A ring: the next job is started in its place while the others may be ended. */
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
