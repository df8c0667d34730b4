/* Names of filters in other programs that people try as stages. */
#ifndef SLUICE_CHAIN_TRIED_H
#define SLUICE_CHAIN_TRIED_H

#include "base/text.h"

/* Names that no stage has, and what to answer. */
struct tried {
    const char *names;  /* lower case letters and digits, separated by blanks */
    const char *chain;  /* the chain that does it; NULL: none does */
    const char *advice; /* more words or, without a chain, why there is none; NULL: none */
};

extern const struct tried tried_stages[]; /* ends with NULL names */

/* Appends "unknown stage 'NAME'" and what to write instead: the table's answer, where case, - and _
 * are ignored, or else the nearest name and all names. */
void tried_explain(const char *name, size_t length, struct text *text);

#endif
