/* Programs: OpenCL C compiled once for a device, and the kernels in them.
 *
 * A program is taken from the binary cache when the cache has one for exactly this source, device,
 * driver and options, and compiled else. Storing it there is a step of its own, taken after the
 * kernels have been created and run once: some Mali drivers compile at clCreateKernel, and PoCL at
 * a kernel's first run. */
#ifndef SLUICE_DEVICE_PROGRAM_H
#define SLUICE_DEVICE_PROGRAM_H

#include "device/device.h"

struct device_program;
struct device_kernel;

/* Finds the device's program of that source, or compiles or loads it; `source` is NUL-terminated. A
 * compiler's complaint comes with the first lines of its log, which name the kernel's file and
 * line. Each get is ended by a put; the device keeps programs that nobody holds, the latest 64. */
int device_program_get(struct device *device, const char *source, struct device_program **program,
                       struct fault *fault);

/* Takes NULL; clears the pointer. */
void device_program_put(struct device *device, struct device_program **program);

/* The kernel of that name; it belongs to the program. */
int device_program_kernel(struct device_program *program, const char *name,
                          struct device_kernel **kernel, struct fault *fault);

const char *device_kernel_name(const struct device_kernel *kernel);

/* Writes the program to the binary cache, and to --dump-binary's file, if that has not been done.
 */
int device_program_store(struct device *device, struct device_program *program,
                         struct fault *fault);

#endif
