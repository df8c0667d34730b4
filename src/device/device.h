/* A device: chosen, opened, asked what it can do. There are OpenCL's, and `native`, the processor
 * with kernels that were compiled when sluice was. OpenCL is loaded when one of its devices may be
 * what is asked for, never before: all else works without it.
 *
 * One process opens a device once and keeps it. Everything here may be called from any thread
 * unless a function says otherwise; CL types stay inside this folder. */
#ifndef SLUICE_DEVICE_DEVICE_H
#define SLUICE_DEVICE_DEVICE_H

#include "base/fault.h"
#include "device/profile.h"
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct device;
struct device_backend; /* device/'s own */

/* In the order in which `auto` takes them. */
enum device_kind {
    DEVICE_GPU,
    DEVICE_ACCELERATOR,
    DEVICE_NATIVE,
    DEVICE_CPU, /* OpenCL on the processor */
    DEVICE_KINDS
};

/* One device as it describes itself. Lives as long as the process. */
struct device_info {
    const struct device_backend *backend;
    int platform_index, device_index; /* as --platform-index and --device-index count; -1: native */
    enum device_kind kind;
    char platform[128], name[128], vendor[128], version[128], driver[128];
    unsigned compute_units, clock_mhz;
    size_t work_group_size; /* items, at most */
    uint64_t memory, max_allocation;
    uint64_t local_memory; /* bytes; 0: it is no faster than the rest */
    bool has_fp64, exact_divide, unified_memory;
    const char *profile; /* the class that its kernels are planned for */
};

struct device_options {
    const char *select;      /* auto, gpu, native, cpu, or part of a device's or platform's name;
                                NULL: auto */
    int platform_index;      /* -1: any */
    int device_index;        /* -1: any */
    const char *flags;       /* further compiler options, or NULL */
    const char *load_binary; /* file of a program binary to take instead of compiling, or NULL */
    const char *dump_binary; /* file to write the program's binary to, or NULL */
    bool no_cache;           /* neither read nor write the binary cache */
};

/* Which programs a caller may cause. */
enum program_use {
    PROGRAM_ANY,     /* made where it is not there; of those nobody holds the latest 64 stay */
    PROGRAM_KEPT,    /* made where it is not there, and stays until the device is closed */
    PROGRAM_COUNTED, /* the same, but no more than PROGRAM_COUNTED_MAX are made this way */
    PROGRAM_FOUND,   /* only one that stays already: *program is NULL where there is none */
};

/* Counts since the device was opened; read with atomic_load. */
struct device_counters {
    atomic_uint_fast64_t builds;       /* programs compiled from source */
    atomic_uint_fast64_t cache_hits;   /* programs taken from the binary cache */
    atomic_uint_fast64_t counted;      /* programs that PROGRAM_COUNTED has made */
    atomic_uint_fast64_t allocations;  /* buffers allocated (the pool's misses) */
    atomic_uint_fast64_t buffer_bytes; /* held by the pool and its users now */
    atomic_uint_fast64_t launches;
};

/* All devices that there are, or all but OpenCL's, which is loaded for them; returns how many.
 * FAULT_NO_DEVICE tells why there are none of OpenCL's: no loader, or no platform. */
#define DEVICES_MAX 64
size_t device_list(const struct device_info *list[DEVICES_MAX], bool with_opencl,
                   struct fault *fault);

/* To a FAULT_NO_DEVICE of a plan for `profile`, when that has no fp64, adds which --device has it.
 */
void device_tell_fp64(const struct device_profile *profile, struct fault *fault);

/* Whether `options` allow a device of OpenCL's, so that a choice by them loads it with all drivers
 * that are installed. `auto` does where the kernel has a node for a GPU, where the environment names
 * drivers or layers, and where there are no native kernels. */
bool device_may_load(const struct device_options *options);

/* The devices that `options` allow, best first. FAULT_NO_DEVICE says why there are none, or names
 * what there is when nothing fits. */
int device_select(const struct device_options *options,
                  const struct device_info *order[DEVICES_MAX], size_t *count, struct fault *fault);

/* Opens a device of the list: context and profiled queues. `options` are kept by reference. */
int device_open(struct device **device, const struct device_info *info,
                const struct device_options *options, struct fault *fault);

/* Waits for what runs, gives everything back. Takes NULL; clears the pointer. */
void device_close(struct device **device);

const struct device_info *device_info(const struct device *device);
const struct device_profile *device_profile(const struct device *device);

/* The same, but generic. */
const struct device_profile *device_generic_profile(const struct device *device);
struct device_counters *device_counters(struct device *device);

/* Where programs are cached: SLUICE_CACHE_DIR, systemd's CACHE_DIRECTORY, XDG_CACHE_HOME/sluice or
 * ~/.cache/sluice; NULL when none of them can be had. The string lives as long as the process. */
const char *device_cache_directory(void);

/* One of these that holds programs and cannot be written to: it is read beside the next of them.
 * NULL: there is none. */
const char *device_cache_read_only(void);

/* What is known of this device with this driver and outlives the process: `fact` is any text that
 * says all that it depends on. Kept in the cache directory, and gone with it. */
bool device_knows(const struct device *device, const char *fact);
void device_learn(const struct device *device, const char *fact);

/* Empties the cache directory of what we put there: programs, facts, and PoCL's compiled kernels.
 * For a cache that makes every start crash. Before any device is listed. */
void device_cache_wipe(void);

/* "gpu", "accelerator", "cpu", "native". */
const char *device_kind_name(enum device_kind kind);

#endif
