/* The binary cache has one file for each program. The file's name is a hash of the program's key;
 * it holds the key itself (device, driver, options and source, byte for byte), the binary, and a
 * checksum of both. A file that is damaged or has another key is ignored and replaced.
 * --dump-binary writes the same kind of file. */
#include "device/device_internal.h"
#include "device/process.h"

#include <dirent.h>
#include <fcntl.h>
#include <ftw.h>
#include <inttypes.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"
#include "base/hash.h"
#include "base/log.h"
#include "base/text.h"

#define CACHE_MAGIC    "sluicebin1"
#define CACHE_FILE_MAX (UINT64_C(64) << 20)
#define WIPED          "pocl-wiped-" /* and a process */

struct entry_header {
    char magic[16];
    uint64_t key_size, binary_size, checksum;
};

/* The directory that entries are written to, and a read-only one that is searched after it. */
static char cache_directory[3000], cache_read_only[3000];
static pthread_once_t directory_once = PTHREAD_ONCE_INIT;

/* Our entries are named by 16 digits and ".bin"; other files are left alone. */
static bool is_entry(const char *name)
{
    return strspn(name, "0123456789abcdef") == 16 && strcmp(name + 16, ".bin") == 0;
}

/* Uses a directory with entries that cannot be written to: `sluice warm` has filled it, and it is
 * part of a system image now. */
static bool use_read_only(const char *path)
{
    DIR *stream = cache_read_only[0] ? NULL : opendir(path);
    const struct dirent *entry;
    bool found = false;
    while (stream && !found && (entry = readdir(stream)) != NULL)
        found = is_entry(entry->d_name);
    if (stream)
        closedir(stream);
    if (found) {
        snprintf(cache_read_only, sizeof cache_read_only, "%s", path);
        log_info("cache directory %s is read-only: programs are taken from there", path);
    }
    return found;
}

static bool try_directory(const char *base, const char *below)
{
    struct fault fault = FAULT_INIT;
    if (!base || base[0] != '/')
        return false;
    size_t length = strcspn(base, ":"); /* systemd separates several by colons */
    int printed =
        snprintf(cache_directory, sizeof cache_directory, "%.*s%s", (int)length, base, below);
    if (printed > 0 && (size_t)printed < sizeof cache_directory &&
        path_make_directories(cache_directory, 0700, &fault) == 0 &&
        access(cache_directory, W_OK | X_OK) == 0)
        return true;
    if (!use_read_only(cache_directory))
        log_warning("cache directory %s cannot be used: %s", cache_directory,
                    fault.code ? fault.text : "not writable");
    cache_directory[0] = '\0';
    return false;
}

static int remove_one(const char *path, const struct stat *status, int type, struct FTW *at)
{
    remove(path);
    return 0; /* what cannot be removed keeps nothing else */
}

/* What device_cache_use was told, borrowed for that call. */
static const char *chosen;

/* Finds a directory to write to, which PoCL cannot work without. The last resort is a temporary
 * one, where the process makes it. */
static void find_directory(void)
{
    const char *own = chosen ? chosen : getenv("SLUICE_CACHE_DIR");
    if (own && try_directory(own, ""))
        return;
    if ((!own || cache_read_only[0]) && (try_directory(getenv("CACHE_DIRECTORY"), "") ||
                                         try_directory(getenv("XDG_CACHE_HOME"), "/sluice") ||
                                         try_directory(getenv("HOME"), "/.cache/sluice")))
        return;
    process_make_temporary(cache_directory, sizeof cache_directory);
    if (!cache_read_only[0])
        log_warning("no cache directory (SLUICE_CACHE_DIR, XDG_CACHE_HOME or HOME): every start "
                    "compiles its kernels anew");
}

void device_cache_use(const char *path)
{
    static pthread_mutex_t one_at_a_time = PTHREAD_MUTEX_INITIALIZER;
    pthread_mutex_lock(&one_at_a_time);
    chosen = path;
    pthread_once(&directory_once, find_directory);
    chosen = NULL;
    pthread_mutex_unlock(&one_at_a_time);
}

const char *device_cache_directory(void)
{
    pthread_once(&directory_once, find_directory);
    return cache_directory[0] ? cache_directory : NULL;
}

const char *device_cache_read_only(void)
{
    pthread_once(&directory_once, find_directory);
    return cache_read_only[0] ? cache_read_only : NULL;
}

void device_cache_key(const struct device_info *info, const char *source, const char *flags,
                      struct text *key)
{
    text_printf(key, "%s\n%s\n%s\n%s\n%s\n%zu\n", info->platform, info->name, info->version,
                info->driver, flags, sizeof(void *));
    text_append(key, source);
}

static bool entry_path(const char *directory, const struct text *key, char *path, size_t size)
{
    if (!directory || key->failed)
        return false;
    uint64_t hash = hash_bytes(HASH_INIT, key->data, key->length);
    int printed = snprintf(path, size, "%s/%016" PRIx64 ".bin", directory, hash);
    return printed > 0 && (size_t)printed < size;
}

