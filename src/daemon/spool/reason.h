/* NAME.error.json: why a file failed, for people and programs. */
#ifndef SLUICE_DAEMON_SPOOL_REASON_H
#define SLUICE_DAEMON_SPOOL_REASON_H

#include "base/fault.h"

struct reason {
    const char *file; /* its name when it was dropped */
    const struct fault *fault;
    const char *step; /* what the worker did: "read", "decode", "plan", "device", … */
    unsigned attempts;
    const char *chain, *format;
};

/* Returns the text, which contains the present time; the caller frees it. NULL without memory. */
char *reason_print(const struct reason *reason);

#endif
