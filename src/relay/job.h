/* A job as its message describes it (docs/fleet.md). */
#ifndef SLUICE_RELAY_JOB_H
#define SLUICE_RELAY_JOB_H

#include "relay/hub.h"
#include <stdbool.h>

/* Texts belong to the message; NULL: there is no such header. */
struct job {
    char class[JOB_WORD_MAX + 1], id[JOB_WORD_MAX + 1];
    const char *chain, *format, *input;
    const char *source; /* URL of the picture; NULL: it is in the message */
    const char *sha256; /* of the picture */
    const char *result; /* URL for the result; NULL: it goes into the result's message */
};

/* Reads class and id from sluice.jobs.CLASS.ID; false: another subject. */
bool job_read_subject(struct job *job, const char *subject);

/* Reads the rest. FAULT_USAGE, FAULT_EMPTY; FAULT_PERMISSION: a URL that no prefix allows. */
int job_read(struct job *job, const struct hub_message *message,
             const struct relay_settings *settings, struct fault *fault);

/* Which URLs are allowed: returns 0 when `url` is below one of the prefixes (URLs with blanks
 * between them; NULL: none): scheme, host and port are equal, and the path, percent-decoded and
 * without `.` and `..`, begins with the prefix's path and continues at a slash. FAULT_USAGE: no
 * such URL; FAULT_PERMISSION: below none. `what` names the header for the message. */
int url_check(const char *url, const char *prefixes, const char *what, struct fault *fault);

#endif
