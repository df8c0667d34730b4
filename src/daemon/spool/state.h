/* The state directory, in which the daemon keeps what does not belong to a watched folder. */
#ifndef SLUICE_DAEMON_SPOOL_STATE_H
#define SLUICE_DAEMON_SPOOL_STATE_H

#include "base/fault.h"

/* Its absolute path, which the caller frees: `told`, else systemd's STATE_DIRECTORY, else
 * XDG_STATE_HOME/sluice, else ~/.local/state/sluice. Whoever needs the directory makes it. */
int state_find(const char *told, char **path, struct fault *fault);

#endif
