/* What this process takes, as /proc tells. On the loop: nothing there waits for a disk. */
#ifndef SLUICE_DAEMON_FRONT_PROCESS_H
#define SLUICE_DAEMON_FRONT_PROCESS_H

/* Seconds, bytes, counts, Unix time; −1: it could not be read. */
struct process_figures {
    double cpu_seconds, resident, virtual, open_fds, max_fds, start_time;
};

void process_measure(struct process_figures *figures);

#endif
