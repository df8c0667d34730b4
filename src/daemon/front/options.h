/* The command line of sluiced, and the whole configuration: the command line overrides the
 * environment, and the environment the file. */
#ifndef SLUICE_DAEMON_FRONT_OPTIONS_H
#define SLUICE_DAEMON_FRONT_OPTIONS_H

#include "config/config.h"

#define DAEMON_OPTIONS_MAX 48

struct daemon_options {
    const char *texts[DAEMON_OPTIONS_MAX]; /* values of options that stand for settings, in the
                                              order of the tables */
    const char *config;
    bool once, quiet, verbose, version;
};

/* Returns −1, or the exit status when there is nothing to run. */
int daemon_options_read(struct daemon_options *options, int argc, char **argv);

/* True when the command line names a folder, which replaces all folders of the file. */
bool daemon_options_name_folder(const struct daemon_options *options);

/* Reads the file (if there is one), the environment and the options into a new rulebook, to which
 * the caller has the one reference. On a fault (FAULT_CONFIG, FAULT_USAGE, FAULT_NO_INPUT, …)
 * `errors` has a line for each mistake. May be called again, for a reload. */
int daemon_options_load(const struct daemon_options *options, struct rulebook **book,
                        struct text *errors, struct fault *fault);

#endif
