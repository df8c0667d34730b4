/* Questions about files to the daemon (docs/jobs-socket.md): why, requeue. */
#ifndef SLUICE_CLI_QUESTION_H
#define SLUICE_CLI_QUESTION_H

#include "base/fault.h"
#include <jansson.h>

/* Asks about one file, which may be named by a relative path, or (NULL) about all that failed; the
 * answer is the object named `type` and the caller's. FAULT_NO_INPUT: the daemon knows of none. */
int question_ask(int socket, const char *type, const char *file, json_t **answer,
                 struct fault *fault);

#endif
