/* Checks the machine: device nodes and their rights, the kernel's features, inotify's limits, the
 * worker program. */
#include "doctor/doctor.h"

#include <dirent.h>
#include <errno.h>
#include <grp.h>
#include <limits.h>
#include <linux/seccomp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/inotify.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/utsname.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/file.h"
#include "version.h"
#include "worker/find.h"

/* These numbers are the same on every architecture; older headers lack them. */
#define CALL_OPENAT2  437
#define CALL_LANDLOCK 444

/* ---- device nodes ---- */

static void look_at_node(struct doctor *doctor, const char *path)
{
    struct stat status;
    if (stat(path, &status) != 0)
        return;
    const struct group *group = getgrgid(status.st_gid);
    const char *name = group ? group->gr_name : "";
    if (doctor_may(doctor, path, 6)) {
        doctor_find(doctor, DOCTOR_OK, "node", NULL, "%s: %s may open it", path, doctor->user);
        return;
    }
    bool by_group = status.st_gid != 0 && (status.st_mode >> 3 & 6) == 6;
    doctor_find(doctor, DOCTOR_WARNING, "node",
                by_group
                    ? doctor_text("usermod -aG %s %s (then log in again, or restart sluiced)", name,
                                  doctor->user)
                    : doctor_text("a udev rule with GROUP=\"video\", MODE=\"0660\" for %s", path),
                "%s: %s may not open it (group %s, mode %04o): this GPU is not used", path,
                doctor->user, name[0] ? name : "?", (unsigned)status.st_mode & 07777);
}

static unsigned look_at_nodes(struct doctor *doctor, const char *folder, const char *prefix)
{
    struct dirent **names = NULL;
    unsigned found = 0;
    int count = scandir(folder, &names, NULL, alphasort);
    for (int i = 0; i < count; i++) {
        if (names[i]->d_name[0] != '.' && strncmp(names[i]->d_name, prefix, strlen(prefix)) == 0) {
            look_at_node(doctor, doctor_text("%s/%s", folder, names[i]->d_name));
            found++;
        }
        free(names[i]);
    }
    free(names);
    return found;
}

void doctor_look_at_nodes(struct doctor *doctor)
{
    unsigned found = look_at_nodes(doctor, "/dev", "mali");
    if (found > 0)
        look_at_nodes(doctor, "/dev/dma_heap", "");
    found += look_at_nodes(doctor, "/dev/dri", "renderD");
    if (found > 0)
        return;
    const char *device = doctor->config.settings.device;
    bool wanted = strcmp(device, "gpu") == 0;
    doctor_find(
        doctor, wanted ? DOCTOR_PROBLEM : DOCTOR_OK, "node",
        wanted
            ? "load the GPU's kernel driver (mali_kbase, panfrost or panthor), or --device native"
            : NULL,
        "no GPU node (/dev/mali0, /dev/dri/renderD*): work is done by the processor");
}

/* ---- the kernel ---- */

void doctor_look_at_kernel(struct doctor *doctor)
{
    struct utsname kernel = {0};
    uname(&kernel);
    long landlock = syscall(CALL_LANDLOCK, NULL, 0, 1u); /* asks for the version */
    if (landlock > 0)
        doctor_find(doctor, DOCTOR_OK, "landlock", NULL, "Landlock, version %ld", landlock);
    else
        doctor_find(doctor, DOCTOR_WARNING, "landlock",
                    "a kernel of 5.13 or later with landlock in its lsm= list",
                    "no Landlock in kernel %s: the worker's sandbox does without", kernel.release);
    if (prctl(PR_GET_SECCOMP) < 0)
        doctor_find(doctor, DOCTOR_WARNING, "seccomp", "a kernel with CONFIG_SECCOMP_FILTER",
                    "no seccomp: the worker's sandbox does without");
    if (syscall(SYS_renameat2, -1, "a", -1, "b", 1u) != 0 && errno == ENOSYS)
        doctor_find(doctor, DOCTOR_WARNING, "renameat2", "a kernel of 3.15 or later",
                    "no renameat2: results get their names by link and unlink");
    if (syscall(CALL_OPENAT2, -1, "a", NULL, (size_t)0) != 0 && errno == ENOSYS)
        doctor_find(doctor, DOCTOR_OK, "openat2", NULL, "no openat2 (kernel %s): opened by openat",
                    kernel.release);
    int fd = memfd_create("doctor", MFD_CLOEXEC | MFD_ALLOW_SEALING);
    if (fd < 0)
        doctor_find(doctor, DOCTOR_PROBLEM, "memfd", "a kernel of 3.17 or later",
                    "memfd_create: %s: jobs at the sockets and configurations need it",
                    strerror(errno));
    else
        close(fd);
}

