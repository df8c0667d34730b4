#include "worker/sandbox_internal.h"

#include <dirent.h>
#include <stdio.h>
#include <sys/prctl.h>
#include <sys/resource.h>

#include "device/device.h"

#define FILE_SIZE_FLOOR (UINT64_C(1) << 30) /* drivers write caches of this size */

/* Landlock would not limit threads that exist already, so there must be none. */
static bool is_alone(void)
{
    unsigned threads = 0;
    DIR *stream = opendir("/proc/self/task");
    struct dirent *entry;
    while (stream && (entry = readdir(stream)) != NULL)
        threads += entry->d_name[0] != '.';
    if (stream)
        closedir(stream);
    return threads == 1;
}

/* Version 1 forbids renaming from one directory to another, which PoCL needs to store a compiled
 * kernel. */
static bool is_too_old(int version, bool driver)
{
    return version < (driver ? 2 : 1);
}

static bool limit_paths(bool driver, char *why, size_t size)
{
    struct fault fault = FAULT_INIT;
    struct landlock landlock;
    int version = landlock_version();
    if (is_too_old(version, driver)) {
        snprintf(why, size, version ? "landlock %d is too old" : "this kernel has no landlock",
                 version);
        return false;
    }
    if (!is_alone()) {
        snprintf(why, size, "threads are there before landlock");
        return false;
    }
    if (landlock_begin(&landlock, version, &fault) == 0) {
        if (driver)
            sandbox_allow_paths(&landlock);
        if (landlock_enforce(&landlock, &fault) == 0) {
            snprintf(why, size, "landlock %d", version);
            return true;
        }
    }
    snprintf(why, size, "no %.30s", fault.text);
    return false;
}

static void limit_one(int which, uint64_t value)
{
    struct rlimit limit;
    if (getrlimit(which, &limit) != 0 || limit.rlim_max <= value)
        return;
    limit.rlim_cur = limit.rlim_max = value;
    setrlimit(which, &limit);
}

/* RLIMIT_NPROC is left out because it counts all processes of the user, RLIMIT_AS because GPU
 * drivers reserve far more addresses than they use. A file that grows too large makes write(2)
 * fail, since SIGXFSZ is ignored (signals.h). */
static void limit_resources(uint64_t memory)
{
    limit_one(RLIMIT_CORE, 0);
    limit_one(RLIMIT_FSIZE, 2 * memory + FILE_SIZE_FLOOR);
}

void sandbox_put_on(struct sandbox *sandbox, const struct sandbox_needs *needs)
{
    char paths[60], calls[40] = "seccomp";
    struct fault fault = FAULT_INIT;
    device_cache_directory(); /* found, and made, before paths are limited */
    if (needs->driver)
        sandbox_place_caches();
    limit_resources(needs->memory);
    prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
    bool has_paths = limit_paths(needs->driver, paths, sizeof paths);
    bool has_calls = sandbox_limit_calls(needs->driver, needs->log_refused, &fault) == 0;
    if (!has_calls)
        snprintf(calls, sizeof calls, "no %.30s", fault.text);
    sandbox->whole = has_paths && has_calls;
    snprintf(sandbox->level, sizeof sandbox->level, "%s: %s, %s, limits",
             sandbox->whole           ? "whole"
             : has_paths || has_calls ? "partly"
                                      : "limits alone",
             paths, calls);
}
