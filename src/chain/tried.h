/* Names that people try as stages, by what other programs call them. */
#ifndef SLUICE_CHAIN_TRIED_H
#define SLUICE_CHAIN_TRIED_H

#include "base/text.h"

/* A name that is no stage, and what to say of it. */
struct tried {
    const char *names;  /* small letters and digits, separated by blanks */
    const char *chain;  /* what does it here; NULL: nothing does */
    const char *advice; /* further words, or why there is nothing; NULL: none */
};

extern const struct tried tried_stages[]; /* ends with NULL names */

/* Appends "unknown stage 'NAME'", and what to write in its place: what the table says, in which
 * case and - and _ do not count, else the nearest name and all that there are. */
void tried_explain(const char *name, size_t length, struct text *text);

#endif
