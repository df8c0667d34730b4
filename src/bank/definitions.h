/* What a configuration defines for @names in chains: kernels of fir, and filter banks. Chains point
 * to them, so definitions must outlive every chain that was read with them. One thread fills them;
 * then any may read. */
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

/* Copies the kernel; takes over the bank's filters. Returns false without memory. */
bool definitions_add_kernel(struct definitions *definitions,
                            const struct definition_kernel *kernel);
bool definitions_add_bank(struct definitions *definitions, const struct definition_bank *bank);

/* NULL when there is none; `definitions` may be NULL. */
const struct param_matrix *definitions_kernel(const struct definitions *definitions,
                                              const char *name);
const struct bank *definitions_bank(const struct definitions *definitions, const char *name);

/* Finds the bank that a chain names: "cdf97", or "@thirds". FAULT_CHAIN lists the known ones. */
int definitions_find_bank(const struct definitions *definitions, const char *word,
                          const struct bank **bank, struct fault *fault);

#endif
