/* Whether a driver's import of a dma-buf is what it seems. Drivers were seen to refuse some
 * buffers, to copy at the import, so that later frames never arrive, and to leave bytes in a cache.
 * A small picture is inverted from one dma-buf into another, twice; what the processor writes into
 * the one the device has to see, and the other way round. What was found is kept in the cache
 * directory, by device and driver. */
#include <errno.h>
#include <fcntl.h>
#include <linux/dma-buf.h>
#include <linux/dma-heap.h>
#include <linux/udmabuf.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <unistd.h>

#include "library/internal.h"

enum {
    WIDTH = 256,
    HEIGHT = 64,
    BYTES = WIDTH * HEIGHT
};

enum found {
    FOUND_NOTHING, /* the probe was not made */
    FOUND_GOOD,
    FOUND_REFUSED,
    FOUND_COPIED,
    FOUND_STALE,
    FOUND_ALL
};

static const char *const facts[FOUND_ALL] = {
    [FOUND_GOOD] = "imports of dma-bufs are in place",
    [FOUND_REFUSED] = "imports of dma-bufs are refused",
    [FOUND_COPIED] = "imports of dma-bufs are copies",
    [FOUND_STALE] = "imports of dma-bufs are stale",
};

static const char *const reasons[FOUND_ALL] = {
    [FOUND_REFUSED] = "the driver refuses dma-bufs",
    [FOUND_COPIED] =
        "the driver copies a dma-buf when it imports it: later frames would not arrive",
    [FOUND_STALE] = "the driver shows stale bytes of a dma-buf",
};

/* ---- dma-bufs of our own ---- */

static int from_heap(void)
{
    static const char *const heaps[] = {"/dev/dma_heap/system", "/dev/dma_heap/linux,cma",
                                        "/dev/dma_heap/reserved"};
    int fd = -1;
    for (size_t i = 0; i < sizeof heaps / sizeof *heaps && fd < 0; i++) {
        struct dma_heap_allocation_data wanted = {.len = BYTES, .fd_flags = O_RDWR | O_CLOEXEC};
        int heap = open(heaps[i], O_RDONLY | O_CLOEXEC);
        if (heap >= 0 && ioctl(heap, DMA_HEAP_IOCTL_ALLOC, &wanted) == 0)
            fd = (int)wanted.fd;
        if (heap >= 0)
            close(heap);
    }
    return fd;
}

static int from_memory_file(void)
{
    int fd = -1, maker = open("/dev/udmabuf", O_RDWR | O_CLOEXEC);
    int file = maker < 0 ? -1 : memfd_create("sluice-probe", MFD_CLOEXEC | MFD_ALLOW_SEALING);
    struct udmabuf_create wanted = {
        .memfd = (uint32_t)file, .flags = UDMABUF_FLAGS_CLOEXEC, .size = BYTES};
    if (file >= 0 && ftruncate(file, BYTES) == 0 && fcntl(file, F_ADD_SEALS, F_SEAL_SHRINK) == 0)
        fd = ioctl(maker, UDMABUF_CREATE, &wanted);
    if (file >= 0)
        close(file);
    if (maker >= 0)
        close(maker);
    return fd;
}

struct side {
    int fd;
    uint8_t *data;
    struct device_buffer *buffer;
};

static bool open_side(struct side *side)
{
    side->fd = from_heap();
    if (side->fd < 0)
        side->fd = from_memory_file();
    void *data = side->fd < 0 ? MAP_FAILED
                              : mmap(NULL, BYTES, PROT_READ | PROT_WRITE, MAP_SHARED, side->fd, 0);
    side->data = data == MAP_FAILED ? NULL : data;
    return side->data != NULL;
}

static void close_side(struct device *device, struct side *side)
{
    device_buffer_release(device, &side->buffer);
    if (side->data)
        munmap(side->data, BYTES);
    if (side->fd >= 0)
        close(side->fd);
}

static void sync_side(const struct side *side, uint64_t flags)
{
    struct dma_buf_sync sync = {.flags = flags};
    while (ioctl(side->fd, DMA_BUF_IOCTL_SYNC, &sync) != 0 && (errno == EINTR || errno == EAGAIN))
        ;
}

static void fill_side(const struct side *side, uint8_t value)
{
    sync_side(side, DMA_BUF_SYNC_START | DMA_BUF_SYNC_WRITE);
    memset(side->data, value, BYTES);
    sync_side(side, DMA_BUF_SYNC_END | DMA_BUF_SYNC_WRITE);
}

/* The byte that all of it is; -1: there are several. */
static int value_of(const struct side *side)
{
    sync_side(side, DMA_BUF_SYNC_START | DMA_BUF_SYNC_READ);
    int value = side->data[0];
    for (size_t i = 1; i < BYTES && value >= 0; i++)
        if (side->data[i] != value)
            value = -1;
    sync_side(side, DMA_BUF_SYNC_END | DMA_BUF_SYNC_READ);
    return value;
}

