/* Which signals the worker heeds: none that a terminal or a service manager sends to the whole
 * group. The front decides when it ends, by closing the socket or by SIGKILL. */
#ifndef SLUICE_WORKER_SIGNALS_H
#define SLUICE_WORKER_SIGNALS_H

/* Default dispositions and an empty mask, whatever was inherited. Once, before threads. */
void signals_forget_inherited(void);

/* Ignores SIGINT, SIGTERM, SIGHUP, SIGUSR1, SIGUSR2, SIGPIPE and SIGXFSZ; SIGABRT gets its default
 * action. To be called again after programs were compiled: PoCL's LLVM then installs handlers of
 * its own, the first of which swallows a watchdog's SIGABRT and those for SIGINT and SIGTERM end
 * the process. Any thread. */
void signals_settle(void);

#endif
