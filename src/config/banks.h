/* The sections `banks` and `kernels` of a configuration. `to` is struct definitions. */
#ifndef SLUICE_CONFIG_BANKS_H
#define SLUICE_CONFIG_BANKS_H

#include "config/reader.h"

void config_read_banks(struct reader *reader, yaml_node_t *node, void *to);
void config_read_kernels(struct reader *reader, yaml_node_t *node, void *to);

#endif
