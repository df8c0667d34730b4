/* OpenCL programs: a device has a list of them by their keys (cache.c), so that equal texts are
 * compiled once. A program comes from the file of --load-binary, from the binary cache, or from the
 * compiler. */
#include "device/opencl/opencl.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"
#include "base/log.h"
#include "base/number.h"
#include "base/text.h"
#include "version.h"

#define BUILD_LOG_MAX     (16u << 20) /* a longer one is left out */
#define IDLE_PROGRAMS_MAX 64          /* programs without users that are kept (PROGRAM_ANY) */

struct opencl_program {
    struct device_program base;
    cl_program handle; /* set when the program is made; then it never changes */
    struct text key;
    /* Protected by the device's program_lock. */
    bool making; /* the thread that asked first compiles it; others wait for program_made */
    bool kept;   /* kept until the device is closed */
    unsigned users;
    struct opencl_program *next; /* in the device's list; the one used last is first */
    /* Protected by `lock`, which is held while a driver creates a kernel or gives the binary. */
    pthread_mutex_t lock;
    bool stored;                   /* it is in the cache, or is not to go there */
    bool dumped;                   /* --dump-binary was done */
    struct opencl_kernel *kernels; /* those created so far */
};

/* A fault with the compiler's log, shortened to its first lines and put on one line. */
static int build_fault(struct device *device, cl_program handle, cl_int error, struct fault *fault)
{
    char name[CL_ERROR_NAME_MAX];
    size_t size = 0;
    cl.clGetProgramBuildInfo(handle, opencl_of(device)->id, CL_PROGRAM_BUILD_LOG, 0, NULL, &size);
    char *log = size < BUILD_LOG_MAX ? calloc(1, size + 1) : NULL;
    if (log)
        cl.clGetProgramBuildInfo(handle, opencl_of(device)->id, CL_PROGRAM_BUILD_LOG, size, log,
                                 NULL);
    if (log && log[0])
        log_info("build log of %s:\n%s", device->info->name, log);
    for (char *at = log; at && *at; at++)
        if (*at == '\n' || *at == '\t')
            *at = ' ';
    int result = fault_set(fault, FAULT_DEVICE, "clBuildProgram: %s: %.300s",
                           cl_error_name(error, name), log && log[0] ? log : "no build log");
    free(log);
    return result;
}

/* Builds the program. PoCL's LLVM installs signal handlers at the first build (for SIGABRT, too, so
 * that a watchdog's signal would be lost); they are reset after each build. Handlers are the whole
 * process's, so builds run one at a time. */
static cl_int build(struct device *device, cl_program handle, const char *flags)
{
    static pthread_mutex_t one_at_a_time = PTHREAD_MUTEX_INITIALIZER;
    static const int signals[] = {SIGABRT, SIGTERM, SIGINT, SIGHUP, SIGQUIT, SIGUSR1, SIGUSR2,
                                  SIGSEGV, SIGBUS,  SIGFPE, SIGILL, SIGTRAP, SIGPIPE, SIGSYS};
    struct sigaction before[sizeof signals / sizeof *signals];
    pthread_mutex_lock(&one_at_a_time);
    for (size_t i = 0; i < sizeof signals / sizeof *signals; i++)
        sigaction(signals[i], NULL, &before[i]);
    cl_int error = cl.clBuildProgram(handle, 1, &opencl_of(device)->id, flags, NULL, NULL);
    for (size_t i = 0; i < sizeof signals / sizeof *signals; i++)
        sigaction(signals[i], &before[i], NULL);
    pthread_mutex_unlock(&one_at_a_time);
    return error;
}

/* The program, built; NULL with the program released if that fails. */
static cl_program built(struct device *device, cl_program handle, const char *flags,
                        struct fault *fault)
{
    cl_int error = build(device, handle, flags);
    if (error == CL_SUCCESS)
        return handle;
    build_fault(device, handle, error, fault);
    cl.clReleaseProgram(handle);
    return NULL;
}

