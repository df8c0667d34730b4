/* What `sluice run` says about its jobs: the timing table for people, JSON for programs. */
#ifndef SLUICE_CLI_REPORT_H
#define SLUICE_CLI_REPORT_H

#include "engine/engine.h"
#include <jansson.h>
#include <stdio.h>

void report_print_timing(const char *input, const struct engine_job *job, struct engine *engine,
                         FILE *to);

/* What --json says of the whole run: chain, device, what was compiled. `engine` may be NULL. */
json_t *report_head(const struct chain *chain, struct engine *engine);

/* Adds what --json says of one job to the object that names its file. */
void report_add(json_t *entry, const struct engine_job *job);

#endif
