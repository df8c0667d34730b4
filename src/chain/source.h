/* A plan's program: one OpenCL C text with an instance of a kernel template for each pass. */
#ifndef SLUICE_CHAIN_SOURCE_H
#define SLUICE_CHAIN_SOURCE_H

#include "chain/plan.h"

/* The text, and for each pass, in the order of steps and passes, the name of its kernel. */
struct program_source {
    struct text text;
    size_t n_kernels;                  /* passes */
    char (*names)[PASS_NAME_MAX + 12]; /* owned */
};

/* Passes that are alike share a kernel. Each template is preceded by a #line directive, so that the
 * compiler's messages name its file. */
int program_source_create(struct program_source *source, const struct plan *plan,
                          struct fault *fault);
void program_source_finish(struct program_source *source);

/* The same in parts: what stands at the head, and the instance of one pass's template as the kernel
 * `name`. */
void source_add_prelude(struct text *text);
int source_add_kernel(struct text *text, const struct pass *pass, const char *name,
                      struct fault *fault);

#endif
