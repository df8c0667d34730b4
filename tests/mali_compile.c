/* Builds files of OpenCL kernels on the first device, which prints what it makes of them: for
 * tests/mali_compile.sh. Behind what it prints of a file stands a line with FILE and the file's
 * name. */
#define CL_TARGET_OPENCL_VERSION 120
#include <CL/cl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#define SOURCE_MAX (1 << 22)
#define LOG_MAX    (1 << 16)

static char source[SOURCE_MAX], log_text[LOG_MAX];

int main(int argc, char **argv)
{
    const char *text = source;
    cl_platform_id platform;
    cl_device_id device;
    cl_kernel kernels[256];
    cl_uint n_kernels = 0;
    cl_int error;
    setvbuf(stdout, NULL, _IOLBF, 0); /* some of it is printed to stderr, in between */
    if (clGetPlatformIDs(1, &platform, NULL) != CL_SUCCESS ||
        clGetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, 1, &device, NULL) != CL_SUCCESS) {
        puts("no device");
        _exit(69);
    }
    cl_context context = clCreateContext(NULL, 1, &device, NULL, NULL, &error);
    for (int i = 1; i < argc; i++) {
        FILE *file = fopen(argv[i], "r");
        size_t length = file ? fread(source, 1, SOURCE_MAX - 1, file) : 0;
        if (length == 0)
            _exit(64);
        source[length] = '\0';
        fclose(file);
        cl_program program = clCreateProgramWithSource(context, 1, &text, NULL, &error);
        if (clBuildProgram(program, 1, &device, "", NULL, NULL) != CL_SUCCESS) {
            clGetProgramBuildInfo(program, device, CL_PROGRAM_BUILD_LOG, LOG_MAX, log_text, NULL);
            puts(log_text);
            _exit(65);
        }
        clCreateKernelsInProgram(program, 256, kernels, &n_kernels);
        printf("FILE %s\n", argv[i]);
        for (cl_uint k = 0; k < n_kernels; k++)
            clReleaseKernel(kernels[k]);
        clReleaseProgram(program); /* the pretended device has little memory */
    }
    fflush(stdout);
    _exit(0); /* some drivers' own ends crash under an emulator */
}
