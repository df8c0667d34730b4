/* The service manager that started us, if one did: sd_notify(3), sd_listen_fds(3) and
 * sd_watchdog_enabled(3). Everything here is nothing at all without a manager, and in builds
 * without libsystemd. The loop's thread alone. */
#ifndef SLUICE_DAEMON_SERVE_MANAGER_H
#define SLUICE_DAEMON_SERVE_MANAGER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Reads the environment and clears it of what is meant for this process alone, but for
 * NOTIFY_SOCKET, which sd_notify reads each time: workers are started without it. The first thing
 * in main. */
void manager_init(void);

/* True when somebody wants to be told. */
bool manager_listens(void);

/* Nanoseconds within which WATCHDOG=1 must be said; 0: nobody watches. */
uint64_t manager_watchdog(void);

/* Tells "READY=1", "STATUS=…" and the like, joined by newlines. */
void manager_say(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* A listening Unix socket of this type that was handed over, the caller's then; −1: there is none.
 * Which is which needs no name: HTTP is a stream, jobs are packets. `path` is where it is bound. */
bool manager_has_socket(int type);
int manager_take_socket(int type, char *path, size_t size);

/* True when a socket for clients was handed over at the start, taken since then or not. */
bool manager_gave_sockets(void);

/* Closes what nobody took, and says so. */
void manager_drop_sockets(void);

#endif
