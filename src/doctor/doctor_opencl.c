/* The OpenCL loader, the drivers that its files name, and the device: all that a driver's code
 * does, it does in a process of its own, which may die of it. */
#include "doctor/doctor.h"

#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/number.h"
#include "engine/engine.h"

#define VENDORS      "/etc/OpenCL/vendors"
#define LOADER       "libOpenCL.so.1"
#define DEVICE_LIMIT 300 /* seconds that a device may take to compile and check a chain */

static const char install[] =
    "apt-get install ocl-icd-libopencl1, and pocl-opencl-icd or the GPU's driver";

int doctor_apart(int (*work)(void *context, FILE *out), void *context, unsigned limit, char *said,
                 size_t size)
{
    int ends[2], status = 0;
    said[0] = '\0';
    if (pipe(ends) != 0)
        return 127;
    fflush(NULL);
    pid_t child = fork();
    if (child == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        close(ends[0]);
        FILE *out = fdopen(ends[1], "w");
        alarm(limit);
        int result = out ? work(context, out) : 127;
        if (out)
            fflush(out);
        _exit(result);
    }
    close(ends[1]);
    size_t used = 0;
    ssize_t got;
    while (child > 0 && used < size - 1 &&
           ((got = read(ends[0], said + used, size - 1 - used)) > 0 || (got < 0 && errno == EINTR)))
        used += got > 0 ? (size_t)got : 0;
    said[used] = '\0';
    close(ends[0]);
    if (child < 0)
        return 127;
    while (waitpid(child, &status, 0) < 0 && errno == EINTR)
        ;
    return WIFSIGNALED(status) ? -WTERMSIG(status) : WEXITSTATUS(status);
}

static int load(void *context, FILE *out)
{
    if (dlopen(context, RTLD_NOW | RTLD_LOCAL))
        return 0;
    fputs(dlerror(), out);
    return 1;
}

/* What a driver is that is not there or does not load. */
static enum doctor_level level_without(const struct doctor *doctor)
{
    const struct device_info *list[DEVICES_MAX];
    bool is_auto = strcmp(doctor->config.settings.device, "auto") == 0;
    return is_auto && device_list(list, false, NULL) > 0 ? DOCTOR_WARNING : DOCTOR_PROBLEM;
}

static void look_at_icd(struct doctor *doctor, const char *path)
{
    char library[500] = "", why[500];
    FILE *file = fopen(path, "re");
    if (!file) {
        doctor_find(doctor, level_without(doctor), "icd", doctor_text("chmod a+r %s", path),
                    "%s: %s", path, strerror(errno));
        return;
    }
    if (!fgets(library, sizeof library, file))
        library[0] = '\0';
    fclose(file);
    library[strcspn(library, "\r\n")] = '\0';
    int result = library[0] ? doctor_apart(load, library, DOCTOR_LOAD_LIMIT, why, sizeof why) : 1;
    if (!library[0])
        doctor_find(doctor, level_without(doctor), "icd",
                    "write the driver's library into it, or remove it", "%s names no library",
                    path);
    else if (result == 0)
        doctor_find(doctor, DOCTOR_OK, "icd", NULL, "%s: %s loads", path, library);
    else if (result < 0)
        doctor_find(
            doctor, DOCTOR_PROBLEM, "icd", doctor_text("reinstall the driver, or remove %s", path),
            "%s: %s kills the process that loads it (%s)", path, library, strsignal(-result));
    else
        doctor_find(doctor, level_without(doctor), "icd",
                    doctor_text("install the driver's package, or remove %s", path),
                    "%s: %s does not load: %s", path, library, why);
}

/* OCL_ICD_VENDORS is a folder, a file of one, or a library. */
static void look_at_vendors(struct doctor *doctor, const char *vendors)
{
    char why[500];
    struct stat status;
    bool is_folder = stat(vendors, &status) == 0 && S_ISDIR(status.st_mode);
    const char *dot = strrchr(vendors, '.');
    if (is_folder && doctor_look_into(doctor, vendors, "*.icd", look_at_icd) > 0)
        return;
    if (!is_folder && dot && strcmp(dot, ".icd") == 0)
        look_at_icd(doctor, vendors);
    else if (!is_folder && doctor_apart(load, (void *)(uintptr_t)vendors, DOCTOR_LOAD_LIMIT, why,
                                        sizeof why) == 0)
        doctor_find(doctor, DOCTOR_OK, "icd", NULL, "OCL_ICD_VENDORS: %s loads", vendors);
    else
        doctor_find(doctor, level_without(doctor), "icd", install, "%s: no driver (*.icd) there",
                    vendors);
}

