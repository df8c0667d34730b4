/* Device memory that the host maps: pictures are decoded into it and encoded from it, so no pixel
 * is copied on the way.
 *
 * Buffers come from a pool and go back to it, so that a warm job allocates nothing. A buffer has
 * one owner, who may hand it to another thread but not share it. While mapped it belongs to the
 * host, else to the device: a mapped address is dead after the unmap, and the next map may give
 * another one.
 *
 * A driver that refuses to map the first buffer (CL_MAP_FAILURE, CL_INVALID_OPERATION) is told of
 * in the log; all buffers are "mapped" into memory of ours then, which is written to the device and
 * read from it. Once a buffer was mapped these are errors like any other. */
#ifndef SLUICE_DEVICE_MEMORY_H
#define SLUICE_DEVICE_MEMORY_H

#include "base/fault.h"
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct device;
struct device_buffer;

/* What passed between host and device for one job, counted where it is done. */
struct device_traffic {
    uint64_t crossings_in;  /* buffers handed to the device: unmapped, lent, or written */
    uint64_t crossings_out; /* buffers handed back: mapped for reading, or read */
    uint64_t bytes_copied;  /* that had to be written or read, since the driver does not map */
};

/* A buffer of at least `size` bytes, contents undefined. */
int device_buffer_acquire(struct device *device, size_t size, struct device_buffer **buffer,
                          struct fault *fault);

/* A buffer that is `size` bytes of the host's own, to be read by the device where they lie; they
 * outlive the buffer and stay as they are. Where the profile says host_memory. */
int device_buffer_wrap(struct device *device, const void *data, size_t size,
                       struct device_buffer **buffer, struct fault *fault);

/* Gives the buffer back to the pool, unmapping it if need be. No command may still use it. Takes
 * NULL; clears the pointer. */
void device_buffer_release(struct device *device, struct device_buffer **buffer);

/* How many bytes of idle buffers the pool keeps (256 MiB unless told); above it, those idle longest
 * are freed, as they are when a new buffer would take idle and used ones together above it. */
void device_pool_limit(struct device *device, uint64_t bytes);

/* Maps a buffer that no queued command uses, for writing; what was in it is lost. The first `size`
 * bytes are at `*data` until the buffer is unmapped by device_batch_unmap or released. */
int device_buffer_map(struct device *device, struct device_buffer *buffer, size_t size, void **data,
                      struct fault *fault);

/* Fills the first `size` bytes from `data` (constants of a plan, not pixels). */
int device_buffer_fill(struct device *device, struct device_buffer *buffer, const void *data,
                       size_t size, struct fault *fault);

/* True for a driver that refuses to map: a buffer that is "mapped" takes as much of our memory. */
bool device_copies(const struct device *device);

/* Bytes that the buffer has, at least what was asked for. */
size_t device_buffer_size(const struct device_buffer *buffer);

#endif
