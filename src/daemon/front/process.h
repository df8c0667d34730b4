/* What this process uses, from /proc. May be called on the loop: /proc needs no disk. */
#ifndef SLUICE_DAEMON_FRONT_PROCESS_H
#define SLUICE_DAEMON_FRONT_PROCESS_H

/* Seconds, bytes, counts and Unix time; −1 where it could not be read. */
struct process_figures {
    double cpu_seconds, resident, virtual, open_fds, max_fds, start_time;
};

void process_measure(struct process_figures *figures);

#endif
