/* A device: chosen, opened, described. There are OpenCL's devices, and `native`: the processor,
 * with kernels that were compiled with sluice. OpenCL is loaded only when one of its devices may be
 * chosen; everything else works without it.
 *
 * A process opens a device once and keeps it. Functions may be called from any thread unless they
 * say otherwise. CL types are not used outside this folder. */
#ifndef SLUICE_DEVICE_DEVICE_H
#define SLUICE_DEVICE_DEVICE_H

#include "base/fault.h"
#include "device/profile.h"
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct device;
struct device_backend; /* private to device/ */

/* In the order of preference of `auto`. */
enum device_kind {
    DEVICE_GPU,
    DEVICE_ACCELERATOR,
    DEVICE_NATIVE,
    DEVICE_CPU, /* OpenCL on the processor */
    DEVICE_KINDS
};

/* A device's description of itself. Valid as long as the process. */
struct device_info {
    const struct device_backend *backend;
    /* as --platform-index and --device-index count; -1 for native */
    int platform_index, device_index;
    enum device_kind kind;
    char platform[128], name[128], vendor[128], version[128], driver[128];
    unsigned compute_units, clock_mhz;
    size_t work_group_size; /* the largest work-group, in items */
    uint64_t memory, max_allocation;
    uint64_t local_memory; /* bytes; 0: no faster than other memory */
    bool has_fp64, exact_divide, unified_memory, multiplies_bytes;
    const char *profile; /* the class for which its kernels are planned */
};

struct device_options {
    const char *select;      /* auto, gpu, native, cpu, or part of a device's or platform's name;
                                NULL: auto */
    int platform_index;      /* -1: any */
    int device_index;        /* -1: any */
    const char *flags;       /* further compiler options; NULL: none */
    const char *load_binary; /* file of a program binary to use instead of compiling; NULL: none */
    const char *dump_binary; /* file to write the program's binary to; NULL: none */
    bool no_cache;           /* do not use the binary cache */
    unsigned threads;        /* of native, with the one that waits; 0: one for each processor */
};

/* Which programs a caller may have made. */
enum program_use {
    PROGRAM_ANY,     /* made if it does not exist; of those without users the last 64 are kept */
    PROGRAM_KEPT,    /* made if it does not exist, and kept until the device is closed */
    PROGRAM_COUNTED, /* as KEPT, but at most PROGRAM_COUNTED_MAX are made in this way */
    PROGRAM_FOUND,   /* only one that exists; otherwise *program is NULL */
};

/* Counted since the device was opened; read with atomic_load. */
struct device_counters {
    atomic_uint_fast64_t builds;       /* programs compiled from source */
    atomic_uint_fast64_t cache_hits;   /* programs taken from the binary cache */
    atomic_uint_fast64_t counted;      /* programs made by PROGRAM_COUNTED */
    atomic_uint_fast64_t allocations;  /* buffers allocated because the pool had none */
    atomic_uint_fast64_t buffer_bytes; /* of buffers in the pool and in use */
    atomic_uint_fast64_t launches;
};

/* What passed between host and device for one job. */
struct device_traffic {
    uint64_t crossings_in;  /* buffers handed to the device: unmapped, wrapped, or written */
    uint64_t crossings_out; /* buffers handed back: mapped for reading, or read */
    uint64_t bytes_copied;  /* written or read, because the driver does not map */
};

/* Lists all devices, or all except OpenCL's, which is loaded otherwise; returns how many.
 * FAULT_NO_DEVICE says why OpenCL has none: no loader, or no platform. */
#define DEVICES_MAX 64
size_t device_list(const struct device_info *list[DEVICES_MAX], bool with_opencl,
                   struct fault *fault);

/* Whether device_list has OpenCL's devices already, and so waits for no driver. Any thread. */
bool device_opencl_is_listed(void);

/* For a FAULT_NO_DEVICE of a plan that needs fp64, under a profile without it: appends to the text
 * which --device has it. */
void device_tell_fp64(const struct device_profile *profile, struct fault *fault);

/* Whether choosing by `options` loads OpenCL with all installed drivers. `auto` does so where the
 * kernel has a device node of a GPU, where the environment names drivers or layers, and where there
 * are no native kernels. */
bool device_may_load(const struct device_options *options);

/* Lists the devices that `options` allow, best first. FAULT_NO_DEVICE says why there are none, or
 * lists what there is when nothing fits. */
int device_select(const struct device_options *options,
                  const struct device_info *order[DEVICES_MAX], size_t *count, struct fault *fault);

/* Opens the first device of a list that can be opened, and takes it and those before it off the
 * list; the log has why those were passed over. The fault is the last one's. `options` must outlive
 * the device. */
int device_open_first(struct device **device, const struct device_info *order[DEVICES_MAX],
                      size_t *count, const struct device_options *options, struct fault *fault);

/* device_select and device_open_first. */
int device_open_best(struct device **device, const struct device_options *options,
                     struct fault *fault);

/* Opens a device of the list. `options` must outlive the device. */
int device_open(struct device **device, const struct device_info *info,
                const struct device_options *options, struct fault *fault);

/* Waits for running commands and frees everything. Takes NULL; clears the pointer. */
void device_close(struct device **device);

const struct device_info *device_info(const struct device *device);
const struct device_profile *device_profile(const struct device *device);

/* The device's profile for generic kernels. */
const struct device_profile *device_generic_profile(const struct device *device);
struct device_counters *device_counters(struct device *device);

/* The cache directory: SLUICE_CACHE_DIR, systemd's CACHE_DIRECTORY, XDG_CACHE_HOME/sluice or
 * ~/.cache/sluice; NULL when none of them can be used. Valid as long as the process. */
const char *device_cache_directory(void);

/* Takes this directory in place of all these, if none has been chosen yet. */
void device_cache_use(const char *path);

/* One of these that holds programs and cannot be written to: it is read in addition to the next
 * one. NULL: there is none. */
const char *device_cache_read_only(void);

/* What is kept in the cache directory about a device and its driver, which need not be open. `fact`
 * is text that contains everything else it depends on. device_recall returns false where there is
 * nothing, or only something damaged; the caller then owns no value. device_remember replaces it in
 * one step, and returns false after a warning where it cannot be written. */
struct bytes;
bool device_recall(const struct device_info *info, const char *fact, struct bytes *value);
bool device_remember(const struct device_info *info, const char *fact, const struct bytes *value);

/* The same for facts that are true or not known. */
bool device_knows(const struct device *device, const char *fact);
void device_learn(const struct device *device, const char *fact);

/* Removes everything that we have put into the cache directory: programs, facts, and PoCL's
 * compiled kernels. For a cache that makes every start crash. To be called before devices are
 * listed. */
void device_cache_wipe(void);

/* "gpu", "accelerator", "cpu", "native". */
const char *device_kind_name(enum device_kind kind);

#endif
