#include "cli/paths.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/file.h"

/* "out.png" and plane "dx": "out.dx.png". */
char *paths_plane(const char *path, const char *plane)
{
    char *result = NULL;
    const char *name = path_name(path);
    int stem = (int)(name - path) + (int)path_stem_length(name);
    if (!plane[0])
        return strdup(path);
    if (asprintf(&result, "%.*s.%s%s", stem, path, plane, path + stem) < 0)
        return NULL;
    return result;
}

bool paths_is_directory(const char *path)
{
    struct stat status;
    size_t length = strlen(path);
    return (length > 0 && path[length - 1] == '/') ||
           (stat(path, &status) == 0 && S_ISDIR(status.st_mode));
}

/* Where an input's result goes: OUT itself, or in the directory OUT under the input's name. */
char *paths_output(const char *out, const char *input, const char *extension)
{
    char *path = NULL;
    if (strcmp(out, "-") == 0 || !paths_is_directory(out))
        return strdup(out);
    const char *name = strcmp(input, "-") == 0 ? "stdin" : path_name(input);
    const char *slash = out[strlen(out) - 1] == '/' ? "" : "/";
    if (asprintf(&path, "%s%s%.*s.%s", out, slash, (int)path_stem_length(name), name, extension) <
        0)
        return NULL;
    return path;
}

bool paths_same_file(const char *a, const char *b)
{
    struct stat sa, sb;
    return stat(a, &sa) == 0 && stat(b, &sb) == 0 && sa.st_dev == sb.st_dev &&
           sa.st_ino == sb.st_ino;
}
