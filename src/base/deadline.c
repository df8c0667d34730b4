#include "base/deadline.h"

#include "base/clock.h"

static _Thread_local uint64_t deadline;

void deadline_set(uint64_t when)
{
    deadline = when;
}

uint64_t deadline_get(void)
{
    return deadline;
}

int deadline_check(struct fault *fault)
{
    if (deadline == 0 || clock_now() < deadline)
        return 0;
    return fault_set(fault, FAULT_TIME, "took longer than job_time (--job-time)");
}
