/* libsluice from within: what its objects are made of. Shared by the files of library/ alone. The
 * library's face is include/sluice/sluice.h; what stands below it are the modules that the programs
 * use, too (chain/plan.h, chain/recording.h, device/device.h). */
#ifndef SLUICE_LIBRARY_INTERNAL_H
#define SLUICE_LIBRARY_INTERNAL_H

#include "chain/plan.h"
#include "chain/recording.h"
#include "device/device.h"
#include <sluice/sluice.h>
#include <stdatomic.h>

struct sluice_device {
    atomic_uint users;
    struct device *device; /* NULL: the references */
    atomic_int probed;     /* what became of the probe of imports (probe.c); 0: it was not made */
    char *select;          /* owned: the device borrows its options */
    sluice_log *log;
    void *log_context;
};

struct sluice_definitions {
    atomic_uint users;
    atomic_bool used; /* a chain refers to them: they do not change any more */
    struct definitions own;
};

struct sluice_chain {
    atomic_uint users;
    struct chain chain;
    struct sluice_definitions *definitions; /* NULL: none */
    struct text canonical, brief;
};

struct sluice_memory {
    atomic_uint users;
    struct sluice_device *device;
    uint8_t *data; /* NULL: it is imported */
    size_t bytes;
    unsigned access;                /* enum sluice_access */
    int fd;                         /* of a dma-buf; −1: the caller's memory */
    bool is_mapped;                 /* `data` is our mapping of the dma-buf */
    struct device_buffer *imported; /* the device's buffer of the dma-buf; NULL: it has none */
};

struct sluice_plan {
    atomic_uint users;
    struct sluice_chain *chain;
    struct sluice_device *device;
    struct plan *plan;           /* as the device runs it */
    struct recording *recording; /* NULL: nothing has to run on a device */
    struct frame in, out;        /* as the caller's memories hold them */
    struct frame view;           /* the result within the input's memory; no planes: it computes */
    size_t in_bytes, out_bytes;
    unsigned flags;
    atomic_bool stored; /* it has run, and its program is in the binary cache */
};

/* Fills `error` (may be NULL) from a fault; returns the code. */
int library_fail(struct sluice_error *error, const struct fault *fault);

/* The same from a text; always returns `code`. */
int library_error(struct sluice_error *error, int code, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* Copies a struct that begins with `size` from the caller: what his lacks becomes 0. */
void library_take(void *own, size_t size, const void *theirs);

/* Copies a struct that begins with `size` to the caller, as far as his has room; his size stays. */
void library_give(void *theirs, const void *own, size_t size);

/* Reads a layout into an empty frame, whose size is what a memory needs. SLUICE_E_USAGE says what
 * is wrong. */
int library_layout(const struct sluice_layout *layout, struct frame *frame,
                   struct sluice_error *error);

/* Fills the caller's layout from a frame, as sluice_chain_result describes. */
void library_show(const struct frame *frame, struct sluice_layout *layout);

/* Finds out once whether the device's imports of dma-bufs are what they seem. SLUICE_E_IMPORT says
 * what they are instead. */
int library_probe(struct sluice_device *device, struct sluice_error *error);

/* From now on, until it is called with NULL, lines of the log on this thread are the device's. */
void library_log_for(const struct sluice_device *device);

#endif
