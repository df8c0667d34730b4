/* Device memory that the host maps: pictures are decoded into it and encoded from it, so no pixel
 * is copied on the way.
 *
 * Buffers come from a pool and go back to it, so jobs of a kind that was seen before allocate
 * nothing. A buffer has one owner, who may hand it to another thread but not share it. While it is
 * mapped it belongs to the host, otherwise to the device: a mapped address is invalid after the
 * unmap, and the next map may give another one.
 *
 * If a driver refuses to map the first buffer (CL_MAP_FAILURE, CL_INVALID_OPERATION), the log says
 * so, and all buffers of the device are "mapped" to memory of ours, which is written to the device
 * and read from it. Once a buffer was mapped, these errors are errors like any other. */
#ifndef SLUICE_DEVICE_MEMORY_H
#define SLUICE_DEVICE_MEMORY_H

#include "base/fault.h"
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct device;
struct device_buffer;

/* Returns a buffer of at least `size` bytes. Its content is undefined. */
int device_buffer_acquire(struct device *device, size_t size, struct device_buffer **buffer,
                          struct fault *fault);

/* Makes a buffer of `size` bytes of the caller's memory, which the device reads in place, and with
 * `writes` writes. The memory must outlive the buffer and must not change. For devices whose
 * profile says host_memory. */
int device_buffer_wrap(struct device *device, const void *data, size_t size, bool writes,
                       struct device_buffer **buffer, struct fault *fault);

/* Makes a buffer of the first `size` bytes of a dma-buf, which the device uses in place; the host
 * never maps it. The descriptor stays the caller's. FAULT_DEVICE with the driver's refusal. */
int device_buffer_import(struct device *device, int fd, size_t size, struct device_buffer **buffer,
                         struct fault *fault);

/* Makes a buffer that is the same memory as an imported one, for a run that consumes it. */
int device_buffer_share(struct device *device, const struct device_buffer *of,
                        struct device_buffer **buffer, struct fault *fault);

bool device_buffer_is_imported(const struct device_buffer *buffer);

/* Returns the buffer to the pool, unmapping it if necessary. No command may still use it. Takes
 * NULL; clears the pointer. */
void device_buffer_release(struct device *device, struct device_buffer **buffer);

/* Sets how many bytes of idle buffers the pool keeps (256 MiB by default). When there are more, or
 * a new buffer makes idle and used ones together exceed this, it frees those idle longest. */
void device_pool_limit(struct device *device, uint64_t bytes);

/* Maps a buffer that no queued command uses, for writing; its content is lost. The first `size`
 * bytes are at `*data` until device_batch_unmap or the release. */
int device_buffer_map(struct device *device, struct device_buffer *buffer, size_t size, void **data,
                      struct fault *fault);

/* Writes the first `size` bytes from `data`: for constants of a plan, not for pictures. */
int device_buffer_fill(struct device *device, struct device_buffer *buffer, const void *data,
                       size_t size, struct fault *fault);

/* Gives the buffer that the device has for constants of the caller, which many plans share: where it
 * takes the host's memory these bytes themselves, else one copy of them. They must not change while
 * the device has them, until as many calls of device_constant_put. */
int device_constant_get(struct device *device, const void *data, size_t size,
                        struct device_buffer **buffer, struct fault *fault);

/* Takes NULL; clears the pointer. No command may still use it. */
void device_constant_put(struct device *device, struct device_buffer **buffer);

/* True if the driver refuses to map, so that each mapped buffer takes the same size of host memory
 * again. */
bool device_copies(const struct device *device);

/* Size of the buffer in bytes, at least what was asked for. */
size_t device_buffer_size(const struct device_buffer *buffer);

#endif