/* ---- inotify ---- */

static bool read_limit(const char *name, long long *value)
{
    char path[100], text[40];
    snprintf(path, sizeof path, "/proc/sys/fs/inotify/%s", name);
    return file_read_text(path, text, sizeof text) > 0 && sscanf(text, "%lld", value) == 1;
}

static void look_at_limit(struct doctor *doctor, const char *name, long long enough,
                          const char *what)
{
    long long value;
    if (!read_limit(name, &value))
        return;
    if (value >= enough)
        doctor_find(doctor, DOCTOR_OK, name, NULL, "fs.inotify.%s is %lld", name, value);
    else
        doctor_find(
            doctor, DOCTOR_WARNING, name,
            doctor_text("sysctl -w fs.inotify.%s=%lld (and in /etc/sysctl.d/)", name, enough),
            "fs.inotify.%s is %lld: %s", name, value, what);
}

void doctor_look_at_inotify(struct doctor *doctor)
{
    long long folders = (long long)doctor->config.settings.n_watches;
    int fd = inotify_init1(IN_CLOEXEC);
    if (fd < 0)
        doctor_find(doctor, DOCTOR_WARNING, "inotify",
                    "sysctl -w fs.inotify.max_user_instances=128, or end what uses them up",
                    "inotify: %s: folders are read every 2 s instead", strerror(errno));
    else
        close(fd);
    look_at_limit(doctor, "max_user_instances", folders > 8 ? 4 * folders : 32,
                  "folders beyond that are read every 2 s instead of being watched");
    look_at_limit(doctor, "max_user_watches", folders > 32 ? 4 * folders : 128,
                  "folders beyond that are read every 2 s instead of being watched");
    look_at_limit(doctor, "max_queued_events", 4096,
                  "when many files come at once, the folder has to be read again and again");
}

/* ---- the worker ---- */

/* The first line that `PROGRAM --version` prints; false when the program fails. */
static bool ask_version(const char *program, char *line, size_t size)
{
    int ends[2], status = -1;
    line[0] = '\0';
    if (pipe(ends) != 0)
        return false;
    pid_t child = fork();
    if (child == 0) {
        dup2(ends[1], STDOUT_FILENO);
        close(ends[0]);
        close(ends[1]);
        execl(program, program, "--version", (char *)NULL);
        _exit(127);
    }
    close(ends[1]);
    ssize_t got = child > 0 ? read(ends[0], line, size - 1) : 0;
    close(ends[0]);
    line[got > 0 ? got : 0] = '\0';
    line[strcspn(line, "\n")] = '\0';
    while (child > 0 && waitpid(child, &status, 0) < 0 && errno == EINTR)
        ;
    return status == 0;
}

void doctor_look_at_worker(struct doctor *doctor)
{
    static const char reinstall[] =
        "meson install (or the package) once more; SLUICE_WORKER names another";
    char path[PATH_MAX], line[100];
    struct fault fault = FAULT_INIT;
    if (worker_find_program(path, sizeof path, &fault) != 0)
        doctor_find(doctor, DOCTOR_PROBLEM, "worker", reinstall, "%s", fault.text);
    else if (!ask_version(path, line, sizeof line))
        doctor_find(doctor, DOCTOR_PROBLEM, "worker", reinstall, "%s does not run: %s", path, line);
    else if (strcmp(line, "sluice-worker " SLUICE_VERSION) != 0)
        doctor_find(doctor, DOCTOR_PROBLEM, "worker", reinstall,
                    "%s is '%s', and sluice is " SLUICE_VERSION, path, line);
    else
        doctor_find(doctor, DOCTOR_OK, "worker", NULL, "%s runs", path);
}
