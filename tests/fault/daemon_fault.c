/* A preloaded library for the daemon's two programs:
 *
 *     SLUICE_FAULT_NO_KILL=1       SIGKILL kills nobody: a process that is stuck in the kernel
 *     SLUICE_FAULT_POISON=WORD     the worker dies of SIGSEGV when it has begun with a file that
 *                                  holds WORD in its first 4096 bytes: it breaks a decoder
 *     SLUICE_FAULT_READDIR=FILE    while FILE is there no folder can be read: with "hang" in it
 *                                  nobody comes back, else EIO
 */
#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/types.h>
#include <unistd.h>

int kill(pid_t pid, int number)
{
    static int (*real)(pid_t, int);
    if (!real)
        real = (int (*)(pid_t, int))dlsym(RTLD_NEXT, "kill");
    if (number == SIGKILL && getenv("SLUICE_FAULT_NO_KILL"))
        return 0;
    return real(pid, number);
}

/* This thread has read such a file, and dies after the next message: that it has begun. */
static __thread int poisoned;

static void look(const void *data, ssize_t size)
{
    const char *word = getenv("SLUICE_FAULT_POISON");
    if (size > 4096)
        size = 4096;
    if (word && size > 0 && strcmp(program_invocation_short_name, "sluice-worker") == 0 &&
        memmem(data, (size_t)size, word, strlen(word)))
        poisoned = 1;
}

ssize_t sendmsg(int fd, const struct msghdr *message, int flags)
{
    static ssize_t (*real)(int, const struct msghdr *, int);
    if (!real)
        real = (ssize_t(*)(int, const struct msghdr *, int))dlsym(RTLD_NEXT, "sendmsg");
    ssize_t sent = real(fd, message, flags);
    if (poisoned)
        raise(SIGSEGV);
    return sent;
}

ssize_t read(int fd, void *data, size_t size)
{
    static ssize_t (*real)(int, void *, size_t);
    if (!real)
        real = (ssize_t(*)(int, void *, size_t))dlsym(RTLD_NEXT, "read");
    ssize_t got = real(fd, data, size);
    look(data, got);
    return got;
}

ssize_t pread(int fd, void *data, size_t size, off_t at)
{
    static ssize_t (*real)(int, void *, size_t, off_t);
    if (!real)
        real = (ssize_t(*)(int, void *, size_t, off_t))dlsym(RTLD_NEXT, "pread");
    ssize_t got = real(fd, data, size, at);
    look(data, got);
    return got;
}

struct dirent *readdir(DIR *directory)
{
    static struct dirent *(*real)(DIR *);
    const char *path = getenv("SLUICE_FAULT_READDIR");
    char word[8] = "hang";
    int before = errno; /* which tells the end of a folder from an error */
    if (!real)
        real = (struct dirent * (*)(DIR *)) dlsym(RTLD_NEXT, "readdir");
    while (strcmp(word, "hang") == 0) {
        FILE *file = path ? fopen(path, "re") : NULL;
        errno = before;
        if (!file)
            return real(directory);
        if (fscanf(file, "%7s", word) != 1)
            word[0] = '\0';
        fclose(file);
        usleep(100000);
    }
    errno = EIO;
    return NULL;
}
