/* Receivers of clients' descriptors without processes: what libuv is told to start is receiver_run
 * on a stack of its own, in turns with the loop. Processes would be waited for most of the time,
 * and their coverage would not be seen. */
#ifndef SLUICE_TESTS_FUZZ_RECEIVERS_H
#define SLUICE_TESTS_FUZZ_RECEIVERS_H

/* Each receiver goes on until it waits. The loop is told of those that have ended. */
void receivers_turn(void);

#endif
