/* Prints a job's report for `sluice run --timing`. */
#ifndef SLUICE_CLI_REPORT_H
#define SLUICE_CLI_REPORT_H

#include "engine/engine.h"
#include <stdio.h>

void report_print_timing(const char *input, const struct engine_job *job, struct engine *engine,
                         FILE *to);

#endif
