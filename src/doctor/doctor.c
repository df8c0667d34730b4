/* sluice doctor: finds problems of this machine, with a fix for each. */
#include "doctor/doctor.h"

#include <dirent.h>
#include <errno.h>
#include <fnmatch.h>
#include <grp.h>
#include <limits.h>
#include <linux/seccomp.h>
#include <pwd.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/inotify.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/syscall.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "base/file.h"
#include "base/number.h"
#include "cli/common.h"
#include "config/loops.h"
#include "device/device.h"
#include "version.h"
#include "worker/find.h"

#define AT(member) offsetof(struct doctor_options, member)

#define SERVICE_USER   "sluice"
#define SERVICE_CONFIG "/etc/sluice/sluice.yaml"
#define SERVICE_CACHE  "/var/cache/sluice"
#define CACHE_ROOM     (UINT64_C(16) << 20)

/* These numbers are the same on every architecture; older headers lack them. */
#define CALL_OPENAT2  437
#define CALL_LANDLOCK 444

struct doctor_options {
    struct common_options common;
    const char *user;
};

static const struct options_row options[] = {
    OPTION(0, "NAME", TEXT, "user", AT(user),
           "user as whom the daemon runs; for root, else sluice if there is such a user"),
    {0},
};

static const struct options_usage usage = {
    .command = "doctor",
    .operands = "[--config FILE]",
    .summary =
        "Tells what is wrong with this machine's OpenCL, permissions, folders and limits, and the "
        "fix for each.",
    .details =
        "Without --config and SLUICE_CONFIG the service's own file is looked at, if it is there.\n"
        "Exit status 1 when there is a problem; warnings alone are 0.\n",
    .tables = {options, cli_config_options, cli_device_options, cli_output_options},
};

static const char *const level_names[] = {"ok", "warning", "problem"};

void doctor_find(struct doctor *doctor, enum doctor_level level, const char *check, const char *fix,
                 const char *format, ...)
{
    char text[1000];
    struct text clean = {0}, clean_fix = {0};
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    text_append_utf8(&clean, text);
    text_append_utf8(&clean_fix, fix ? fix : "");
    json_array_append_new(doctor->findings,
                          json_pack("{s:s, s:s, s:s, s:s?}", "check", check, "level",
                                    level_names[level], "text", text_string(&clean), "fix",
                                    fix ? text_string(&clean_fix) : NULL));
    doctor->warnings += level == DOCTOR_WARNING;
    doctor->problems += level == DOCTOR_PROBLEM;
    text_finish(&clean);
    text_finish(&clean_fix);
}

const char *doctor_text(const char *format, ...)
{
    static char texts[4][1000];
    static unsigned next;
    char *text = texts[next++ % 4];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof texts[0], format, args);
    va_end(args);
    return text;
}

/* Whether the user has all rights in `access` (bits 4, 2, 1) to the file, by its owner, group and
 * mode. */
static bool may(const struct doctor *doctor, const char *path, unsigned access)
{
    struct stat status;
    if (stat(path, &status) != 0)
        return false;
    if (doctor->uid == 0)
        return true;
    if (status.st_uid == doctor->uid)
        return (status.st_mode >> 6 & access) == access;
    for (int i = 0; i < doctor->n_groups; i++)
        if (doctor->groups[i] == status.st_gid)
            return (status.st_mode >> 3 & access) == access;
    return (status.st_mode & access) == access;
}

/* ---- the user of the daemon ---- */

