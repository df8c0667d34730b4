/* An OpenCL layer (cl_layer.h, loaded by the ICD loader through OPENCL_LAYERS) that records a
 * process's OpenCL calls, for tests that must not rely on what the program reports about itself. It
 * appends a line for each to SLUICE_CL_TRACE=FILE:
 *
 *     context PID
 *     build PID
 *     kernel NAME GLOBAL_X GLOBAL_Y
 *     copy FUNCTION SIZE          a read, write or copy of a buffer, and its bytes
 *     map read|write SIZE         a buffer's memory handed to the host
 *     buffer SIZE                 memory taken from the device
 *     flush                       what is in a queue is sent off
 *     wait                        the host waits for an event
 *
 * so that tests need not believe what the program says of itself. */
#include "../fault/layer.h"

#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static int file = -1;

/* One write a line: several processes append. */
__attribute__((format(printf, 1, 2))) static void say(const char *format, ...)
{
    char line[512];
    va_list arguments;
    va_start(arguments, format);
    int length = vsnprintf(line, sizeof line, format, arguments);
    va_end(arguments);
    if (write(file, line, (size_t)length) != length)
        abort();
}

static cl_context CL_API_CALL create_context(
    const cl_context_properties *p, cl_uint n, const cl_device_id *d,
    void(CL_CALLBACK *f)(const char *, const void *, size_t, void *), void *u, cl_int *error)
{
    say("context %d\n", (int)getpid());
    return target->clCreateContext(p, n, d, f, u, error);
}

/* Of a program from source; one from a binary is only linked. */
static cl_program CL_API_CALL create_program(cl_context c, cl_uint n, const char **s,
                                             const size_t *l, cl_int *error)
{
    say("build %d\n", (int)getpid());
    return target->clCreateProgramWithSource(c, n, s, l, error);
}

static cl_int CL_API_CALL enqueue_kernel(cl_command_queue q, cl_kernel k, cl_uint d,
                                         const size_t *o, const size_t *g, const size_t *l,
                                         cl_uint n, const cl_event *w, cl_event *e)
{
    char name[256] = "?";
    target->clGetKernelInfo(k, CL_KERNEL_FUNCTION_NAME, sizeof name, name, NULL);
    say("kernel %s %zu %zu\n", name, g[0], d > 1 ? g[1] : 1);
    return target->clEnqueueNDRangeKernel(q, k, d, o, g, l, n, w, e);
}

static cl_int CL_API_CALL enqueue_read(cl_command_queue q, cl_mem m, cl_bool b, size_t o, size_t s,
                                       void *p, cl_uint n, const cl_event *w, cl_event *e)
{
    say("copy clEnqueueReadBuffer %zu\n", s);
    return target->clEnqueueReadBuffer(q, m, b, o, s, p, n, w, e);
}

static cl_int CL_API_CALL enqueue_write(cl_command_queue q, cl_mem m, cl_bool b, size_t o, size_t s,
                                        const void *p, cl_uint n, const cl_event *w, cl_event *e)
{
    say("copy clEnqueueWriteBuffer %zu\n", s);
    return target->clEnqueueWriteBuffer(q, m, b, o, s, p, n, w, e);
}

static cl_int CL_API_CALL enqueue_copy(cl_command_queue q, cl_mem a, cl_mem b, size_t oa, size_t ob,
                                       size_t s, cl_uint n, const cl_event *w, cl_event *e)
{
    say("copy clEnqueueCopyBuffer %zu\n", s);
    return target->clEnqueueCopyBuffer(q, a, b, oa, ob, s, n, w, e);
}

static void *CL_API_CALL enqueue_map(cl_command_queue q, cl_mem m, cl_bool b, cl_map_flags f,
                                     size_t o, size_t s, cl_uint n, const cl_event *w, cl_event *e,
                                     cl_int *error)
{
    say("map %s %zu\n", f & CL_MAP_READ ? "read" : "write", s);
    return target->clEnqueueMapBuffer(q, m, b, f, o, s, n, w, e, error);
}

static cl_mem CL_API_CALL create_buffer(cl_context c, cl_mem_flags f, size_t s, void *p,
                                        cl_int *error)
{
    say("buffer %zu\n", s);
    return target->clCreateBuffer(c, f, s, p, error);
}

static cl_int CL_API_CALL flush(cl_command_queue q)
{
    say("flush\n");
    return target->clFlush(q);
}

static cl_int CL_API_CALL wait_for(cl_uint n, const cl_event *e)
{
    say("wait\n");
    return target->clWaitForEvents(n, e);
}

static void install(void)
{
    const char *path = getenv("SLUICE_CL_TRACE");
    file = path ? open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0666) : -1;
    if (file < 0) {
        fprintf(stderr, "SLUICE_CL_TRACE names no file that can be written\n");
        abort();
    }
    layer.clCreateContext = create_context;
    layer.clCreateProgramWithSource = create_program;
    layer.clEnqueueNDRangeKernel = enqueue_kernel;
    layer.clEnqueueReadBuffer = enqueue_read;
    layer.clEnqueueWriteBuffer = enqueue_write;
    layer.clEnqueueCopyBuffer = enqueue_copy;
    layer.clEnqueueMapBuffer = enqueue_map;
    layer.clCreateBuffer = create_buffer;
    layer.clFlush = flush;
    layer.clWaitForEvents = wait_for;
}
LAYER("sluice trace layer")
