/* Which URLs of jobs are allowed. Pure. */
#ifndef SLUICE_RELAY_URL_H
#define SLUICE_RELAY_URL_H

#include "base/fault.h"

/* 0 when `url` is below one of the prefixes (texts with blanks between them; NULL: none). Scheme,
 * host and port must be the same, and the path, percent-decoded and without `.` and `..`, must
 * begin with the prefix's and go on at a slash. FAULT_USAGE: it is no such URL; FAULT_PERMISSION:
 * it is below none. `what` names the header that it is from. */
int url_check(const char *url, const char *prefixes, const char *what, struct fault *fault);

#endif
