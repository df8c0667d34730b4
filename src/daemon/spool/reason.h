/* NAME.error.json: why a file failed, for people and programs. */
#ifndef SLUICE_DAEMON_SPOOL_REASON_H
#define SLUICE_DAEMON_SPOOL_REASON_H

#include "base/fault.h"

struct reason {
    const char *file; /* its name when it was dropped */
    const struct fault *fault;
    const char *step; /* what the worker was at: "read", "decode", "plan", "device", … */
    unsigned attempts;
    const char *chain, *format;
};

/* The text, with the present time in it; the caller frees it. NULL when memory is out. */
char *reason_print(const struct reason *reason);

#endif
