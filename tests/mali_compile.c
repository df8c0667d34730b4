/* Builds a file of OpenCL kernels on the first device, which prints what it makes of them: for tests/mali_compile.sh. */
#define CL_TARGET_OPENCL_VERSION 120
#include <CL/cl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#define SOURCE_MAX (1 << 22)
#define LOG_MAX    (1 << 16)

int main(int argc, char **argv)
{
    char *source = calloc(1, SOURCE_MAX), *log = calloc(1, LOG_MAX);
    const char *text = source;
    FILE *file = argc == 2 ? fopen(argv[1], "r") : NULL;
    cl_platform_id platform;
    cl_device_id device;
    cl_kernel kernels[256];
    cl_int error;
    if (!source || !log || !file || fread(source, 1, SOURCE_MAX - 1, file) == 0)
        return 64;
    if (clGetPlatformIDs(1, &platform, NULL) != CL_SUCCESS ||
        clGetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, 1, &device, NULL) != CL_SUCCESS) {
        puts("no device");
        return 69;
    }
    cl_context context = clCreateContext(NULL, 1, &device, NULL, NULL, &error);
    cl_program program = clCreateProgramWithSource(context, 1, &text, NULL, &error);
    if (clBuildProgram(program, 1, &device, "", NULL, NULL) != CL_SUCCESS) {
        clGetProgramBuildInfo(program, device, CL_PROGRAM_BUILD_LOG, LOG_MAX, log, NULL);
        puts(log);
        return 65;
    }
    clCreateKernelsInProgram(program, 256, kernels, NULL);
    fflush(stdout);
    _exit(0); /* some drivers' own ends crash under an emulator */
}