static void find_user(struct doctor *doctor, const char *told)
{
    const char *name = told ? told : geteuid() == 0 ? SERVICE_USER : NULL;
    const struct passwd *user = name ? getpwnam(name) : getpwuid(geteuid());
    if (told && !user)
        doctor_find(doctor, DOCTOR_PROBLEM, "user", "systemd-sysusers, or adduser --system",
                    "there is no user '%s'", told);
    if (!user && name)
        user = getpwuid(geteuid());
    doctor->uid = user ? user->pw_uid : geteuid();
    snprintf(doctor->user, sizeof doctor->user, "%s",
             user ? user->pw_name : doctor_text("%u", (unsigned)doctor->uid));
    doctor->n_groups = DOCTOR_GROUPS_MAX;
    if (!user || user->pw_uid == geteuid())
        doctor->n_groups = getgroups(DOCTOR_GROUPS_MAX, doctor->groups);
    else if (getgrouplist(user->pw_name, user->pw_gid, doctor->groups, &doctor->n_groups) < 0)
        doctor->n_groups = DOCTOR_GROUPS_MAX;
    if (doctor->n_groups < 0)
        doctor->n_groups = 0;
    struct text groups = {0};
    for (int i = 0; i < doctor->n_groups; i++) {
        const struct group *group = getgrgid(doctor->groups[i]);
        text_printf(&groups, "%s%s", i ? " " : "",
                    group ? group->gr_name : doctor_text("%u", (unsigned)doctor->groups[i]));
    }
    doctor_find(doctor, DOCTOR_OK, "user", NULL, "user %s, groups: %s", doctor->user,
                text_string(&groups));
    text_finish(&groups);
}

static void read_config(struct doctor *doctor, const struct common_options *common)
{
    struct text errors = {0};
    struct fault fault = FAULT_INIT;
    const char *file = common->config ? common->config : getenv("SLUICE_CONFIG");
    if ((!file || !file[0]) && access(SERVICE_CONFIG, F_OK) == 0)
        file = SERVICE_CONFIG;
    doctor->file = file && file[0] ? file : NULL;
    if (!doctor->file) {
        settings_defaults(&doctor->config.settings);
        doctor_find(doctor, DOCTOR_OK, "config", NULL,
                    "no configuration: folders are not looked at (--config FILE)");
    } else if (config_read_partly(&doctor->config, file, &errors, &fault) == FAULT_CONFIG) {
        doctor_find(doctor, DOCTOR_PROBLEM, "config",
                    doctor_text("sluice check-config %s tells all errors", file), "%s", fault.text);
    } else if (fault.code != FAULT_NONE) {
        doctor_find(doctor, DOCTOR_PROBLEM, "config",
                    "name the file by --config or SLUICE_CONFIG, and let the daemon's user read it",
                    "%s: %s", file, fault.text);
    } else if (!may(doctor, file, 4)) {
        struct stat status = {0};
        (void)stat(file, &status);
        doctor_find(doctor, DOCTOR_PROBLEM, "config", doctor_text("chmod a+r %s", file),
                    "%s: %s may not read it (mode %04o)", file, doctor->user,
                    (unsigned)status.st_mode & 07777);
    } else {
        doctor_find(doctor, DOCTOR_OK, "config", NULL, "%s can be read", file);
    }
    errors.length = 0;
    settings_read_environment(&doctor->config.settings, false, &errors);
    if (errors.length > 0)
        doctor_find(doctor, DOCTOR_PROBLEM, "environment", "correct or unset the variable", "%.*s",
                    (int)strcspn(text_string(&errors), "\n"), text_string(&errors));
    config_resolve_chains(&doctor->config);
    settings_complete(&doctor->config.settings);
    text_finish(&errors);
}

/* ---- the kernel cache ---- */

static double room(const struct statvfs *status)
{
    return (double)status->f_bavail * (double)status->f_frsize;
}

static void look_at_cache_mount(struct doctor *doctor, const char *path)
{
    struct statvfs status;
    if (statvfs(path, &status) != 0) {
        doctor_find(doctor, DOCTOR_WARNING, "cache", doctor_text("mkdir -p %s", path), "%s: %s",
                    path, strerror(errno));
        return;
    }
    if (status.f_flag & ST_NOEXEC)
        doctor_find(doctor, DOCTOR_PROBLEM, "cache",
                    "SLUICE_CACHE_DIR on a file system without noexec, or mount -o remount,exec",
                    "cache directory %s is on a file system that is mounted noexec: PoCL cannot "
                    "load what it "
                    "compiled",
                    path);
    else if (room(&status) < (double)CACHE_ROOM)
        doctor_find(doctor, DOCTOR_WARNING, "cache", "free some space there",
                    "cache directory %s: %s are free, and kernels may take some MiB", path,
                    number_size((uint64_t)room(&status)));
    else
        doctor_find(doctor, DOCTOR_OK, "cache", NULL, "cache directory %s", path);
}

