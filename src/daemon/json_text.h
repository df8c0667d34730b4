/* Names and messages may hold any byte; JSON may not. */
#ifndef SLUICE_DAEMON_JSON_TEXT_H
#define SLUICE_DAEMON_JSON_TEXT_H

#include "base/fault.h"
#include <jansson.h>

/* A JSON text of any bytes: those that are no part of valid UTF-8 become U+FFFD. A new reference,
 * NULL without memory. */
json_t *json_text(const char *string);

/* A list of what is wrong and where: `key` is what the texts are called. */
json_t *json_faults(const struct faults *faults, const char *key);

#endif
