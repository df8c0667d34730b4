/* An OpenCL layer (cl_layer.h, loaded by the ICD loader through OPENCL_LAYERS) that is a driver
 * with a broken compiler: in each program from source, SLUICE_WRONG=FROM=TO puts TO for FROM. */
#define CL_TARGET_OPENCL_VERSION 120
#include <CL/cl_layer.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const cl_icd_dispatch *target;
static cl_icd_dispatch layer;
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

CL_API_ENTRY cl_int CL_API_CALL clGetLayerInfo(cl_layer_info what, size_t size, void *value,
                                               size_t *size_ret)
{
    static const cl_layer_api_version version = CL_LAYER_API_VERSION_100;
    static const char name[] = "sluice layer of a wrong compiler";
    const void *source = what == CL_LAYER_NAME ? (const void *)name : &version;
    size_t length = what == CL_LAYER_NAME ? sizeof name : sizeof version;
    if (value && size >= length)
        memcpy(value, source, length);
    if (size_ret)
        *size_ret = length;
    return CL_SUCCESS;
}

CL_API_ENTRY cl_int CL_API_CALL clInitLayer(cl_uint n, const cl_icd_dispatch *dispatch,
                                            cl_uint *n_ret, const cl_icd_dispatch **layer_ret)
{
    const char *setting = getenv("SLUICE_WRONG");
    if (!setting || sscanf(setting, "%199[^=]=%199[^\n]", from, to) != 2)
        abort();
    target = dispatch;
    if (n > sizeof layer / sizeof(void *))
        n = sizeof layer / sizeof(void *);
    memcpy(&layer, dispatch, n * sizeof(void *));
    layer.clCreateProgramWithSource = create_program;
    *layer_ret = &layer;
    *n_ret = n;
    return CL_SUCCESS;
}
