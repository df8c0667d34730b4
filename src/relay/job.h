/* A job as its message describes it (docs/fleet.md). */
#ifndef SLUICE_RELAY_JOB_H
#define SLUICE_RELAY_JOB_H

#include "relay/hub.h"
#include <stdbool.h>

#define JOB_WORD_MAX 64 /* of a class and an id: A-Z a-z 0-9 _ - */

/* Texts belong to the message; NULL: there is no such header. */
struct job {
    char class[JOB_WORD_MAX + 1], id[JOB_WORD_MAX + 1];
    const char *chain, *format, *input;
    const char *source; /* URL of the picture; NULL: it is in the message */
    const char *sha256; /* of the picture */
    const char *result; /* URL for the result; NULL: it goes into the result's message */
};

bool job_is_word(const char *text);

/* Reads class and id from sluice.jobs.CLASS.ID; false: another subject. */
bool job_read_subject(struct job *job, const char *subject);

/* Reads the rest. FAULT_USAGE, FAULT_EMPTY; FAULT_PERMISSION: a URL that no prefix allows. */
int job_read(struct job *job, const struct hub_message *message,
             const struct relay_settings *settings, struct fault *fault);

/* SHA-256 in hexadecimal. */
#define DIGEST_TEXT_MAX 65
int digest_text(const void *data, size_t size, char text[DIGEST_TEXT_MAX], struct fault *fault);

#endif
