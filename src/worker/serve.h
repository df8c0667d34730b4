/* The worker's side of the socket pair: answers setup, checks and jobs. */
#ifndef SLUICE_WORKER_SERVE_H
#define SLUICE_WORKER_SERVE_H

/* Serves the front until it closes its end of `socket`; returns the exit status. If that happens
 * while jobs run, the process ends at once, since nobody waits for them. */
int serve(int socket);

#endif
