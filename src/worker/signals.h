/* Signals in the worker: it ignores those that a terminal or a service manager sends to the whole
 * group. The front decides when the worker ends, by closing the socket or by SIGKILL. */
#ifndef SLUICE_WORKER_SIGNALS_H
#define SLUICE_WORKER_SIGNALS_H

/* Sets default actions and an empty mask, whatever was inherited. Once, before threads are started.
 */
void signals_forget_inherited(void);

/* Ignores SIGINT, SIGTERM, SIGHUP, SIGUSR1, SIGUSR2, SIGPIPE and SIGXFSZ; gives SIGABRT its default
 * action. To be called again after programs were compiled, because PoCL's LLVM then installs
 * handlers: the first catches a watchdog's SIGABRT, others end the process at SIGINT and SIGTERM.
 * Any thread. */
void signals_settle(void);

#endif
