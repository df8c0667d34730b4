/* An OpenCL layer (CL/cl_layer.h; loaded by the ICD loader through OPENCL_LAYERS) that acts like a
 * driver with a broken compiler: with SLUICE_WRONG=FROM=TO it replaces FROM by TO in the source of
 * each program. */
#include "layer.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static char from[200], to[200];

/* All places of one text. */
static char *replace(const char *source)
{
    size_t room = strlen(source) * (1 + strlen(to)) + 1;
    char *made = malloc(room), *end = made;
    if (!made)
        abort();
    for (const char *at = source; *at;) {
        if (strncmp(at, from, strlen(from)) == 0) {
            end = stpcpy(end, to);
            at += strlen(from);
        } else {
            *end++ = *at++;
        }
    }
    *end = '\0';
    return made;
}

/* We hand over one NUL-terminated text, always. */
static cl_program CL_API_CALL create_program(cl_context c, cl_uint n, const char **s,
                                             const size_t *l, cl_int *error)
{
    char *changed = replace(s[0]);
    const char *texts[] = {changed};
    (void)l;
    cl_program program = target->clCreateProgramWithSource(c, n, texts, NULL, error);
    free(changed);
    return program;
}

static void install(void)
{
    const char *setting = getenv("SLUICE_WRONG");
    if (!setting || sscanf(setting, "%199[^=]=%199[^\n]", from, to) != 2)
        abort();
    layer.clCreateProgramWithSource = create_program;
}
LAYER("sluice layer of a wrong compiler")
