/* Log lines for systemd's journal, with fields: SLUICE_JOB, SLUICE_CHAIN, SLUICE_FILE. */
#ifndef SLUICE_DAEMON_FRONT_JOURNAL_H
#define SLUICE_DAEMON_FRONT_JOURNAL_H

/* From here on sends log lines to the journal, if stderr is connected to it. To be called after
 * log_init. */
void journal_attach(void);

#endif
