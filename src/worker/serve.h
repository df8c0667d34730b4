/* The worker's side of the socket pair: takes setup, checks and jobs, and answers them. */
#ifndef SLUICE_WORKER_SERVE_H
#define SLUICE_WORKER_SERVE_H

/* Serves the front at `socket` until it closes its end; returns the exit status. When the front
 * goes away while jobs run, nobody waits for them any more: the process ends at once. */
int serve(int socket);

#endif
