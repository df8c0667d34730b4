#include "daemon/spool/spot.h"

#include <stdio.h>
#include <string.h>

#include "base/name.h"
#include "daemon/spool/spool.h"

bool spot_normalise(const char *path, char normal[PATH_MAX])
{
    size_t length = 0;
    if (path[0] != '/')
        return false;
    while (*(path += strspn(path, "/"))) {
        size_t part = strcspn(path, "/");
        if (part == 2 && memcmp(path, "..", 2) == 0) {
            while (length > 0 && normal[--length] != '/')
                ;
        } else if (part != 1 || path[0] != '.') {
            if (length + part + 2 > PATH_MAX)
                return false;
            normal[length++] = '/';
            memcpy(normal + length, path, part);
            length += part;
        }
        path += part;
    }
    if (length == 0)
        normal[length++] = '/';
    normal[length] = '\0';
    return true;
}

/* The part of `path` below `folder`, both normalised; NULL: it is elsewhere. */
static const char *path_below(const char *path, const char *folder)
{
    size_t length = strcmp(folder, "/") == 0 ? 0 : strlen(folder);
    if (strncmp(path, folder, length) != 0 || path[length] != '/' || path[length + 1] == '\0')
        return NULL;
    return path + length + 1;
}

static void set(struct spot *place, enum spot_kind kind, const char *name)
{
    place->kind = kind;
    snprintf(place->name, sizeof place->name, "%s", name);
}

void spot_in(struct spot *place, const char *path, const char *in)
{
    const char *name = path_below(path, in), *at;
    place->kind = SPOT_NONE;
    if (!name)
        return;
    if ((at = path_below(name - 1, "/" SPOOL_HIDDEN "/done")) != NULL) {
        set(place, SPOT_DONE, at);
    } else if ((at = path_below(name - 1, "/" SPOOL_HIDDEN "/failed")) != NULL) {
        set(place, SPOT_FAILED, at);
        if (name_is_reason(place->name))
            *strrchr(place->name, '.') = '\0', *strrchr(place->name, '.') = '\0';
    } else if (path_below(name - 1, "/" SPOOL_HIDDEN "/work") != NULL) {
        set(place, SPOT_WORK, path_name(name));
    } else {
        set(place, SPOT_INPUT, name);
    }
}

void spot_out(struct spot *place, const char *path, const char *out)
{
    const char *name = path_below(path, out);
    place->kind = SPOT_NONE;
    if (name)
        set(place, SPOT_RESULT, name);
}
