/* "Did you mean": finds the word nearest to a misspelt one; and words that are known to mean
 * another. */
#ifndef SLUICE_BASE_NEAREST_H
#define SLUICE_BASE_NEAREST_H

#include <stdbool.h>
#include <stddef.h>

#define NEAREST_WORD_MAX 63 /* longer words are not compared */

/* The best word offered so far. Begins as {0}; offer each candidate, then read `best`, which is
 * NULL when none is near enough (a third of the letters may differ). */
struct nearest {
    const char *best;
    unsigned distance;
    char question[NEAREST_WORD_MAX + 32];
};

void nearest_offer(struct nearest *nearest, const char *word, size_t length, const char *candidate);

/* "; did you mean 'WORD'?", with `mark` before the word, or "" when none is near enough. */
const char *nearest_ask(struct nearest *nearest, const char *mark);

/* True when `words`, lower case words separated by blanks, contains the word; case, - and _ are
 * ignored. NULL: there are none. */
bool nearest_lists(const char *words, const char *word, size_t length);

#endif
