/* Shared by the files batch*.c alone. */
#ifndef SLUICE_CLI_BATCH_INTERNAL_H
#define SLUICE_CLI_BATCH_INTERNAL_H

#include "base/file.h"
#include "cli/batch.h"

/* What becomes of a result whose name is taken: --on-exists. */
enum exists_rule {
    EXISTS_RULE_OVERWRITE,
    EXISTS_RULE_SKIP,
    EXISTS_RULE_NUMBER,
    EXISTS_RULE_FAIL,
};

struct batch_result {
    struct batch_result *next;
    struct file_draft draft;
    char plane[];
};

/* The path of an input's result; a name_result of inputs.h. */
char *batch_name_result(void *batch, size_t index);

/* Whether results can be written at all: a fault, or 0. */
int batch_try_output(const struct batch *batch, struct fault *fault);

/* What the rule says of the result's name: sets `skipped` or `number`, or refuses. Here and below
 * the lock is held. */
int batch_apply_rule(struct batch_file *file, struct fault *fault);

/* Gives the results their names, all under one number. */
int batch_place_results(struct batch_file *file, struct fault *fault);
void batch_discard_results(struct batch_file *file);

/* Tells how it has ended. */
void batch_tell_file(struct batch_file *file);

/* Ends the run for what no file is at fault of. */
void batch_end_all(struct batch *batch, const struct fault *fault);

/* Draws the bar; takes the lock. */
void batch_show(void *batch);

#endif
