/* Names and messages may hold any byte; JSON may not. */
#ifndef SLUICE_DAEMON_SPOOL_JSON_TEXT_H
#define SLUICE_DAEMON_SPOOL_JSON_TEXT_H

#include "base/fault.h"
#include <jansson.h>

/* A JSON text of any bytes: those that are no part of valid UTF-8 become U+FFFD. A new reference,
 * NULL without memory. */
json_t *json_text(const char *string);

/* A list of what is wrong and where: `key` is what the texts are called. */
json_t *json_faults(const struct faults *faults, const char *key);

/* Seconds since 1970 as "2026-05-01T12:00:00Z"; JSON's null for a time that is not known (0). */
json_t *json_time(int64_t unix_time);

#endif
