/* A job as its message tells it (docs/fleet.md). */
#ifndef SLUICE_RELAY_JOB_H
#define SLUICE_RELAY_JOB_H

#include "relay/hub.h"
#include <stdbool.h>

#define JOB_WORD_MAX 64 /* of a class and of an id: A-Z a-z 0-9 _ - */

/* Texts belong to the message; NULL: the header is not there. */
struct job {
    char class[JOB_WORD_MAX + 1], id[JOB_WORD_MAX + 1];
    const char *chain, *format, *input;
    const char *source; /* URL of the picture; NULL: the message holds it */
    const char *sha256; /* of the picture */
    const char *result; /* URL for the result; NULL: the result's message holds it */
};

bool job_is_word(const char *text);

/* Class and id, from sluice.jobs.CLASS.ID; false: it is no such subject. */
bool job_read_subject(struct job *job, const char *subject);

/* All else. FAULT_USAGE, FAULT_EMPTY, FAULT_PERMISSION: URLs below none of the prefixes. */
int job_read(struct job *job, const struct hub_message *message,
             const struct relay_settings *settings, struct fault *fault);

/* SHA-256 in hexadecimal. */
#define DIGEST_TEXT_MAX 65
int digest_text(const void *data, size_t size, char text[DIGEST_TEXT_MAX], struct fault *fault);

#endif
