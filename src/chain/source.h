/* A plan's program: one OpenCL C text, with an instance of a kernel template for each different
 * pass. */
#ifndef SLUICE_CHAIN_SOURCE_H
#define SLUICE_CHAIN_SOURCE_H

#include "chain/plan.h"

/* The text, and the kernel's name for each pass in the order of steps and passes. */
struct program_source {
    struct text text;
    size_t n_kernels;                  /* passes */
    char (*names)[PASS_NAME_MAX + 12]; /* owned */
};

/* Makes the program's text. Equal passes share a kernel. A #line directive precedes each template,
 * so that the compiler's messages name its file. */
int program_source_create(struct program_source *source, const struct plan *plan,
                          struct fault *fault);
void program_source_finish(struct program_source *source);

/* Passes of all steps. */
size_t plan_count_passes(const struct plan *plan);

/* Parts of that: the beginning of a program, and one pass's kernel under the name `name`. */
void source_add_prelude(struct text *text);
int source_add_kernel(struct text *text, const struct pass *pass, const char *name,
                      struct fault *fault);

#endif
