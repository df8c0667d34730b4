/* The service manager that started this process, if one did: sd_notify(3), sd_listen_fds(3) and
 * sd_watchdog_enabled(3). Without one, and in builds without libsystemd, these functions do
 * nothing. The loop's thread alone. */
#ifndef SLUICE_DAEMON_SERVE_MANAGER_H
#define SLUICE_DAEMON_SERVE_MANAGER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Reads the variables that a service manager sets, and removes them from the environment, except
 * NOTIFY_SOCKET, which sd_notify reads each time (workers start without it). To be called first in
 * main. */
void manager_init(void);

/* True when a manager receives what manager_say sends. */
bool manager_listens(void);

/* Nanoseconds within which WATCHDOG=1 must be sent; 0: no watchdog. */
uint64_t manager_watchdog(void);

/* Sends "READY=1", "STATUS=…" and the like, joined by newlines. */
void manager_say(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* Takes a listening Unix socket of this type that was handed over; −1: there is none. HTTP is a
 * stream and jobs are packets, so sockets need no names. `path` becomes where it is bound. */
bool manager_has_socket(int type);
int manager_take_socket(int type, char *path, size_t size);

/* True when sockets for clients were handed over at the start, taken since or not. */
bool manager_gave_sockets(void);

/* Closes sockets that nobody took, with a log line. */
void manager_drop_sockets(void);

#endif
