/* Which URLs in jobs are allowed. Pure. */
#ifndef SLUICE_RELAY_URL_H
#define SLUICE_RELAY_URL_H

#include "base/fault.h"

/* Returns 0 when `url` is below one of the prefixes (URLs with blanks between them; NULL: none):
 * scheme, host and port are equal, and the path, percent-decoded and without `.` and `..`, begins
 * with the prefix's path and continues at a slash. FAULT_USAGE: no such URL; FAULT_PERMISSION:
 * below none. `what` names the header for the message. */
int url_check(const char *url, const char *prefixes, const char *what, struct fault *fault);

#endif
