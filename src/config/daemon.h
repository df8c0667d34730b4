/* Sections of the configuration for the daemon (device, limits, listen, watch, log, state) and for
 * the relay. `to` is struct settings. */
#ifndef SLUICE_CONFIG_DAEMON_H
#define SLUICE_CONFIG_DAEMON_H

#include "config/reader.h"
#include "config/settings.h"

void config_read_device(struct reader *reader, yaml_node_t *node, void *to);
void config_read_limits(struct reader *reader, yaml_node_t *node, void *to);
void config_read_listen(struct reader *reader, yaml_node_t *node, void *to);
void config_read_log(struct reader *reader, yaml_node_t *node, void *to);
void config_read_relay(struct reader *reader, yaml_node_t *node, void *to);
void config_read_state(struct reader *reader, yaml_node_t *node, void *to);
void config_read_watch(struct reader *reader, yaml_node_t *node, void *to);

#endif
