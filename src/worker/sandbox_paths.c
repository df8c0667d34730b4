#include "worker/sandbox_internal.h"

#include <glob.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "device/device.h"

/* Patterns as in glob(7). Installed software is readable, because a driver loads parts of it when
 * it first compiles, and contains no secrets. Not in the list: most of /etc, /run and /proc, and
 * all of /home, /root, /srv, /tmp and /var (except the cache).
 *
 * Tried: PoCL 3.1, NVIDIA 580. From documentation only: Mesa, Arm's drivers (/dev/mali0,
 * /dev/dma_heap), AMD's and Intel's. */
static const struct {
    const char *pattern;
    enum landlock_access access;
} needs[] = {
    {"/lib", LANDLOCK_READ},
    {"/lib[0-9x]*", LANDLOCK_READ},
    {"/usr/lib*", LANDLOCK_READ},
    {"/usr/share", LANDLOCK_READ},
    {"/usr/local/lib*", LANDLOCK_READ},
    {"/usr/local/share", LANDLOCK_READ},
    {"/usr/local/nvidia", LANDLOCK_READ},
    {"/usr/local/cuda*", LANDLOCK_READ},
    {"/opt/rocm*", LANDLOCK_READ},
    {"/opt/intel", LANDLOCK_READ},
    {"/vendor/lib*", LANDLOCK_READ},
    {"/system/lib*", LANDLOCK_READ},
    {"/nix/store", LANDLOCK_READ},
    {"/gnu/store", LANDLOCK_READ},
    {"/run/opengl-driver", LANDLOCK_READ},
    {"/etc/OpenCL", LANDLOCK_READ},
    {"/etc/ld.so.*", LANDLOCK_READ},
    {"/etc/nvidia", LANDLOCK_READ},
    {"/etc/drirc", LANDLOCK_READ},
    {"/sys", LANDLOCK_READ}, /* hwloc in PoCL, PCI identities */
    {"/proc/self", LANDLOCK_READ},
    {"/proc/cpuinfo", LANDLOCK_READ},
    {"/proc/meminfo", LANDLOCK_READ},
    {"/proc/stat", LANDLOCK_READ},
    {"/proc/version", LANDLOCK_READ},
    {"/proc/devices", LANDLOCK_READ},
    {"/proc/modules", LANDLOCK_READ},
    {"/proc/filesystems", LANDLOCK_READ},
    {"/proc/driver", LANDLOCK_READ},
    {"/proc/sys/vm", LANDLOCK_READ},
    {"/proc/sys/kernel", LANDLOCK_READ},
    {"/dev/null", LANDLOCK_DEVICE},
    {"/dev/zero", LANDLOCK_DEVICE},
    {"/dev/urandom", LANDLOCK_READ},
    {"/dev/random", LANDLOCK_READ},
    {"/dev/nvidia*", LANDLOCK_DEVICE},
    {"/dev/dri", LANDLOCK_DEVICE},
    {"/dev/kfd", LANDLOCK_DEVICE},
    {"/dev/mali*", LANDLOCK_DEVICE},
    {"/dev/dma_heap", LANDLOCK_DEVICE},
    {"/dev/dma_buf_te", LANDLOCK_DEVICE},
    {"/dev/ion", LANDLOCK_DEVICE},
    {"/dev/udmabuf", LANDLOCK_DEVICE},
    /* PoCL links each kernel with ld, or with a compiler driver that runs ld; both need the dynamic
     * loader. */
    {"/usr/bin/ld", LANDLOCK_RUN},
    {"/usr/bin/ld.*", LANDLOCK_RUN},
    {"/usr/bin/*-ld", LANDLOCK_RUN},
    {"/usr/bin/*-ld.*", LANDLOCK_RUN},
    {"/usr/bin/clang*", LANDLOCK_RUN},
    {"/usr/lib/llvm-*/bin/clang*", LANDLOCK_RUN},
    {"/usr/lib/llvm-*/bin/*lld", LANDLOCK_RUN},
    {"/lib/ld-*.so*", LANDLOCK_RUN},
    {"/lib/*/ld-*.so*", LANDLOCK_RUN},
    {"/lib64/ld-*.so*", LANDLOCK_RUN},
};

static void allow_matching(struct landlock *landlock, const char *pattern,
                           enum landlock_access access)
{
    glob_t found = {0};
    if (glob(pattern, 0, NULL, &found) == 0)
        for (size_t i = 0; i < found.gl_pathc; i++)
            landlock_allow(landlock, found.gl_pathv[i], access);
    globfree(&found);
}

/* Allows directories and libraries that the environment names for drivers. */
static void allow_listed(struct landlock *landlock, const char *variable)
{
    char path[4096];
    const char *list = getenv(variable);
    for (size_t length; list && *list; list += length + (list[length] == ':')) {
        length = strcspn(list, ":");
        if (length > 0 && length < sizeof path && list[0] == '/') {
            memcpy(path, list, length);
            path[length] = '\0';
            landlock_allow(landlock, path, LANDLOCK_READ);
        }
    }
}

/* Allows the library that an .icd file names, by its path or by its name for the loader. Links in
 * that library's directory lead to other libraries of the driver. */
static void allow_icd(struct landlock *landlock, const char *file)
{
    char line[4096];
    FILE *stream = fopen(file, "re");
    if (!stream)
        return;
    char *path = fgets(line, sizeof line, stream);
    char *slash = path ? strrchr(path, '/') : NULL;
    if (path && path[0] == '/' && slash > path) {
        *slash = '\0';
        landlock_allow(landlock, path, LANDLOCK_READ);
    }
    fclose(stream);
}

static void allow_icds(struct landlock *landlock)
{
    glob_t found = {0};
    if (glob("/etc/OpenCL/vendors/*.icd", 0, NULL, &found) == 0)
        for (size_t i = 0; i < found.gl_pathc; i++)
            allow_icd(landlock, found.gl_pathv[i]);
    globfree(&found);
}

void sandbox_allow_paths(struct landlock *landlock)
{
    static const char *const variables[] = {"LD_LIBRARY_PATH",   "OCL_ICD_VENDORS",
                                            "OCL_ICD_FILENAMES", "OPENCL_VENDOR_PATH",
                                            "OPENCL_LAYERS",     "OPENCL_LAYER_PATH"};
    for (size_t i = 0; i < sizeof needs / sizeof *needs; i++)
        allow_matching(landlock, needs[i].pattern, needs[i].access);
    for (size_t i = 0; i < sizeof variables / sizeof *variables; i++)
        allow_listed(landlock, variables[i]);
    allow_icds(landlock);
    if (device_cache_directory())
        landlock_allow(landlock, device_cache_directory(), LANDLOCK_CONTENT);
    if (device_cache_read_only())
        landlock_allow(landlock, device_cache_read_only(), LANDLOCK_READ);
}

static void place(const char *variable, const char *below, int replace)
{
    char path[4096];
    snprintf(path, sizeof path, "%s%s", device_cache_directory(), below);
    setenv(variable, path, replace);
}

void sandbox_place_caches(void)
{
    if (!device_cache_directory())
        return;
    place("CUDA_CACHE_PATH", "/nvidia", 0);
    place("MESA_SHADER_CACHE_DIR", "/mesa", 0);
    place("TMPDIR", "", 1);
}
