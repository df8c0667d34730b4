/* "Did you mean": finds the word nearest to a misspelt one; and words that are known to mean
 * another. */
#ifndef SLUICE_BASE_NEAREST_H
#define SLUICE_BASE_NEAREST_H

#include <stdbool.h>
#include <stddef.h>

/* The best word offered so far. Begins as {0}; offer each candidate, then read `best`, which is
 * NULL when none is near enough (a third of the letters may differ). */
struct nearest {
    const char *best;
    unsigned distance;
};

void nearest_offer(struct nearest *nearest, const char *word, size_t length, const char *candidate);

/* True when `words`, lower case words separated by blanks, contains the word; case, - and _ are
 * ignored. NULL: there are none. */
bool nearest_lists(const char *words, const char *word, size_t length);

#endif
