/* The state directory: what the daemon remembers beyond the watched folders. */
#ifndef SLUICE_DAEMON_SPOOL_STATE_H
#define SLUICE_DAEMON_SPOOL_STATE_H

#include "base/fault.h"

/* Where it is: `told`, else systemd's STATE_DIRECTORY, else XDG_STATE_HOME/sluice, else
 * ~/.local/state/sluice, as an absolute path, which the caller frees. The directory is made by whoever
 * needs it. */
int state_find(const char *told, char **path, struct fault *fault);

#endif
