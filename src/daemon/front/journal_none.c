/* For builds without libsystemd: log lines go to stderr. */
#include "daemon/front/journal.h"

void journal_attach(void)
{
}
