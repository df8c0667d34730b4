#include "engine/engine_internal.h"

#include "base/number.h"

void budget_init(struct budget *budget, uint64_t total)
{
    *budget = (struct budget){.total = total};
    pthread_mutex_init(&budget->lock, NULL);
    pthread_cond_init(&budget->changed, NULL);
}

void budget_finish(struct budget *budget)
{
    pthread_cond_destroy(&budget->changed);
    pthread_mutex_destroy(&budget->lock);
}

int budget_take(struct budget *budget, uint64_t bytes, struct fault *fault)
{
    if (bytes > budget->total)
        return fault_set(fault, FAULT_LIMIT,
                         "needs %s of memory at its fullest, over the %s that the memory limit "
                         "leaves for planes (--memory)",
                         number_size(bytes), number_size(budget->total));
    pthread_mutex_lock(&budget->lock);
    uint64_t ticket = budget->next_ticket++;
    while (ticket != budget->now_serving || budget->taken + bytes > budget->total)
        pthread_cond_wait(&budget->changed, &budget->lock);
    budget->now_serving++;
    budget->taken += bytes;
    pthread_cond_broadcast(&budget->changed);
    pthread_mutex_unlock(&budget->lock);
    return 0;
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
