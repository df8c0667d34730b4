/* "Did you mean": the candidate nearest to a misspelt word, and words that are known to mean
 * another. */
#ifndef SLUICE_BASE_NEAREST_H
#define SLUICE_BASE_NEAREST_H

#include <stdbool.h>
#include <stddef.h>

/* The best of the words offered so far. Start from {0}; offer each candidate; read `best`, which
 * stays NULL when nothing is near enough to be a likely slip (a third of the letters differ). */
struct nearest {
    const char *best;
    unsigned distance;
};

void nearest_offer(struct nearest *nearest, const char *word, size_t length, const char *candidate);

/* True when `words`, in small letters and separated by blanks, has the word, in which case, - and _
 * do not count. NULL: there are none. */
bool nearest_lists(const char *words, const char *word, size_t length);

#endif
