/* Closing what may be the last descriptor of a large file: freeing a memory file of 4 GiB takes
 * more than a second, and a file on a disk may wait for it. */
#ifndef SLUICE_DAEMON_WORK_CLOSING_H
#define SLUICE_DAEMON_WORK_CLOSING_H

#include <uv.h>

/* Closes a descriptor, unless it is negative, and sets it to −1: at once if it is a small memory
 * file that cannot grow, otherwise on a thread. To be called on the loop's thread. Not for what
 * may wait for ever: that thread is one of four, and the process does not end before it. */
void closing_take(uv_loop_t *loop, int *fd);

#endif
