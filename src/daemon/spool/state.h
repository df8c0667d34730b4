/* The state directory: what the daemon remembers beyond the watched folders. The ledger will live
 * there; until then it is only made and found fit. */
#ifndef SLUICE_DAEMON_SPOOL_STATE_H
#define SLUICE_DAEMON_SPOOL_STATE_H

#include "base/fault.h"

/* Opens and if need be makes the directory: `told`, else systemd's STATE_DIRECTORY, else
 * XDG_STATE_HOME/sluice, else ~/.local/state/sluice. The caller closes the descriptor
 * and frees the path. */
int state_open(const char *told, char **path, int *fd, struct fault *fault);

#endif
