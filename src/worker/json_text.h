/* JSON strings from names and messages, which may hold any byte. */
#ifndef SLUICE_WORKER_JSON_TEXT_H
#define SLUICE_WORKER_JSON_TEXT_H

#include "base/fault.h"
#include "base/text.h"
#include <jansson.h>
#include <stdbool.h>

/* A JSON string, or null for NULL; bytes that are no valid UTF-8 become U+FFFD. Returns a new
 * reference, NULL without memory. */
json_t *json_text(const char *string);

/* Appends an object or a list, on one line, and takes it over. Without memory, and where it is
 * NULL, the text has failed. */
void json_append(struct text *text, json_t *json);

/* True for a text that is cheap to parse: at most `most` values and names, whatever it is. Looks at
 * each byte once. For what strangers send. */
bool json_is_small(const char *bytes, size_t size, unsigned most);

/* The faults as a JSON list; each text gets the key `key`. */
json_t *json_faults(const struct faults *faults, const char *key);

/* Seconds since 1970 as "2026-05-01T12:00:00Z"; null for 0, which means not known. */
json_t *json_time(int64_t unix_time);

#endif
