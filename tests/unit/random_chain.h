/* Random chains of one stage, for tests that plan many. The same ones in each run. */
#ifndef SLUICE_TESTS_UNIT_RANDOM_CHAIN_H
#define SLUICE_TESTS_UNIT_RANDOM_CHAIN_H

#include "chain/plan.h"

/* Begins the numbers that belong to this seed. */
void random_seed(uint64_t seed);

uint32_t random_below(uint32_t n);
double random_between(double low, double high);

/* What @thirds and @lifted are: banks of three filters, and of lifting steps. Lives as long as the
 * program. */
const struct definitions *random_definitions(void);

/* The stage with random parameters, behind what it undoes; not all of them are valid. */
void random_chain(const struct stage *stage, struct text *text);

/* A plane of any size, 1 more often than chance would have it. */
struct plane random_plane(void);

#endif
