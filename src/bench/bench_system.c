/* Facts about the machine for reports, from /proc and /sys. Missing ones are left out. */
#include <dirent.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "base/file.h"
#include "bench/bench.h"

/* A file's first line, or NULL. In a list of names that each end with NUL, blanks replace the NULs.
 */
static json_t *line_of(const char *folder, const char *file)
{
    char path[600], line[512];
    snprintf(path, sizeof path, "%s/%s", folder, file);
    size_t length = file_read_text(path, line, sizeof line);
    for (size_t i = 0; i + 1 < length; i++)
        if (line[i] == '\0')
            line[i] = ' ';
    line[strcspn(line, "\n")] = '\0';
    return length > 0 ? json_string(line) : NULL;
}

static void add_line(json_t *to, const char *key, const char *folder, const char *file)
{
    json_t *line = line_of(folder, file);
    if (line)
        json_object_set_new(to, key, line);
}

/* These files of each entry of `folder`, as an array of objects in no certain order. */
struct wanted {
    const char *key, *file;
};
static json_t *entries_of(const char *folder, const struct wanted *wanted, size_t count)
{
    json_t *entries = json_array();
    DIR *stream = opendir(folder);
    for (struct dirent *entry; stream && (entry = readdir(stream));) {
        char path[512];
        if (entry->d_name[0] == '.')
            continue;
        snprintf(path, sizeof path, "%s/%s", folder, entry->d_name);
        json_t *one = json_object();
        for (size_t i = 0; i < count; i++)
            add_line(one, wanted[i].key, path, wanted[i].file);
        if (json_object_size(one) > 0) {
            json_object_set_new(one, "name", json_string(entry->d_name));
            json_array_append_new(entries, one);
        } else {
            json_decref(one);
        }
    }
    if (stream)
        closedir(stream);
    return entries;
}

json_t *bench_state_json(void)
{
    static const struct wanted clock[] = {
        {"hz", "cur_freq"}, {"max_hz", "max_freq"}, {"governor", "governor"}};
    static const struct wanted processor[] = {{"khz", "scaling_cur_freq"},
                                              {"max_khz", "cpuinfo_max_freq"},
                                              {"governor", "scaling_governor"}};
    static const struct wanted zone[] = {{"type", "type"}, {"millicelsius", "temp"}};
    return json_pack("{s:o, s:o, s:o}", "clocks", entries_of("/sys/class/devfreq", clock, 3),
                     "processors", entries_of("/sys/devices/system/cpu/cpufreq", processor, 3),
                     "temperatures", entries_of("/sys/class/thermal", zone, 2));
}

json_t *bench_system_json(void)
{
    static const char *const drivers[] = {"mali_kbase", "panfrost", "panthor"};
    struct utsname names;
    json_t *system = json_object();
    if (uname(&names) == 0)
        json_object_update_new(system, json_pack("{s:s, s:s, s:s}", "kernel", names.release,
                                                 "build", names.version, "machine", names.machine));
    add_line(system, "model", "/proc/device-tree", "model");
    add_line(system, "compatible", "/proc/device-tree", "compatible");
    add_line(system, "gpu", "/sys/class/misc/mali0/device", "gpuinfo");
    json_object_set_new(system, "processors", json_integer(sysconf(_SC_NPROCESSORS_ONLN)));
    json_object_set_new(system, "memory",
                        json_integer((json_int_t)sysconf(_SC_PHYS_PAGES) * sysconf(_SC_PAGESIZE)));
    json_t *loaded = json_array();
    for (size_t i = 0; i < sizeof drivers / sizeof *drivers; i++) {
        char folder[64];
        snprintf(folder, sizeof folder, "/sys/module/%s", drivers[i]);
        if (access(folder, F_OK) != 0)
            continue;
        json_t *one = json_pack("{s:s}", "name", drivers[i]);
        add_line(one, "version", folder, "version");
        json_array_append_new(loaded, one);
    }
    json_object_set_new(system, "drivers", loaded);
    return system;
}
