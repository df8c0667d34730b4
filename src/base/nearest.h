/* "Did you mean": the candidate nearest to a misspelt word. */
#ifndef SLUICE_BASE_NEAREST_H
#define SLUICE_BASE_NEAREST_H

#include <stddef.h>

/* The best of the words offered so far. Start from {0}; offer each candidate; read `best`, which
 * stays NULL when nothing is near enough to be a likely slip (a third of the letters differ). */
struct nearest {
    const char *best;
    unsigned distance;
};

void nearest_offer(struct nearest *nearest, const char *word, size_t length, const char *candidate);

#endif
