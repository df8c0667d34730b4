#include "worker/find.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "version.h"

int find_program(const char *name, const char *variable, char *path, size_t size,
                 struct fault *fault)
{
    const char *told = getenv(variable);
    if (told && told[0]) {
        snprintf(path, size, "%s", told);
    } else {
        ssize_t length = readlink("/proc/self/exe", path, size - 1);
        path[length > 0 ? length : 0] = '\0';
        char *slash = strrchr(path, '/');
        if (slash)
            snprintf(slash + 1, size - (size_t)(slash + 1 - path), "sluice-%s", name);
        if (!slash || access(path, X_OK) != 0)
            snprintf(path, size, "%s/sluice-%s", SLUICE_LIBEXECDIR, name);
    }
    if (access(path, X_OK) == 0)
        return 0;
    return fault_set(fault, FAULT_NO_DEVICE, "there is no %s program %s: %s", name, path,
                     strerror(errno));
}