static void look_at_cache(struct doctor *doctor)
{
    const char *told = getenv("SLUICE_CACHE_DIR");
    struct stat status;
    /* The service's cache if its user is checked; otherwise the one that programs of this user
     * have. */
    bool is_service =
        !(told && told[0]) && doctor->uid != geteuid() && stat(SERVICE_CACHE, &status) == 0;
    const char *path = is_service ? SERVICE_CACHE : device_cache_directory();
    const char *below = device_cache_read_only();
    if (below)
        doctor_find(doctor, DOCTOR_OK, "cache", NULL,
                    "%s is read-only: programs are taken from there", below);
    if (!path) {
        doctor_find(doctor, DOCTOR_PROBLEM, "cache", "SLUICE_CACHE_DIR=/a/folder, or HOME",
                    "there is no folder for compiled kernels, not even a temporary one");
    } else if (told && told[0] && !below && strcmp(told, path) != 0) {
        doctor_find(doctor, DOCTOR_PROBLEM, "cache",
                    doctor_text("mkdir -p %s; chown %s %s", told, doctor->user, told),
                    "cache directory %s cannot be written to: every start compiles anew", told);
    } else if (access(path, F_OK) == 0 && !may(doctor, path, 3)) {
        doctor_find(doctor, DOCTOR_PROBLEM, "cache",
                    doctor_text("chown -R %s %s", doctor->user, path),
                    "cache directory %s: %s may not write there", path, doctor->user);
    } else {
        look_at_cache_mount(doctor, path);
    }
}

/* ---- configured folders ---- */

/* True for a folder that can be checked further. */
static bool look_at_folder(struct doctor *doctor, const char *path, const char *what, bool written)
{
    struct stat status;
    struct statvfs mount;
    if (stat(path, &status) != 0 || statvfs(path, &mount) != 0) {
        doctor_find(doctor, DOCTOR_PROBLEM, what,
                    errno == EACCES ? doctor_text("chmod a+x on the folders above %s", path)
                                    : doctor_text("install -d -o %s %s", doctor->user, path),
                    "%s %s: %s", what, path, strerror(errno));
        return false;
    }
    if (!S_ISDIR(status.st_mode)) {
        doctor_find(doctor, DOCTOR_PROBLEM, what, "name a folder", "%s %s: is no folder", what,
                    path);
        return false;
    }
    if (written && mount.f_flag & ST_RDONLY)
        doctor_find(doctor, DOCTOR_PROBLEM, what,
                    strcmp(what, "input") == 0 ? "claim: none, or mount -o remount,rw"
                                               : "mount -o remount,rw, or another folder",
                    "%s %s: its file system is read-only", what, path);
    else if (!may(doctor, path, written ? 7 : 5))
        doctor_find(doctor, DOCTOR_PROBLEM, what,
                    doctor_text("chown %s %s, or its group, with mode 2770", doctor->user, path),
                    "%s %s: %s may not %s there (mode %04o)", what, path, doctor->user,
                    written ? "write" : "read", (unsigned)status.st_mode & 07777);
    else
        doctor_find(doctor, DOCTOR_OK, what, NULL, "%s %s", what, path);
    return true;
}

static void look_at_space(struct doctor *doctor, const char *path, const struct free_space *min)
{
    struct statvfs status;
    if (statvfs(path, &status) != 0)
        return;
    double all = (double)status.f_blocks * (double)status.f_frsize;
    double least = all * min->percent / 100;
    least = least > (double)min->bytes ? least : (double)min->bytes;
    if (room(&status) < least)
        doctor_find(doctor, DOCTOR_PROBLEM, "space", "free some, or lower limits.min_free",
                    "%s: %s are free and min_free is %s: nothing is taken", path,
                    number_size((uint64_t)room(&status)), number_size((uint64_t)least));
    else if (room(&status) < 64 << 20)
        doctor_find(doctor, DOCTOR_WARNING, "space", "free some", "%s: %s are free", path,
                    number_size((uint64_t)room(&status)));
}