static cl_program from_source(struct device *device, const char *source, const char *flags,
                              struct fault *fault)
{
    cl_int error;
    cl_program handle =
        cl.clCreateProgramWithSource(opencl_of(device)->context, 1, &source, NULL, &error);
    if (!handle) {
        cl_fault(fault, "clCreateProgramWithSource", error, device->info->name);
        return NULL;
    }
    handle = built(device, handle, flags, fault);
    if (handle)
        atomic_fetch_add(&device->counters.builds, 1);
    return handle;
}

static cl_program from_binary(struct device *device, const struct bytes *binary, const char *flags,
                              struct fault *fault)
{
    cl_int status, error;
    const unsigned char *data = binary->data;
    cl_program handle =
        cl.clCreateProgramWithBinary(opencl_of(device)->context, 1, &opencl_of(device)->id,
                                     &binary->size, &data, &status, &error);
    if (!handle) {
        cl_fault(fault, "clCreateProgramWithBinary", error, device->info->name);
        return NULL;
    }
    return built(device, handle, flags, fault);
}

/* The key as --dump-binary writes it in front of the binary, below the version of sluice. */
static void dump_key(const struct text *key, struct text *dumped)
{
    text_append(dumped, SLUICE_VERSION "\n");
    text_append_bytes(dumped, key->data, key->length);
    dumped->failed |= key->failed;
}

/* Removes the next line from a key and returns it; with `last` all that is left. */
static struct bytes take_part(struct bytes *key, bool last)
{
    const uint8_t *end = last ? NULL : memchr(key->data, '\n', key->size);
    size_t size = end ? (size_t)(end - key->data) : key->size, used = end ? size + 1 : size;
    struct bytes part = {key->data, size};
    *key = (struct bytes){key->data + used, key->size - used};
    return part;
}

/* Appends in which parts the keys of a dumped program and of the requested one differ. Returns
 * false when they are equal. */
static bool say_differences(struct bytes there, const struct text *key, struct text *says)
{
    static const char *const parts[] = {"version of sluice", "platform", "device",
                                        "version of OpenCL", "driver",   "compiler options",
                                        "size of pointers",  NULL};
    struct text version = {0};
    struct bytes here = {(uint8_t *)key->data, key->length};
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) {
        struct bytes a = take_part(&there, !parts[i]), b = take_part(&here, !parts[i]);
        if (a.size == b.size && memcmp(a.data, b.data, a.size) == 0)
            continue;
        if (!parts[i])
            text_printf(says, "%sfor another chain or another kind of picture%s",
                        says->length ? ", " : "", text_string(&version));
        else
            text_printf(i == 0 ? &version : says, "%sfor %s '%.*s' (here '%.*s')",
                        i == 0         ? ", or "
                        : says->length ? ", "
                                       : "",
                        parts[i], (int)a.size, (const char *)a.data, (int)b.size,
                        (const char *)b.data);
    }
    text_finish(&version);
    return says->length > 0;
}

/* The binary from a file of --dump-binary if it is for this program. Another file is taken as a
 * bare binary, which the driver checks. */
static cl_program from_dump(struct device *device, const struct bytes *file, const struct text *key,
                            const char *flags, struct fault *fault)
{
    struct bytes there, binary;
    struct text here = {0}, says = {0};
    struct fault why = FAULT_INIT;
    cl_program handle = NULL;
    dump_key(key, &here);
    enum entry_state state = device_entry_read(file, &there, &binary);
    if (state == ENTRY_DAMAGED)
        fault_set(fault, FAULT_DEVICE, "the file is damaged");
    else if (state == ENTRY_WHOLE && say_differences(there, &here, &says))
        fault_set(fault, FAULT_DEVICE, "the program was made %s", text_string(&says));
    else if (!(handle = from_binary(device, state == ENTRY_WHOLE ? &binary : file, flags, &why)))
        fault_set(fault, why.code, "%s%.300s",
                  state == ENTRY_WHOLE
                      ? ""
                      : "not written by --dump-binary, nor a binary of this device: ",
                  why.text);
    text_finish(&here);
    text_finish(&says);
    return handle;
}

