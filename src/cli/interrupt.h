/* A thread that takes SIGINT, SIGTERM and SIGHUP in place of everybody else, and has something done
 * ten times a second while it waits for them. */
#ifndef SLUICE_CLI_INTERRUPT_H
#define SLUICE_CLI_INTERRUPT_H

/* Call it before any other thread is started: they must not take the signals. Those that the
 * program was told to ignore (nohup) stay ignored. When one comes, `ending` is called to clean up,
 * and the process ends at once with the exit status 128 and the signal's number. */
void interrupt_begin(void (*tick)(void *context), void (*ending)(void *context), void *context);

/* Signals do as before; `tick` is not called any more. Also without a begin. */
void interrupt_end(void);

#endif
