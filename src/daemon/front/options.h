/* The command line of sluiced, and all that it is told: file, environment, command line, the later
 * before the earlier. */
#ifndef SLUICE_DAEMON_FRONT_OPTIONS_H
#define SLUICE_DAEMON_FRONT_OPTIONS_H

#include "config/rulebook.h"

#define DAEMON_OPTIONS_MAX 48

struct daemon_options {
    const char *texts[DAEMON_OPTIONS_MAX]; /* of settings, in the order of the tables */
    const char *config;
    bool quiet, verbose, version;
};

/* Returns −1, or the exit status when there is nothing to run. */
int daemon_options_read(struct daemon_options *options, int argc, char **argv);

/* True when the command line names a folder, which takes the place of all others. */
bool daemon_options_name_folder(const struct daemon_options *options);

/* Reads the file, if there is one, the environment and the options into a new rulebook with one
 * user. On a fault (FAULT_CONFIG, FAULT_USAGE, FAULT_NO_INPUT, …) `errors` has a line for each
 * thing that is wrong. May be called again, to reload. */
int daemon_options_load(const struct daemon_options *options, struct rulebook **book,
                        struct text *errors, struct fault *fault);

#endif