/* ---- the probe ---- */

struct probe {
    struct device *device;
    struct chain chain;
    struct plan *plan;
    struct recording *recording;
    struct side in, out;
};

static int import_side(struct probe *probe, struct side *side, struct fault *fault)
{
    device_buffer_release(probe->device, &side->buffer);
    return device_buffer_import(probe->device, side->fd, BYTES, &side->buffer, fault);
}

static int prepare(struct probe *probe, struct fault *fault)
{
    const struct plane plane = {.width = WIDTH, .height = HEIGHT, .channels = 1};
    struct frame frame = {0};
    struct plan_options options = {
        .profile = device_profile(probe->device), .keep_input = true, .out = &frame};
    int result = chain_parse(&probe->chain, "invert", fault);
    if (result == 0 && !frame_add_plane(&frame, &plane, 1))
        result = fault_set(fault, FAULT_MEMORY, "no memory for a frame");
    if (result == 0)
        result = plan_create(&probe->plan, &probe->chain, &frame, &options, fault);
    if (result == 0)
        result = recording_create(&probe->recording, probe->plan, probe->device, fault);
    frame_finish(&frame);
    return result;
}

/* Writes a value into the one dma-buf and inverts it into the other; *seen is what came. */
static int invert(struct probe *probe, uint8_t value, int *seen, struct fault *fault)
{
    struct device_buffer *in = NULL, *out = NULL;
    struct recording_run run = {0};
    fill_side(&probe->in, value);
    fill_side(&probe->out, value); /* which is not what is to come */
    int result = device_buffer_share(probe->device, probe->in.buffer, &in, fault);
    if (result == 0)
        result = device_buffer_share(probe->device, probe->out.buffer, &out, fault);
    if (result == 0)
        result = recording_start(probe->recording, &in, &out, 1, &run, fault);
    else
        device_buffer_release(probe->device, &in);
    if (result == 0)
        result = recording_wait(probe->recording, &run, fault);
    if (result == 0)
        *seen = value_of(&probe->out);
    recording_run_finish(probe->recording, &run);
    return result;
}

static int run_probe(struct probe *probe, enum found *found, struct fault *fault)
{
    int first = -1, second = -1, third = -1;
    *found = FOUND_REFUSED;
    fill_side(&probe->in, 10);
    if (import_side(probe, &probe->in, NULL) != 0 || import_side(probe, &probe->out, NULL) != 0)
        return 0;
    int result = invert(probe, 10, &first, fault);
    if (result == 0)
        result = invert(probe, 200, &second, fault);
    if (result == 0 && first == 255 - 10 && second == 255 - 200) {
        *found = FOUND_GOOD;
        return 0;
    }
    /* Imported once more, a copy is a newer one. */
    fill_side(&probe->in, 90);
    if (result == 0 && import_side(probe, &probe->in, NULL) == 0)
        result = invert(probe, 90, &third, fault);
    *found = third == 255 - 90 || second == 200 ? FOUND_COPIED : FOUND_STALE;
    return result;
}

static int make_probe(struct sluice_device *device, enum found *found, struct sluice_error *error)
{
    struct probe probe = {.device = device->device, .in = {.fd = -1}, .out = {.fd = -1}};
    struct fault fault = FAULT_INIT;
    int result = 0;
    if (!open_side(&probe.in) || !open_side(&probe.out))
        result = library_error(error, SLUICE_E_IMPORT,
                               "there is no dma-buf to probe the driver with: neither "
                               "/dev/dma_heap nor /dev/udmabuf can be used");
    else if (prepare(&probe, &fault) != 0 || run_probe(&probe, found, &fault) != 0)
        result = library_fail(error, &fault);
    recording_destroy(&probe.recording);
    plan_destroy(&probe.plan);
    chain_finish(&probe.chain);
    close_side(probe.device, &probe.in);
    close_side(probe.device, &probe.out);
    return result;
}

int library_probe(struct sluice_device *device, struct sluice_error *error)
{
    enum found found = (enum found)atomic_load(&device->probed);
    int result = 0;
    for (int i = FOUND_GOOD; i < FOUND_ALL && found == FOUND_NOTHING; i++)
        if (device_knows(device->device, facts[i]))
            found = (enum found)i;
    if (found == FOUND_NOTHING) {
        result = make_probe(device, &found, error);
        if (result == 0)
            device_learn(device->device, facts[found]);
    }
    if (result != 0)
        return result;
    atomic_store(&device->probed, (int)found);
    return found == FOUND_GOOD ? 0 : library_error(error, SLUICE_E_IMPORT, "%s", reasons[found]);
}
