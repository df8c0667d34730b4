/* What `sluice run` says about its jobs: the timing table for people, JSON for programs. */
#ifndef SLUICE_CLI_REPORT_H
#define SLUICE_CLI_REPORT_H

#include "engine/engine.h"
#include <jansson.h>
#include <stdio.h>

void report_print_timing(const char *input, const struct engine_job *job, struct engine *engine,
                         FILE *to);

/* What `run` and `submit` print with --json: docs/schemas/run.json. */

/* Adds one file's entry: `report` (taken over) by describe_report, or as the daemon tells it;
 * `step` is what a job that failed was at, or NULL. */
void report_add(json_t *files, const char *input, const char *output, const struct fault *fault,
                json_t *report, const char *step);

/* Prints all; `files` is taken over. `wall` in nanoseconds. `counters`: NULL where the programs are
 * not those of this command alone. */
void report_print_json(const char *chain, uint64_t wall, const struct device_counters *counters,
                       json_t *files);

#endif