static void look_at_hook(struct doctor *doctor, const char *key, const char *words)
{
    struct stat status;
    if (!words)
        return;
    const char *path = doctor_text("%.*s", (int)strcspn(words, " "), words);
    int found = stat(path, &status);
    if (found != 0 || !S_ISREG(status.st_mode))
        doctor_find(doctor, DOCTOR_PROBLEM, key, "the path of a program, or no hook", "%s %s: %s",
                    key, path, found != 0 ? strerror(errno) : "is no program");
    else if (!may(doctor, path, 1) || (status.st_mode & 0111) == 0)
        doctor_find(doctor, DOCTOR_PROBLEM, key, doctor_text("chmod a+x %s", path),
                    "%s %s: %s may not execute it (mode %04o)", key, path, doctor->user,
                    (unsigned)status.st_mode & 07777);
    else
        doctor_find(doctor, DOCTOR_OK, key, NULL, "%s %s", key, path);
}

static void look_at_watch(struct doctor *doctor, const struct watch_settings *watch)
{
    bool written = watch->claim == CLAIM_RENAME;
    if (look_at_folder(doctor, watch->input, "input", written)) {
        const char *remote = file_remote_kind(watch->input);
        if (remote && watch->mode == MODE_INOTIFY)
            doctor_find(doctor, DOCTOR_PROBLEM, "input", "mode: auto, or poll",
                        "input %s is on %s, where inotify does not see what others write",
                        watch->input, remote);
        else if (remote)
            doctor_find(doctor, DOCTOR_WARNING, "input", "a local folder, if 2 s are too long",
                        "input %s is on %s: it is read every 2 s", watch->input, remote);
        if (written)
            look_at_space(doctor, watch->input, &watch->min_free);
        /* A file is claimed by a rename, which a mount point within the folder would prevent. */
        struct stat folder, hidden;
        const char *path = doctor_text("%s/.sluice", watch->input);
        if (stat(watch->input, &folder) == 0 && stat(path, &hidden) == 0 &&
            folder.st_dev != hidden.st_dev)
            doctor_find(doctor, DOCTOR_PROBLEM, "input", doctor_text("umount %s", path),
                        "%s is another file system than %s: files cannot be moved there", path,
                        watch->input);
    }
    if (look_at_folder(doctor, watch->output, "output", true))
        look_at_space(doctor, watch->output, &watch->min_free);
    look_at_hook(doctor, "on_done", watch->on_done);
    look_at_hook(doctor, "on_failed", watch->on_failed);
}

static void look_at_folders(struct doctor *doctor)
{
    const struct settings *settings = &doctor->config.settings;
    for (size_t i = 0; i < settings->n_watches; i++)
        if (settings->watches[i].input && settings->watches[i].output)
            look_at_watch(doctor, &settings->watches[i]);
    struct text errors = {0};
    settings_check_loops(settings, &errors);
    const char *lines = text_string(&errors);
    for (size_t length; (length = strcspn(lines, "\n")) > 0; lines += length + 1)
        doctor_find(doctor, DOCTOR_PROBLEM, "output", "two folders, apart from all inputs", "%.*s",
                    (int)length, lines);
    text_finish(&errors);
    if (settings->state)
        look_at_folder(doctor, settings->state, "state", true);
}

/* ---- device nodes ---- */

