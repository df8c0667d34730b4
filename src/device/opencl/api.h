/* The functions of OpenCL 1.2 that sluice uses, loaded from libOpenCL.so.1 at run time. A program
 * that does not use OpenCL (native, the references) so loads neither it nor its drivers. */
#ifndef SLUICE_DEVICE_API_H
#define SLUICE_DEVICE_API_H

#define CL_TARGET_OPENCL_VERSION 120
#include <CL/cl.h>
#include <CL/cl_ext.h>

#include "base/fault.h"

#define CL_FUNCTIONS(X)                                                                            \
    X(clGetPlatformIDs)                                                                            \
    X(clGetPlatformInfo)                                                                           \
    X(clGetDeviceIDs)                                                                              \
    X(clGetDeviceInfo)                                                                             \
    X(clCreateContext)                                                                             \
    X(clReleaseContext)                                                                            \
    X(clCreateCommandQueue)                                                                        \
    X(clReleaseCommandQueue)                                                                       \
    X(clCreateBuffer)                                                                              \
    X(clReleaseMemObject)                                                                          \
    X(clCreateProgramWithSource)                                                                   \
    X(clCreateProgramWithBinary)                                                                   \
    X(clBuildProgram)                                                                              \
    X(clGetProgramBuildInfo)                                                                       \
    X(clGetProgramInfo)                                                                            \
    X(clReleaseProgram)                                                                            \
    X(clCreateKernel)                                                                              \
    X(clReleaseKernel)                                                                             \
    X(clSetKernelArg)                                                                              \
    X(clGetKernelWorkGroupInfo)                                                                    \
    X(clEnqueueNDRangeKernel)                                                                      \
    X(clEnqueueMapBuffer)                                                                          \
    X(clEnqueueUnmapMemObject)                                                                     \
    X(clEnqueueCopyBuffer)                                                                         \
    X(clEnqueueReadBuffer)                                                                         \
    X(clEnqueueWriteBuffer)                                                                        \
    X(clFlush)                                                                                     \
    X(clFinish)                                                                                    \
    X(clWaitForEvents)                                                                             \
    X(clGetEventInfo)                                                                              \
    X(clGetEventProfilingInfo)                                                                     \
    X(clReleaseEvent)                                                                              \
    X(clGetExtensionFunctionAddressForPlatform)

struct cl_api {
#define X(name) __typeof__(&name) name;
    CL_FUNCTIONS(X)
#undef X
};

/* Valid once cl_load has succeeded. */
extern struct cl_api cl;

/* Loads OpenCL once. FAULT_NO_DEVICE says what is missing. */
int cl_load(struct fault *fault);

/* The name of an error code; "CL error -9999" for a code without a name. The buffer of
 * CL_ERROR_NAME_MAX bytes is for the latter. */
#define CL_ERROR_NAME_MAX 24
const char *cl_error_name(cl_int error, char *buffer);

/* FAULT_DEVICE: "CALL: CL_NAME (where)"; `where` may be NULL. */
int cl_fault(struct fault *fault, const char *call, cl_int error, const char *where);

#endif
