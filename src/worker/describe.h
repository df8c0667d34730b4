/* Stages, devices and jobs as JSON, for programs: what `sluice stages`, `devices` and `run` print
 * with --json, and what the daemon's sockets tell. docs/schemas says what is in it. Any thread. */
#ifndef SLUICE_WORKER_DESCRIBE_H
#define SLUICE_WORKER_DESCRIBE_H

#include "base/fault.h"
#include "engine/engine.h"
#include "stage/stage.h"
#include <jansson.h>
#include <stdbool.h>

/* Returns a new reference; NULL without memory. */
json_t *describe_stage(const struct stage *stage);
json_t *describe_device(const struct device_info *info, bool taken);

/* Only the first `max` launches and stages are included, since a message between processes has a
 * limit. */
json_t *describe_report(const struct engine_report *report, size_t max);

/* Writes {"stages": […], "devices": […]} to `fd`, which stays open. `taken` is the device in use,
 * or NULL. Without `with_opencl` OpenCL is not loaded, and its devices are left out. */
int describe_write(int fd, const struct device_info *taken, bool with_opencl, struct fault *fault);

#endif
