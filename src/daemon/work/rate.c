#include "daemon/work/rate.h"

#include "base/clock.h"

void rate_begin(struct rate *rate, uint64_t now)
{
    rate->begun = now / SECOND;
}

void rate_count(struct rate *rate, uint64_t now)
{
    uint64_t second = now / SECOND;
    uint64_t passed = second - rate->newest; /* these have nothing of the last round left */
    for (uint64_t i = 0; i < passed && i < RATE_WINDOW; i++)
        rate->counts[(second - i) % RATE_WINDOW] = 0;
    rate->newest = second;
    rate->counts[second % RATE_WINDOW]++;
}

double rate_read(const struct rate *rate, uint64_t now, double *window)
{
    uint64_t second = now / SECOND, first = rate->begun, count = 0;
    uint64_t earliest = second < RATE_WINDOW ? 0 : second - RATE_WINDOW + 1;
    uint64_t latest = second < RATE_LEAST ? 0 : second - RATE_LEAST;
    first = first < earliest ? earliest : first > latest ? latest : first;
    for (uint64_t s = first; s <= rate->newest; s++)
        count += rate->counts[s % RATE_WINDOW];
    *window = (double)(now - first * SECOND) * 1e-9;
    return *window > 0 ? (double)count / *window : 0;
}
