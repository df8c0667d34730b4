#include "cli/paths.h"

#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "base/name.h"

char *paths_result(const char *path, unsigned number, const char *plane)
{
    name_buffer name;
    char *result = NULL;
    const char *last = path_name(path);
    if (number == 0 && !plane[0])
        return strdup(path);
    name_of_plane(name, last, number, plane);
    return asprintf(&result, "%.*s%s", (int)(last - path), path, name) < 0 ? NULL : result;
}

bool paths_is_directory(const char *path)
{
    struct stat status;
    size_t length = strlen(path);
    return (length > 0 && path[length - 1] == '/') ||
           (stat(path, &status) == 0 && S_ISDIR(status.st_mode));
}

bool paths_same_file(const char *a, const char *b)
{
    struct stat sa, sb;
    return stat(a, &sa) == 0 && stat(b, &sb) == 0 && sa.st_dev == sb.st_dev &&
           sa.st_ino == sb.st_ino;
}
