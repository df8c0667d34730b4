/* Checks folders: the kernel cache, and those of the configuration. */
#include "doctor/doctor.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include "base/file.h"
#include "base/number.h"
#include "config/loops.h"
#include "device/device.h"

#define SERVICE_CACHE "/var/cache/sluice"
#define CACHE_ROOM    (UINT64_C(16) << 20)

static double room(const struct statvfs *status)
{
    return (double)status->f_bavail * (double)status->f_frsize;
}

/* The service's cache if its user is checked; otherwise the one that programs of this user have. */
static const char *cache_directory(const struct doctor *doctor)
{
    const char *told = getenv("SLUICE_CACHE_DIR");
    struct stat status;
    if (!(told && told[0]) && doctor->uid != geteuid() && stat(SERVICE_CACHE, &status) == 0)
        return SERVICE_CACHE;
    return device_cache_directory();
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

void doctor_look_at_cache(struct doctor *doctor)
{
    const char *told = getenv("SLUICE_CACHE_DIR");
    const char *path = cache_directory(doctor);
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
    } else if (access(path, F_OK) == 0 && !doctor_may(doctor, path, 3)) {
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
    else if (!doctor_may(doctor, path, written ? 7 : 5))
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

/* A file is claimed by a rename, which a mount point within the folder would prevent. */
static void look_for_mount(struct doctor *doctor, const char *input)
{
    struct stat folder, hidden;
    const char *path = doctor_text("%s/.sluice", input);
    if (stat(input, &folder) == 0 && stat(path, &hidden) == 0 && folder.st_dev != hidden.st_dev)
        doctor_find(doctor, DOCTOR_PROBLEM, "input", doctor_text("umount %s", path),
                    "%s is another file system than %s: files cannot be moved there", path, input);
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
        look_for_mount(doctor, watch->input);
    }
    if (look_at_folder(doctor, watch->output, "output", true))
        look_at_space(doctor, watch->output, &watch->min_free);
}

static void look_for_loops(struct doctor *doctor)
{
    struct text errors = {0};
    settings_check_loops(&doctor->config.settings, &errors);
    const char *lines = text_string(&errors);
    for (size_t length; (length = strcspn(lines, "\n")) > 0; lines += length + 1)
        doctor_find(doctor, DOCTOR_PROBLEM, "output", "two folders, apart from all inputs", "%.*s",
                    (int)length, lines);
    text_finish(&errors);
}

void doctor_look_at_folders(struct doctor *doctor)
{
    const struct settings *settings = &doctor->config.settings;
    for (size_t i = 0; i < settings->n_watches; i++)
        if (settings->watches[i].input && settings->watches[i].output)
            look_at_watch(doctor, &settings->watches[i]);
    look_for_loops(doctor);
    if (settings->state)
        look_at_folder(doctor, settings->state, "state", true);
}
