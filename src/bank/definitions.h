/* What a configuration defines for chains to refer to as @name: kernels of fir, and filter banks. A
 * bank's taps live as long as the definitions, which outlive every chain that was read with them.
 *
 * Filled by one thread; any may read. */
#ifndef SLUICE_BANK_DEFINITIONS_H
#define SLUICE_BANK_DEFINITIONS_H

#include "bank/bank.h"
#include "param/param.h"

struct definition_kernel {
    char name[PARAM_WORD_MAX];
    struct param_matrix k;
};

struct definition_bank {
    struct bank bank; /* bank.name is `name` */
    char name[PARAM_WORD_MAX];
    struct bank_filter *filters; /* owned: all four sets */
};

struct definitions {
    size_t n_kernels, n_banks;
    struct definition_kernel *kernels;
    struct definition_bank **banks;
};

void definitions_finish(struct definitions *definitions);

/* Copies the kernel; takes the bank's filters over. False when memory is out. */
bool definitions_add_kernel(struct definitions *definitions,
                            const struct definition_kernel *kernel);
bool definitions_add_bank(struct definitions *definitions, const struct definition_bank *bank);

/* NULL when there is none; `definitions` may be NULL. */
const struct param_matrix *definitions_kernel(const struct definitions *definitions,
                                              const char *name);
const struct bank *definitions_bank(const struct definitions *definitions, const char *name);

/* The bank that a chain calls `word`: "cdf97", or "@thirds"; FAULT_CHAIN, with what there is, when
 * there is none. */
int definitions_find_bank(const struct definitions *definitions, const char *word,
                          const struct bank **bank, struct fault *fault);

#endif