static void look_at_node(struct doctor *doctor, const char *path)
{
    struct stat status;
    if (stat(path, &status) != 0)
        return;
    const struct group *group = getgrgid(status.st_gid);
    const char *name = group ? group->gr_name : "";
    if (may(doctor, path, 6)) {
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

unsigned doctor_look_into(struct doctor *doctor, const char *folder, const char *pattern,
                          void (*look)(struct doctor *doctor, const char *path))
{
    struct dirent **names = NULL;
    unsigned found = 0;
    int count = scandir(folder, &names, NULL, alphasort);
    for (int i = 0; i < count; i++) {
        if (fnmatch(pattern, names[i]->d_name, 0) == 0) {
            look(doctor, doctor_text("%s/%s", folder, names[i]->d_name));
            found++;
        }
        free(names[i]);
    }
    free(names);
    return found;
}

static void look_at_nodes(struct doctor *doctor)
{
    unsigned found = doctor_look_into(doctor, "/dev", "mali*", look_at_node);
    if (found > 0)
        doctor_look_into(doctor, "/dev/dma_heap", "[!.]*", look_at_node);
    found += doctor_look_into(doctor, "/dev/dri", "renderD*", look_at_node);
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

static void look_at_kernel(struct doctor *doctor)
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

static void look_at_limit(struct doctor *doctor, const char *name, long long enough,
                          const char *what)
{
    char path[100], text[40];
    long long value;
    snprintf(path, sizeof path, "/proc/sys/fs/inotify/%s", name);
    if (file_read_text(path, text, sizeof text) == 0 || sscanf(text, "%lld", &value) != 1)
        return;
    if (value >= enough)
        doctor_find(doctor, DOCTOR_OK, name, NULL, "fs.inotify.%s is %lld", name, value);
    else
        doctor_find(
            doctor, DOCTOR_WARNING, name,
            doctor_text("sysctl -w fs.inotify.%s=%lld (and in /etc/sysctl.d/)", name, enough),
            "fs.inotify.%s is %lld: %s", name, value, what);
}

static void look_at_inotify(struct doctor *doctor)
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

static int print_version(void *program, FILE *out)
{
    dup2(fileno(out), STDOUT_FILENO);
    execl(program, program, "--version", (char *)NULL);
    return 127;
}

static void look_at_worker(struct doctor *doctor)
{
    static const char reinstall[] =
        "meson install (or the package) once more; SLUICE_WORKER names another";
    char path[PATH_MAX], line[100];
    struct fault fault = FAULT_INIT;
    bool found = find_program("worker", "SLUICE_WORKER", path, sizeof path, &fault) == 0;
    bool runs =
        found && doctor_apart(print_version, path, DOCTOR_LOAD_LIMIT, line, sizeof line) == 0;
    if (found)
        line[strcspn(line, "\n")] = '\0';
    if (!found)
        doctor_find(doctor, DOCTOR_PROBLEM, "worker", reinstall, "%s", fault.text);
    else if (!runs)
        doctor_find(doctor, DOCTOR_PROBLEM, "worker", reinstall, "%s does not run: %s", path, line);
    else if (strcmp(line, "sluice-worker " SLUICE_VERSION) != 0)
        doctor_find(doctor, DOCTOR_PROBLEM, "worker", reinstall,
                    "%s is '%s', and sluice is " SLUICE_VERSION, path, line);
    else
        doctor_find(doctor, DOCTOR_OK, "worker", NULL, "%s runs", path);
}

/* ---- the report ---- */

static void print(const struct doctor *doctor, const struct common_options *common)
{
    if (common->json) {
        json_t *all = json_pack("{s:O, s:i, s:i}", "findings", doctor->findings, "warnings",
                                (int)doctor->warnings, "problems", (int)doctor->problems);
        cli_print_json(all);
        return;
    }
    size_t index;
    json_t *finding;
    json_array_foreach (doctor->findings, index, finding) {
        const char *level = json_string_value(json_object_get(finding, "level"));
        const char *text = json_string_value(json_object_get(finding, "text"));
        const char *fix = json_string_value(json_object_get(finding, "fix"));
        if (common->quiet && strcmp(level, "ok") == 0)
            continue;
        fprintf(cli_stdout, "%-8s %s\n", level, text);
        if (fix)
            fprintf(cli_stdout, "         fix: %s\n", fix);
    }
    if (!common->quiet)
        fprintf(cli_stdout, "problems: %u, warnings: %u\n", doctor->problems, doctor->warnings);
}

static int doctor_command(void *options_, char **operands, size_t count)
{
    struct doctor_options *o = options_;
    struct doctor doctor = {0};
    const char *told = o->common.device;
    cli_common_apply(&o->common);
    doctor.findings = json_array();
    find_user(&doctor, o->user);
    read_config(&doctor, &o->common);
    if (told)
        doctor.config.settings.device = told;
    look_at_worker(&doctor);
    look_at_kernel(&doctor);
    look_at_nodes(&doctor);
    look_at_cache(&doctor);
    doctor_look_at_loader(&doctor);
    doctor_look_at_device(&doctor);
    look_at_inotify(&doctor);
    look_at_folders(&doctor);
    print(&doctor, &o->common);
    json_decref(doctor.findings);
    config_finish(&doctor.config);
    return doctor.problems > 0 ? 1 : 0;
}

const struct command command_doctor = {&usage, sizeof(struct doctor_options), doctor_command,
                                       .no_operands = true};