static cl_program from_file(struct device *device, const char *path, const struct text *key,
                            const char *flags, struct fault *fault)
{
    struct bytes file;
    struct fault why = FAULT_INIT;
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0) {
        fault_set(fault, FAULT_NO_INPUT, "--load-binary %s: %s", path, strerror(errno));
        return NULL;
    }
    cl_program handle = NULL;
    if (file_read(fd, UINT64_C(256) << 20, &file, &why) == 0) {
        handle = from_dump(device, &file, key, flags, &why);
        bytes_finish(&file);
    }
    close(fd);
    if (!handle)
        fault_set(fault, why.code, "--load-binary %s: %.400s", path, why.text);
    return handle;
}

static cl_program from_cache(struct device *device, const struct text *key, const char *flags)
{
    struct bytes binary;
    struct fault fault = FAULT_INIT;
    if (!device_cache_load(key, &binary))
        return NULL;
    cl_program handle = from_binary(device, &binary, flags, &fault);
    bytes_finish(&binary);
    if (handle)
        atomic_fetch_add(&device->counters.cache_hits, 1);
    else
        log_info("cached program refused by the driver, compiling anew: %s", fault.text);
    return handle;
}

static void destroy(struct opencl_program *program)
{
    while (program->kernels) {
        struct opencl_kernel *kernel = program->kernels;
        program->kernels = kernel->next;
        cl.clReleaseKernel(kernel->handle);
        free(kernel);
    }
    if (program->handle)
        cl.clReleaseProgram(program->handle);
    pthread_mutex_destroy(&program->lock);
    text_finish(&program->key);
    free(program);
}

void opencl_programs_destroy(struct device *device)
{
    while (opencl_of(device)->programs) {
        struct opencl_program *program = opencl_of(device)->programs;
        opencl_of(device)->programs = program->next;
        destroy(program);
    }
}

static int create(struct device *device, const char *source, const char *flags,
                  struct opencl_program *made, struct fault *fault)
{
    const struct device_options *options = &device->options;
    made->stored = options->no_cache || options->load_binary;
    if (options->load_binary) {
        made->handle = from_file(device, options->load_binary, &made->key, flags, fault);
    } else {
        if (!options->no_cache)
            made->handle = from_cache(device, &made->key, flags);
        if (made->handle)
            made->stored = true;
        else
            made->handle = from_source(device, source, flags, fault);
    }
    if (made->handle)
        return 0;
    return fault && fault->code ? (int)fault->code : FAULT_DEVICE;
}

/* Takes the program with that key out of the list. */
static struct opencl_program *take(struct device *device, const struct text *key)
{
    for (struct opencl_program **link = &opencl_of(device)->programs; *link;
         link = &(*link)->next) {
        struct opencl_program *program = *link;
        if (program->key.length == key->length &&
            memcmp(program->key.data, key->data, key->length) == 0) {
            *link = program->next;
            return program;
        }
    }
    return NULL;
}

static void drop_oldest(struct device *device)
{
    unsigned idle = 0;
    for (struct opencl_program **link = &opencl_of(device)->programs; *link;) {
        struct opencl_program *program = *link;
        if (program->users == 0 && !program->kept && ++idle > IDLE_PROGRAMS_MAX) {
            *link = program->next;
            destroy(program);
        } else {
            link = &program->next;
        }
    }
}

/* Adds an entry for a program that is about to be made. Moves the key into it. */
static int begin(struct device *device, struct text *key, struct opencl_program **begun,
                 struct fault *fault)
{
    struct opencl_program *made = calloc(1, sizeof *made);
    if (!made)
        return fault_set(fault, FAULT_MEMORY, "no memory for a program");
    *made = (struct opencl_program){.base = {device},
                                    .key = *key,
                                    .making = true,
                                    .users = 1,
                                    .next = opencl_of(device)->programs};
    *key = (struct text){0};
    pthread_mutex_init(&made->lock, NULL);
    opencl_of(device)->programs = made;
    *begun = made;
    return 0;
}

