#include "engine/engine_internal.h"

#include <time.h>

#include "base/deadline.h"
#include "base/number.h"

void budget_init(struct budget *budget, uint64_t total)
{
    *budget = (struct budget){.total = total};
    pthread_mutex_init(&budget->lock, NULL);
    pthread_condattr_t clock;
    pthread_condattr_init(&clock);
    pthread_condattr_setclock(&clock, CLOCK_MONOTONIC);
    pthread_cond_init(&budget->changed, &clock);
    pthread_condattr_destroy(&clock);
}

void budget_finish(struct budget *budget)
{
    pthread_cond_destroy(&budget->changed);
    pthread_mutex_destroy(&budget->lock);
}

/* A thread whose deadline has passed gives up when it is first in line; others keep their order. */
int budget_take(struct budget *budget, uint64_t bytes, struct fault *fault)
{
    if (bytes > budget->total)
        return fault_set(fault, FAULT_LIMIT,
                         "needs up to %s of memory, more than the %s that the memory limit "
                         "leaves for planes (--memory)",
                         number_size(bytes), number_size(budget->total));
    pthread_mutex_lock(&budget->lock);
    uint64_t ticket = budget->next_ticket++;
    int result = 0;
    while (result == 0 &&
           (ticket != budget->now_serving || budget->taken + bytes > budget->total)) {
        uint64_t until = deadline_get();
        struct timespec time = {.tv_sec = (time_t)(until / 1000000000),
                                .tv_nsec = (long)(until % 1000000000)};
        if (ticket != budget->now_serving)
            pthread_cond_wait(&budget->changed, &budget->lock);
        else if ((result = deadline_check(fault)) == 0 && until > 0)
            pthread_cond_timedwait(&budget->changed, &budget->lock, &time);
        else if (result == 0)
            pthread_cond_wait(&budget->changed, &budget->lock);
    }
    budget->now_serving++;
    budget->taken += result == 0 ? bytes : 0;
    pthread_cond_broadcast(&budget->changed);
    pthread_mutex_unlock(&budget->lock);
    return result;
}

bool budget_take_now(struct budget *budget, uint64_t bytes)
{
    pthread_mutex_lock(&budget->lock);
    bool free = budget->next_ticket == budget->now_serving && bytes <= budget->total &&
                budget->taken + bytes <= budget->total;
    if (free)
        budget->taken += bytes;
    pthread_mutex_unlock(&budget->lock);
    return free;
}

void budget_give(struct budget *budget, uint64_t bytes)
{
    pthread_mutex_lock(&budget->lock);
    budget->taken -= bytes;
    pthread_cond_broadcast(&budget->changed);
    pthread_mutex_unlock(&budget->lock);
}
