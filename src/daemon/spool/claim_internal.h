/* Shared by claim.c and claim_end.c alone. */
#ifndef SLUICE_DAEMON_SPOOL_CLAIM_INTERNAL_H
#define SLUICE_DAEMON_SPOOL_CLAIM_INTERNAL_H

#include "base/name.h"
#include "daemon/spool/claim.h"

/* The file's path below the instance's folder. */
typedef char claim_path[sizeof((struct claim *)0)->folder + 1 + NAME_BYTES + 1];
const char *claim_path_of(const struct claim *claim, claim_path path);

/* Removes the claim's folder, which must be empty. */
void claim_remove_folder(const struct claim *claim);

#endif
