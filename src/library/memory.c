/* Memories: the caller's bytes, and dma-bufs. */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "library/internal.h"

static struct sluice_memory *make(struct sluice_device *device, size_t bytes, unsigned access)
{
    struct sluice_memory *made = calloc(1, sizeof *made);
    if (!made)
        return NULL;
    atomic_init(&made->users, 1);
    made->device = sluice_device_ref(device);
    made->bytes = bytes;
    made->access = access;
    made->fd = -1;
    return made;
}

static int check_access(unsigned access, size_t bytes, struct sluice_error *error)
{
    if (access < SLUICE_READ || access > (SLUICE_READ | SLUICE_WRITE) || bytes == 0)
        return library_error(
            error, SLUICE_E_USAGE,
            "a memory of %zu bytes for access %u: it has at least one byte, and is "
            "for SLUICE_READ, SLUICE_WRITE, or both",
            bytes, access);
    return 0;
}

int sluice_memory_wrap(struct sluice_memory **memory, struct sluice_device *device, void *data,
                       size_t bytes, unsigned access, struct sluice_error *error)
{
    *memory = NULL;
    int result = check_access(access, bytes, error);
    if (result == 0 && !data)
        result = library_error(error, SLUICE_E_USAGE, "a memory at address 0");
    if (result != 0)
        return result;
    struct sluice_memory *made = make(device, bytes, access);
    if (!made)
        return library_error(error, SLUICE_E_MEMORY, "no memory for a memory");
    made->data = data;
    *memory = made;
    return 0;
}

/* Devices of the processor compute in a mapping of the dma-buf. */
static int map_buffer(struct sluice_memory *memory, struct sluice_error *error)
{
    int protection = (memory->access & SLUICE_READ ? PROT_READ : 0) |
                     (memory->access & SLUICE_WRITE ? PROT_READ | PROT_WRITE : 0);
    void *data = mmap(NULL, memory->bytes, protection, MAP_SHARED, memory->fd, 0);
    if (data == MAP_FAILED)
        return library_error(error, SLUICE_E_IMPORT, "the dma-buf cannot be mapped: %s",
                             strerror(errno));
    memory->data = data;
    memory->is_mapped = true;
    return 0;
}

/* Other devices' drivers import it, if that was seen to be in place. */
static int import_buffer(struct sluice_memory *memory, struct sluice_error *error)
{
    struct sluice_device *device = memory->device;
    struct fault fault = FAULT_INIT;
    library_log_for(device);
    int result = library_probe(device, error);
    if (result == 0 && device_buffer_import(device->device, memory->fd, memory->bytes,
                                            &memory->imported, &fault) != 0)
        result = library_error(error, SLUICE_E_IMPORT, "the driver refuses this dma-buf: %s",
                               fault.text);
    library_log_for(NULL);
    return result;
}

int sluice_memory_import(struct sluice_memory **memory, struct sluice_device *device, int fd,
                         size_t bytes, unsigned access, struct sluice_error *error)
{
    *memory = NULL;
    int result = check_access(access, bytes, error);
    if (result != 0)
        return result;
    off_t size = lseek(fd, 0, SEEK_END); /* dma-bufs answer this with their size */
    if (size < 0 || (uint64_t)size < bytes)
        return library_error(error, SLUICE_E_USAGE,
                             "descriptor %d: %s, where a dma-buf of %zu bytes is expected", fd,
                             size < 0 ? strerror(errno) : "fewer bytes", bytes);
    struct sluice_memory *made = make(device, bytes, access);
    if (!made)
        return library_error(error, SLUICE_E_MEMORY, "no memory for a memory");
    made->fd = fcntl(fd, F_DUPFD_CLOEXEC, 0);
    if (made->fd < 0)
        result = library_error(error, SLUICE_E_MEMORY, "descriptor %d: %s", fd, strerror(errno));
    else if (!device->device || device_profile(device->device)->host_memory)
        result = map_buffer(made, error);
    else
        result = import_buffer(made, error);
    if (result != 0)
        sluice_memory_unref(&made);
    *memory = made;
    return result;
}

struct sluice_memory *sluice_memory_ref(struct sluice_memory *memory)
{
    atomic_fetch_add(&memory->users, 1);
    return memory;
}

void sluice_memory_unref(struct sluice_memory **memory)
{
    struct sluice_memory *m = *memory;
    *memory = NULL;
    if (!m || atomic_fetch_sub(&m->users, 1) > 1)
        return;
    if (m->imported)
        device_buffer_release(m->device->device, &m->imported);
    if (m->is_mapped)
        munmap(m->data, m->bytes);
    if (m->fd >= 0)
        close(m->fd);
    sluice_device_unref(&m->device);
    free(m);
}
