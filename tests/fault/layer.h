/* What every OpenCL layer of the tests has: a layer stands between the program and the drivers when
 * the environment's OPENCL_LAYERS names its library. LAYER(TITLE) defines the two functions that
 * the ICD loader asks for, which call install() when `target` (what is called through) and `layer`
 * (what the program calls, as `target` at first) are there. */
#ifndef SLUICE_TESTS_FAULT_LAYER_H
#define SLUICE_TESTS_FAULT_LAYER_H

#define CL_TARGET_OPENCL_VERSION 120
#include <CL/cl_layer.h>
#include <string.h>

static const cl_icd_dispatch *target;
static cl_icd_dispatch layer;
static void install(void);

#define LAYER(title)                                                                               \
    CL_API_ENTRY cl_int CL_API_CALL clGetLayerInfo(cl_layer_info what, size_t size, void *value,   \
                                                   size_t *size_ret)                               \
    {                                                                                              \
        static const cl_layer_api_version version = CL_LAYER_API_VERSION_100;                      \
        static const char name[] = title;                                                          \
        const void *told = what == CL_LAYER_NAME ? (const void *)name : &version;                  \
        size_t length = what == CL_LAYER_NAME ? sizeof name : sizeof version;                      \
        if (value && size >= length)                                                               \
            memcpy(value, told, length);                                                           \
        if (size_ret)                                                                              \
            *size_ret = length;                                                                    \
        return CL_SUCCESS;                                                                         \
    }                                                                                              \
    CL_API_ENTRY cl_int CL_API_CALL clInitLayer(cl_uint n, const cl_icd_dispatch *dispatch,        \
                                                cl_uint *n_ret, const cl_icd_dispatch **layer_ret) \
    {                                                                                              \
        target = dispatch;                                                                         \
        if (n > sizeof layer / sizeof(void *))                                                     \
            n = sizeof layer / sizeof(void *);                                                     \
        memcpy(&layer, dispatch, n * sizeof(void *));                                              \
        install();                                                                                 \
        *layer_ret = &layer;                                                                       \
        *n_ret = n;                                                                                \
        return CL_SUCCESS;                                                                         \
    }

#endif