void doctor_look_at_loader(struct doctor *doctor)
{
    char why[500];
    const char *vendors = getenv("OCL_ICD_VENDORS");
    const char *device = doctor->config.settings.device;
    const struct device_options options = {
        .select = device, .platform_index = -1, .device_index = -1};
    if (strcmp(device, "reference") == 0 || !device_may_load(&options)) {
        doctor_find(doctor, DOCTOR_OK, "loader", NULL, "device %s: OpenCL is not used here",
                    device);
        return;
    }
    if (doctor_apart(load, (void *)(uintptr_t)LOADER, DOCTOR_LOAD_LIMIT, why, sizeof why) != 0) {
        doctor_find(doctor, level_without(doctor), "loader", install, "no OpenCL loader: %s", why);
        return;
    }
    doctor_find(doctor, DOCTOR_OK, "loader", NULL, LOADER " loads");
    look_at_vendors(doctor, vendors && vendors[0] ? vendors : VENDORS);
}

/* ---- the device ---- */

/* As the worker does it at its start, with the self-check; a line "NAME" or "!WHY". */
static int try_device(void *context, FILE *out)
{
    const struct settings *settings = context;
    struct engine_options options = {
        .device = {.select = settings->device, .platform_index = -1, .device_index = -1},
        .self_check = true,
        .max_pixels = settings->max_pixels,
        .max_file = settings->max_file,
        .memory = settings->memory,
        .threads = 1,
    };
    struct engine *engine = NULL;
    struct chain chain = {0};
    struct format format = {0};
    struct fault fault = FAULT_INIT, wrong = FAULT_INIT;
    int result = engine_open(&engine, &options, &fault);
    if (result == 0)
        result = chain_parse_with(&chain, "luminance,sobel", NULL, &fault);
    if (result == 0)
        result = format_parse(&format, "png", &fault);
    if (result == 0)
        result = engine_warm(engine, 0, &chain, &format, &wrong, &fault);
    if (result != 0)
        fputs(fault.text, out);
    else
        fprintf(out, "%s (%s)", device_info(engine_device(engine))->name,
                device_kind_name(device_info(engine_device(engine))->kind));
    return result == 0 ? 0 : result == FAULT_VERIFY ? 2 : 1;
}

void doctor_look_at_device(struct doctor *doctor)
{
    struct settings *settings = &doctor->config.settings;
    char said[600];
    if (strcmp(settings->device, "reference") == 0)
        return;
    int result = doctor_apart(try_device, settings, DEVICE_LIMIT, said, sizeof said);
    if (result == 0)
        doctor_find(doctor, DOCTOR_OK, "device", NULL,
                    "device %s: opens, compiles, and computes what the references do", said);
    else if (result == -SIGALRM)
        doctor_find(doctor, DOCTOR_PROBLEM, "device",
                    "update the driver; until then --device native",
                    "device %s: not ready within %s", settings->device,
                    number_duration(DEVICE_LIMIT * UINT64_C(1000000000)));
    else if (result < 0)
        doctor_find(
            doctor, DOCTOR_PROBLEM, "device",
            "empty the cache directory; if that does not help, update the driver, or take --device "
            "native",
            "device %s: its driver kills the process (%s)", settings->device, strsignal(-result));
    else if (result == 2)
        doctor_find(doctor, DOCTOR_PROBLEM, "device",
                    "update the driver; until then --device native",
                    "device %s computes wrongly: %s", settings->device, said);
    else
        doctor_find(doctor, DOCTOR_PROBLEM, "device",
                    "see the lines above; sluice devices lists what there is", "device %s: %s",
                    settings->device, said);
}
