#include "cli/question.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"
#include "base/name.h"
#include "worker/client.h"

/* Makes a path absolute for the daemon, which has another working directory and knows its folders
 * by where they lead. Links on the way are followed; the last component is not, since the file may
 * be gone, or be a link that is asked about. */
static char *make_absolute(const char *path)
{
    char folder[PATH_MAX], cwd[PATH_MAX] = "";
    char *absolute = malloc(3 * PATH_MAX);
    size_t length = strlen(path);
    while (length > 1 && path[length - 1] == '/')
        length--;
    if (!absolute || length >= PATH_MAX) {
        free(absolute);
        return NULL;
    }
    snprintf(folder, sizeof folder, "%.*s", (int)length, path);
    const char *name = path_name(folder);
    size_t above = (size_t)(name - folder);
    char base[PATH_MAX];
    snprintf(base, sizeof base, "%s", name);
    folder[above] = '\0';
    char real[PATH_MAX];
    if (strcmp(base, "..") != 0 && strcmp(base, ".") != 0 && path_real(above ? folder : ".", real))
        snprintf(absolute, 3 * PATH_MAX, "%s/%s", strcmp(real, "/") == 0 ? "" : real, base);
    else if (path[0] == '/')
        snprintf(absolute, 3 * PATH_MAX, "%.*s", (int)length, path);
    else
        snprintf(absolute, 3 * PATH_MAX, "%s/%.*s", getcwd(cwd, sizeof cwd) ? cwd : "", (int)length,
                 path);
    return absolute;
}

static int make_request(const char *type, const char *file, json_t **request, struct fault *fault)
{
    char *path = file ? make_absolute(file) : NULL;
    *request = !file  ? json_pack("{s:s, s:i, s:b}", "type", type, "id", 1, "failed", 1)
               : path ? json_pack("{s:s, s:i, s:s}", "type", type, "id", 1, "file", path)
                      : NULL;
    free(path);
    if (*request)
        return 0;
    return fault_set(fault, FAULT_USAGE, "the path is too long, or no UTF-8");
}

int question_ask(int socket, const char *type, const char *file, json_t **answer,
                 struct fault *fault)
{
    json_t *request, *message = NULL;
    *answer = NULL;
    int result = make_request(type, file, &request, fault);
    if (result == 0)
        result = daemon_ask(socket, request, &message, fault);
    if (result == 0)
        *answer = json_incref(json_object_get(message, type));
    if (result == 0 && !*answer)
        result = fault_set(fault, FAULT_INTERNAL, "the daemon's answer is empty");
    json_decref(message);
    return result;
}
