#include "daemon/spool/state.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"

/* False when `base` is no absolute path, or too long. */
static bool put_path(char path[PATH_MAX], const char *base, size_t length, const char *below)
{
    if (!base || base[0] != '/')
        return false;
    int printed = snprintf(path, PATH_MAX, "%.*s%s", (int)length, base, below);
    return printed > 0 && printed < PATH_MAX;
}

static bool find(const char *told, char path[PATH_MAX])
{
    const char *systemd = getenv("STATE_DIRECTORY"); /* several are separated by colons */
    const char *xdg = getenv("XDG_STATE_HOME"), *home = getenv("HOME");
    if (told)
        return snprintf(path, PATH_MAX, "%s", told) < PATH_MAX;
    return (systemd && put_path(path, systemd, strcspn(systemd, ":"), "")) ||
           (xdg && put_path(path, xdg, strlen(xdg), "/sluice")) ||
           (home && put_path(path, home, strlen(home), "/.local/state/sluice"));
}

int state_find(const char *told, char **found, struct fault *fault)
{
    char path[PATH_MAX];
    *found = NULL;
    if (!find(told, path))
        return fault_set(fault, FAULT_CREATE,
                         "no state directory: say --state DIR (or set XDG_STATE_HOME or HOME)");
    *found = path_absolute(path);
    return *found ? 0 : fault_set_errno(fault, FAULT_CREATE, path);
}
