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

/* A program while kernels are added to it, one for a pass under a name: cl/prelude.cl with the parts
 * of cl/prelude/ that templates ask for (#include <border.cl>), each once; and the kernels, in which
 * #include "strips.cl" stands for that file under the pass's definitions. */
struct program_text {
    struct text prelude, kernels;
    struct text undone; /* what undefines the last kernel's definitions, for one that follows */
};

int program_text_add(struct program_text *program, const struct pass *pass, const char *name,
                     struct fault *fault);

/* Makes one text of it, which the caller finishes, and empties it. */
void program_text_join(struct program_text *program, struct text *text);

#endif
