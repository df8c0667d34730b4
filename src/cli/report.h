/* What `sluice run` says about its jobs: the timing table for people, JSON for programs. */
#ifndef SLUICE_CLI_REPORT_H
#define SLUICE_CLI_REPORT_H

#include "engine/engine.h"
#include <stdio.h>

void report_print_timing(const char *input, const struct engine_job *job, struct engine *engine,
                         FILE *to);

struct report_json;

/* One object a run: device, canonical chain, and one entry a file. `wall` in nanoseconds. */
struct report_json *report_json_begin(const struct chain *chain, struct engine *engine,
                                      uint64_t wall);
void report_json_add(struct report_json *json, const char *input, const char *output,
                     const struct engine_job *job);
/* Prints and frees it. */
void report_json_end(struct report_json *json, FILE *to);

#endif
