/* Questions about files to the daemon (docs/jobs-socket.md): why, requeue. */
#ifndef SLUICE_CLI_QUESTION_H
#define SLUICE_CLI_QUESTION_H

#include "base/fault.h"
#include <jansson.h>

/* Asks about a file, by a path that may be relative, or (NULL) about all failed files. The answer
 * is the object of the type `type`; the caller owns it. FAULT_NO_INPUT: the daemon knows no such
 * file. */
int question_ask(int socket, const char *type, const char *file, json_t **answer,
                 struct fault *fault);

#endif
