/* What @names in chains refer to, from a configuration file as the programs read it. */
#ifndef SLUICE_GST_DEFINITIONS_H
#define SLUICE_GST_DEFINITIONS_H

#include <sluice/sluice.h>

/* Reads the kernels and banks of a file; the rest of it is checked, and left alone. SLUICE_E_USAGE,
 * with the file, line and column of the first mistake, when it is wrong. */
int definitions_read(struct sluice_definitions **definitions, const char *path,
                     struct sluice_error *error);

#endif