enum entry_state device_entry_read(const struct bytes *file, struct bytes *key,
                                   struct bytes *binary)
{
    struct entry_header header;
    if (file->size < sizeof header || memcmp(file->data, CACHE_MAGIC, sizeof CACHE_MAGIC) != 0)
        return ENTRY_FOREIGN;
    memcpy(&header, file->data, sizeof header);
    size_t size = file->size - sizeof header;
    if (header.key_size > size || header.binary_size != size - header.key_size ||
        hash_bytes(HASH_INIT, file->data + sizeof header, size) != header.checksum)
        return ENTRY_DAMAGED;
    *key = (struct bytes){file->data + sizeof header, header.key_size};
    *binary = (struct bytes){key->data + key->size, header.binary_size};
    return ENTRY_WHOLE;
}

int device_entry_write(const char *path, const struct text *key, const struct bytes *binary,
                       bool durable, struct fault *fault)
{
    struct file_draft draft;
    uint64_t sum = hash_bytes(HASH_INIT, key->data, key->length);
    struct entry_header header = {.magic = CACHE_MAGIC,
                                  .key_size = key->length,
                                  .binary_size = binary->size,
                                  .checksum = hash_bytes(sum, binary->data, binary->size)};
    int result = file_draft_open(&draft, path, fault);
    if (result == 0)
        result = file_write(draft.fd, &header, sizeof header, fault);
    if (result == 0)
        result = file_write(draft.fd, key->data, key->length, fault);
    if (result == 0)
        result = file_write(draft.fd, binary->data, binary->size, fault);
    if (result == 0)
        return file_draft_commit(&draft, durable, fault);
    file_draft_discard(&draft);
    return result;
}

static bool load_from(const char *directory, const struct text *key, struct bytes *binary)
{
    char path[4096];
    struct bytes file, found_key, found;
    if (!entry_path(directory, key, path, sizeof path))
        return false;
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return false;
    int result = file_read(fd, CACHE_FILE_MAX, &file, NULL);
    close(fd);
    if (result != 0)
        return false;
    if (device_entry_read(&file, &found_key, &found) != ENTRY_WHOLE ||
        found_key.size != key->length || memcmp(found_key.data, key->data, key->length) != 0) {
        log_info("cache entry %s is stale or damaged: compiling anew", path);
        bytes_finish(&file);
        return false;
    }
    memmove(file.data, found.data, found.size);
    *binary = (struct bytes){file.data, found.size};
    return true;
}

bool device_cache_load(const struct text *key, struct bytes *binary)
{
    return load_from(device_cache_directory(), key, binary) ||
           load_from(device_cache_read_only(), key, binary);
}

bool device_cache_store(const struct text *key, const struct bytes *binary)
{
    char path[4096];
    struct fault fault = FAULT_INIT;
    if (!entry_path(device_cache_directory(), key, path, sizeof path))
        return false;
    if (device_entry_write(path, key, binary, true, &fault) == 0)
        return true;
    log_warning("cache entry %s not written: %s", path, fault.text);
    return false;
}

static void fact_key(const struct device_info *info, const char *fact, struct text *key)
{
    text_append(key, "fact\n");
    device_cache_key(info, fact, "", key);
}

bool device_recall(const struct device_info *info, const char *fact, struct bytes *value)
{
    struct text key = {0};
    fact_key(info, fact, &key);
    bool found = device_cache_load(&key, value);
    text_finish(&key);
    return found;
}

bool device_remember(const struct device_info *info, const char *fact, const struct bytes *value)
{
    struct text key = {0};
    fact_key(info, fact, &key);
    bool stored = device_cache_store(&key, value);
    text_finish(&key);
    return stored;
}

static const uint8_t fact_is_true[] = "yes";

bool device_knows(const struct device *device, const char *fact)
{
    struct bytes value = {0};
    bool known = !device->options.no_cache && device_recall(device->info, fact, &value) &&
                 value.size == sizeof fact_is_true &&
                 memcmp(value.data, fact_is_true, value.size) == 0;
    bytes_finish(&value);
    return known;
}

void device_learn(const struct device *device, const char *fact)
{
    const struct bytes value = {(uint8_t *)fact_is_true, sizeof fact_is_true};
    if (!device->options.no_cache)
        device_remember(device->info, fact, &value);
}

/* PoCL's folder is renamed before it is removed, so that no other process sees half of it. One that
 * is there already is of a worker that was killed meanwhile. */
void device_cache_wipe(void)
{
    char path[4096], aside[4096];
    const char *directory = device_cache_directory();
    DIR *stream = directory ? opendir(directory) : NULL;
    if (!stream)
        return;
    snprintf(path, sizeof path, "%.3000s/pocl", directory);
    snprintf(aside, sizeof aside, "%.3000s/" WIPED "%d", directory, (int)getpid());
    (void)rename(path, aside);
    struct dirent *entry;
    while ((entry = readdir(stream)) != NULL) {
        if (is_entry(entry->d_name)) {
            unlinkat(dirfd(stream), entry->d_name, 0);
        } else if (strncmp(entry->d_name, WIPED, sizeof WIPED - 1) == 0) {
            snprintf(path, sizeof path, "%.3000s/%s", directory, entry->d_name);
            nftw(path, remove_one, 16, FTW_DEPTH | FTW_PHYS | FTW_MOUNT);
        }
    }
    closedir(stream);
    log_warning("kernel caches emptied: %s", directory);
}
