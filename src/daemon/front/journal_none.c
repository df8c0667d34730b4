/* For builds without libsystemd: lines go to stderr, wherever that leads. */
#include "daemon/front/journal.h"

void journal_attach(void)
{
}
