#include "worker/landlock.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "base/file.h"
#include "base/log.h"

/* Constants of the kernel's include/uapi/linux/landlock.h: the headers of the build may be older
 * than the kernel that runs. These system calls have the same numbers on all architectures except
 * alpha. */
#define SYSTEM_CALL_CREATE   444
#define SYSTEM_CALL_ADD_RULE 445
#define SYSTEM_CALL_RESTRICT 446
#define CREATE_VERSION       1
#define RULE_PATH_BENEATH    1

#define FS_EXECUTE     (UINT64_C(1) << 0)
#define FS_WRITE_FILE  (UINT64_C(1) << 1)
#define FS_READ_FILE   (UINT64_C(1) << 2)
#define FS_READ_DIR    (UINT64_C(1) << 3)
#define FS_REMOVE_DIR  (UINT64_C(1) << 4)
#define FS_REMOVE_FILE (UINT64_C(1) << 5)
#define FS_MAKE_DIR    (UINT64_C(1) << 7)
#define FS_MAKE_REG    (UINT64_C(1) << 8)
#define FS_MAKE_SYM    (UINT64_C(1) << 12)
#define FS_FIRST       ((UINT64_C(1) << 13) - 1) /* all of version 1 */
#define FS_REFER       (UINT64_C(1) << 13)       /* version 2: rename between directories */
#define FS_TRUNCATE    (UINT64_C(1) << 14)       /* version 3 */
#define FS_IOCTL_DEV   (UINT64_C(1) << 15)       /* version 5 */
#define NET_TCP        UINT64_C(3)               /* version 4: bind and connect */
#define SCOPE_ALL      UINT64_C(3)               /* version 6: abstract sockets and signals */

#define FS_OF_FILES (FS_EXECUTE | FS_WRITE_FILE | FS_READ_FILE | FS_TRUNCATE | FS_IOCTL_DEV)

struct ruleset_attributes {
    uint64_t fs;
    uint64_t net;    /* from version 4 on */
    uint64_t scoped; /* from version 6 on */
};

struct __attribute__((packed)) path_rule {
    uint64_t allowed;
    int32_t parent;
};

static const uint64_t rights[] = {
    [LANDLOCK_READ] = FS_READ_FILE | FS_READ_DIR,
    [LANDLOCK_RUN] = FS_READ_FILE | FS_READ_DIR | FS_EXECUTE,
    [LANDLOCK_DEVICE] = FS_READ_FILE | FS_READ_DIR | FS_WRITE_FILE | FS_IOCTL_DEV,
    [LANDLOCK_CONTENT] = FS_READ_FILE | FS_READ_DIR | FS_WRITE_FILE | FS_REMOVE_DIR |
                         FS_REMOVE_FILE | FS_MAKE_DIR | FS_MAKE_REG | FS_MAKE_SYM | FS_REFER |
                         FS_TRUNCATE,
};

int landlock_version(void)
{
    long version = syscall(SYSTEM_CALL_CREATE, NULL, 0, CREATE_VERSION);
    return version > 0 ? (int)version : 0;
}

static uint64_t known(int version)
{
    return FS_FIRST | (version >= 2 ? FS_REFER : 0) | (version >= 3 ? FS_TRUNCATE : 0) |
           (version >= 5 ? FS_IOCTL_DEV : 0);
}

int landlock_begin(struct landlock *landlock, int version, struct fault *fault)
{
    struct ruleset_attributes attributes = {known(version), NET_TCP, SCOPE_ALL};
    size_t size = version >= 6 ? 24 : version >= 4 ? 16 : 8;
    *landlock = (struct landlock){.version = version};
    landlock->rules = (int)syscall(SYSTEM_CALL_CREATE, &attributes, size, 0);
    return landlock->rules >= 0 ? 0 : fault_set_errno(fault, FAULT_INTERNAL, "landlock");
}

/* procfs recreates nodes that nobody has used for a while, and a rule about the old node would be
 * lost. An open descriptor keeps the node. */
static bool is_made_anew(int fd)
{
    struct statfs status;
    return fstatfs(fd, &status) == 0 && status.f_type == 0x9fa0; /* PROC_SUPER_MAGIC */
}

void landlock_allow(struct landlock *landlock, const char *path, enum landlock_access access)
{
    struct stat status;
    int fd = open(path, O_PATH | O_CLOEXEC);
    if (fd < 0 || fstat(fd, &status) != 0) {
        file_close(&fd);
        return;
    }
    struct path_rule rule = {rights[access] & known(landlock->version), fd};
    if (!S_ISDIR(status.st_mode))
        rule.allowed &= FS_OF_FILES;
    if (syscall(SYSTEM_CALL_ADD_RULE, landlock->rules, RULE_PATH_BENEATH, &rule, 0) != 0)
        log_warning("landlock: %s cannot be allowed: %s", path, strerror(errno));
    if (is_made_anew(fd) && landlock->n_pinned < sizeof landlock->pinned / sizeof *landlock->pinned)
        landlock->pinned[landlock->n_pinned++] = fd;
    else
        close(fd);
}

int landlock_enforce(struct landlock *landlock, struct fault *fault)
{
    int result = 0;
    if (syscall(SYSTEM_CALL_RESTRICT, landlock->rules, 0) != 0)
        result = fault_set_errno(fault, FAULT_INTERNAL, "landlock");
    close(landlock->rules);
    landlock->rules = -1;
    if (result != 0)
        while (landlock->n_pinned > 0)
            close(landlock->pinned[--landlock->n_pinned]);
    return result;
}
