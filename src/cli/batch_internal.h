/* Shared by the files batch*.c alone. */
#ifndef SLUICE_CLI_BATCH_INTERNAL_H
#define SLUICE_CLI_BATCH_INTERNAL_H

#include "base/file.h"
#include "cli/batch.h"

/* What happens when a result's name is taken: --on-exists. */
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

/* Checks whether results can be written at all. */
int batch_try_output(const struct batch *batch, struct fault *fault);

/* Applies the rule to the result's name: sets `skipped` or `number`, or returns a fault. This and
 * the following functions are called with the lock held. */
int batch_apply_rule(struct batch_file *file, struct fault *fault);

/* Gives a file's results their names, all with one number. */
int batch_place_results(struct batch_file *file, struct fault *fault);
void batch_discard_results(struct batch_file *file);

/* Reports how a file has ended. */
void batch_tell_file(struct batch_file *file);

/* Ends the run because of a fault that is no file's. */
void batch_end_all(struct batch *batch, const struct fault *fault);

/* Draws the progress bar; takes the lock. */
void batch_show(void *batch);

#endif
