/* A thread that handles SIGINT, SIGTERM and SIGHUP for the whole process, and calls a function ten
 * times a second. */
#ifndef SLUICE_CLI_INTERRUPT_H
#define SLUICE_CLI_INTERRUPT_H

/* To be called before any other thread starts, because the signals are then blocked. Signals that
 * were ignored (nohup) stay so. At a signal `ending` is called, and the process ends at once with
 * the exit status 128 plus the signal's number. */
void interrupt_begin(void (*tick)(void *context), void (*ending)(void *context), void *context);

/* Restores the signals, and stops calling `tick`. Does nothing without interrupt_begin. */
void interrupt_end(void);

#endif