/* Finds the program with that key and moves it to the front of the list. NULL if there is none, or
 * with PROGRAM_FOUND none that is kept. Otherwise waits while another thread makes it. Called with
 * program_lock held. */
static struct opencl_program *find(struct device *device, const struct text *key,
                                   enum program_use use)
{
    struct opencl_program *found;
    while ((found = take(device, key)) != NULL) {
        found->next = opencl_of(device)->programs;
        opencl_of(device)->programs = found;
        if (use == PROGRAM_FOUND)
            return found->kept ? found : NULL;
        if (!found->making)
            break;
        pthread_cond_wait(&opencl_of(device)->program_made, &opencl_of(device)->program_lock);
    }
    return found;
}

/* Finds or makes the program. Called with program_lock held, which is released while it compiles.
 * *program stays NULL where PROGRAM_FOUND finds none. */
static int get(struct device *device, const char *source, const char *flags, struct text *key,
               enum program_use use, struct opencl_program **program, struct fault *fault)
{
    struct opencl_program *found = find(device, key, use);
    int result = 0;
    /* One that then fails to compile stays counted, because it may be requested again and again. */
    if (use == PROGRAM_COUNTED && !(found && found->kept)) {
        if (atomic_load(&device->counters.counted) >= PROGRAM_COUNTED_MAX)
            return fault_set(fault, FAULT_KERNELS,
                             "it needs a kernel that is not compiled yet, and chains that are not "
                             "configured have had %d compiled, which is the limit",
                             PROGRAM_COUNTED_MAX);
        atomic_fetch_add(&device->counters.counted, 1);
    }
    if (found) {
        found->users++;
    } else if (use != PROGRAM_FOUND) {
        result = begin(device, key, &found, fault);
        if (result != 0)
            return result;
        pthread_mutex_unlock(&opencl_of(device)->program_lock);
        result = create(device, source, flags, found, fault);
        pthread_mutex_lock(&opencl_of(device)->program_lock);
        found->making = false;
        pthread_cond_broadcast(&opencl_of(device)->program_made);
    }
    if (result != 0) {
        take(device, &found->key);
        destroy(found);
        return result;
    }
    if (found)
        found->kept |= use == PROGRAM_KEPT || use == PROGRAM_COUNTED;
    *program = found;
    return 0;
}

int opencl_program_get_as(struct device *device, const char *source, enum program_use use,
                          struct device_program **program, struct fault *fault)
{
    struct text flags = {0}, key = {0};
    struct opencl_program *found = NULL;
    int result = 0;
    /* f32 arithmetic as written: no contraction, and correctly rounded division where the device
     * has it. */
    text_append(&flags, "-cl-std=CL1.2");
    if (device->profile.exact_divide)
        text_append(&flags, " -cl-fp32-correctly-rounded-divide-sqrt");
    if (device->options.flags)
        text_printf(&flags, " %s", device->options.flags);
    device_cache_key(device->info, source, text_string(&flags), &key);
    pthread_mutex_lock(&opencl_of(device)->program_lock);
    if (key.failed || flags.failed)
        result = fault_set(fault, FAULT_MEMORY, "no memory for a program");
    else
        result = get(device, source, text_string(&flags), &key, use, &found, fault);
    pthread_mutex_unlock(&opencl_of(device)->program_lock);
    *program = found ? &found->base : NULL;
    text_finish(&key);
    text_finish(&flags);
    return result;
}

void opencl_program_put(struct device_program *program)
{
    struct opencl *own = program->device->own;
    pthread_mutex_lock(&own->program_lock);
    ((struct opencl_program *)program)->users--;
    drop_oldest(program->device);
    pthread_mutex_unlock(&own->program_lock);
}

