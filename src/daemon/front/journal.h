/* Log lines for systemd's journal, with fields: SLUICE_JOB, SLUICE_CHAIN, SLUICE_FILE. */
#ifndef SLUICE_DAEMON_FRONT_JOURNAL_H
#define SLUICE_DAEMON_FRONT_JOURNAL_H

/* Sends what is logged from here on to the journal, when stderr is the journal; otherwise nothing
 * changes. After log_init. */
void journal_attach(void);

#endif