static int read_binary(struct device *device, struct opencl_program *program, struct bytes *binary,
                       struct fault *fault)
{
    size_t size = 0;
    cl_int error =
        cl.clGetProgramInfo(program->handle, CL_PROGRAM_BINARY_SIZES, sizeof size, &size, NULL);
    if (error != CL_SUCCESS || size == 0)
        return cl_fault(fault, "clGetProgramInfo(CL_PROGRAM_BINARY_SIZES)", error,
                        device->info->name);
    uint8_t *data = malloc(size);
    if (!data)
        return fault_set(fault, FAULT_MEMORY, "no memory for a program of %s", number_size(size));
    error = cl.clGetProgramInfo(program->handle, CL_PROGRAM_BINARIES, sizeof data, &data, NULL);
    if (error != CL_SUCCESS) {
        free(data);
        return cl_fault(fault, "clGetProgramInfo(CL_PROGRAM_BINARIES)", error, device->info->name);
    }
    *binary = (struct bytes){data, size};
    return 0;
}

int opencl_program_store(struct device_program *base, struct fault *fault)
{
    struct opencl_program *program = (struct opencl_program *)base;
    struct device *device = base->device;
    const char *dump_to = device->options.dump_binary;
    struct bytes binary = {0};
    int result = 0;
    pthread_mutex_lock(&program->lock);
    bool store = !program->stored, dump_it = dump_to && !program->dumped;
    if (store || dump_it)
        result = read_binary(device, program, &binary, fault);
    if (result == 0 && store)
        device_cache_store(&program->key, &binary);
    if (result == 0 && dump_it) {
        struct text key = {0};
        dump_key(&program->key, &key);
        result = device_entry_write(dump_to, &key, &binary, false, fault);
        text_finish(&key);
    }
    /* set even after a fault, so that not every job tries again */
    program->stored = program->dumped = true;
    pthread_mutex_unlock(&program->lock);
    bytes_finish(&binary);
    return result;
}

/* Sets the limit of the kernel's work-groups, which is below the device's if it needs many
 * registers. */
static void ask_group_max(const struct device *device, struct opencl_kernel *kernel)
{
    cl_device_id id = opencl_of(device)->id;
    cl_ulong local_memory = 0;
    kernel->group_max = 0;
    cl.clGetKernelWorkGroupInfo(kernel->handle, id, CL_KERNEL_WORK_GROUP_SIZE,
                                sizeof kernel->group_max, &kernel->group_max, NULL);
    cl.clGetKernelWorkGroupInfo(kernel->handle, id, CL_KERNEL_LOCAL_MEM_SIZE, sizeof local_memory,
                                &local_memory, NULL);
    if (local_memory > 0)
        kernel->group_max = SIZE_MAX;
    else if (kernel->group_max == 0)
        kernel->group_max = device->info->work_group_size;
}

int opencl_program_kernel(struct device_program *base, const char *name,
                          const struct device_kernel **kernel, struct fault *fault)
{
    struct opencl_program *program = (struct opencl_program *)base;
    cl_int error = CL_SUCCESS;
    bool no_memory = false;
    pthread_mutex_lock(&program->lock);
    struct opencl_kernel *found = program->kernels;
    while (found && strcmp(found->name, name) != 0)
        found = found->next;
    if (!found) {
        found = calloc(1, sizeof *found);
        no_memory = !found;
        if (found)
            found->handle = cl.clCreateKernel(program->handle, name, &error);
        if (found && found->handle) {
            strncpy(found->name, name, sizeof found->name - 1);
            found->base.name = found->name;
            ask_group_max(base->device, found);
            found->next = program->kernels;
            program->kernels = found;
        } else {
            free(found);
            found = NULL;
        }
    }
    pthread_mutex_unlock(&program->lock);
    *kernel = found ? &found->base : NULL;
    if (found)
        return 0;
    const char *loaded = program->base.device->options.load_binary;
    if (loaded && error == CL_INVALID_KERNEL_NAME)
        return fault_set(fault, FAULT_DEVICE,
                         "--load-binary %s: kernel %s is not in it: it was made for another chain "
                         "or another kind of picture",
                         loaded, name);
    return no_memory ? fault_set(fault, FAULT_MEMORY, "no memory for a kernel")
                     : cl_fault(fault, "clCreateKernel", error, name);
}
