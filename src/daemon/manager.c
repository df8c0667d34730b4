#include "daemon/manager.h"

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/un.h>
#include <unistd.h>

#include "base/log.h"

#define FIRST_FD    3 /* of those handed over */
#define SOCKETS_MAX 16

static struct sockaddr_un notify_address;
static socklen_t notify_length; /* 0: nobody listens */
static int notify_fd = -1;
static uint64_t watchdog;
static int sockets[SOCKETS_MAX];
static size_t n_sockets;

static bool number(const char *name, unsigned long long *value)
{
    const char *text = getenv(name);
    char *end;
    if (!text || text[0] < '0' || text[0] > '9')
        return false;
    errno = 0;
    *value = strtoull(text, &end, 10);
    return errno == 0 && *end == '\0';
}

/* A path, or with '@' in front a name in the abstract namespace. */
static void find_notify(void)
{
    const char *path = getenv("NOTIFY_SOCKET");
    size_t length = path ? strlen(path) : 0;
    struct timeval patience = {.tv_sec = 1};
    if (length < 2 || length >= sizeof notify_address.sun_path || !strchr("/@", path[0]))
        return;
    notify_fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    if (notify_fd < 0)
        return;
    setsockopt(notify_fd, SOL_SOCKET, SO_SNDTIMEO, &patience, sizeof patience);
    notify_address.sun_family = AF_UNIX;
    memcpy(notify_address.sun_path, path, length);
    if (path[0] == '@')
        notify_address.sun_path[0] = '\0';
    notify_length = (socklen_t)(offsetof(struct sockaddr_un, sun_path) + length);
}

static void find_watchdog(void)
{
    unsigned long long microseconds, pid;
    if (number("WATCHDOG_PID", &pid) && pid != (unsigned long long)getpid())
        return;
    if (notify_length > 0 && number("WATCHDOG_USEC", &microseconds) &&
        microseconds < UINT64_MAX / 1000)
        watchdog = microseconds * 1000;
}

static void find_sockets(void)
{
    unsigned long long pid, count;
    if (!number("LISTEN_PID", &pid) || pid != (unsigned long long)getpid() ||
        !number("LISTEN_FDS", &count))
        return;
    for (unsigned long long i = 0; i < count && i < SOCKETS_MAX; i++) {
        int fd = FIRST_FD + (int)i;
        if (fcntl(fd, F_SETFD, FD_CLOEXEC) == 0)
            sockets[n_sockets++] = fd;
    }
}

void manager_init(void)
{
    static const char *const ours[] = {"NOTIFY_SOCKET", "WATCHDOG_PID", "WATCHDOG_USEC",
                                       "LISTEN_PID",    "LISTEN_FDS",   "LISTEN_FDNAMES"};
    find_sockets(); /* first: find_notify opens a descriptor */
    find_notify();
    find_watchdog();
    for (size_t i = 0; i < sizeof ours / sizeof *ours; i++)
        unsetenv(ours[i]);
}

bool manager_listens(void)
{
    return notify_length > 0;
}

uint64_t manager_watchdog(void)
{
    return watchdog;
}

void manager_say(const char *format, ...)
{
    char text[600];
    va_list args;
    if (notify_length == 0)
        return;
    va_start(args, format);
    int length = vsnprintf(text, sizeof text, format, args);
    va_end(args);
    if (length <= 0)
        return;
    if ((size_t)length >= sizeof text)
        length = sizeof text - 1;
    if (sendto(notify_fd, text, (size_t)length, MSG_NOSIGNAL,
               (const struct sockaddr *)&notify_address, notify_length) < 0)
        log_warning("the service manager is not told '%s': %s", text, strerror(errno));
}

static bool is_listener(int fd, int type, char *path, size_t size)
{
    struct sockaddr_un address;
    socklen_t length = sizeof address, option = sizeof(int);
    int is_type = 0, listens = 0;
    if (getsockopt(fd, SOL_SOCKET, SO_TYPE, &is_type, &option) != 0 || is_type != type ||
        getsockopt(fd, SOL_SOCKET, SO_ACCEPTCONN, &listens, &option) != 0 || !listens ||
        getsockname(fd, (struct sockaddr *)&address, &length) != 0 || address.sun_family != AF_UNIX)
        return false;
    size_t used = length - offsetof(struct sockaddr_un, sun_path);
    bool has_path = length > offsetof(struct sockaddr_un, sun_path) && address.sun_path[0];
    snprintf(path, size, "%.*s", has_path ? (int)used : 0, address.sun_path);
    return true;
}

static size_t find(int type, char *path, size_t size)
{
    size_t i = 0;
    while (i < n_sockets && (sockets[i] < 0 || !is_listener(sockets[i], type, path, size)))
        i++;
    return i;
}

bool manager_has_socket(int type)
{
    char path[sizeof notify_address.sun_path + 1];
    return find(type, path, sizeof path) < n_sockets;
}

int manager_take_socket(int type, char *path, size_t size)
{
    size_t i = find(type, path, size);
    if (i == n_sockets)
        return -1;
    int fd = sockets[i];
    sockets[i] = -1;
    fcntl(fd, F_SETFL, fcntl(fd, F_GETFL) | O_NONBLOCK);
    return fd;
}

void manager_drop_sockets(void)
{
    for (size_t i = 0; i < n_sockets; i++) {
        if (sockets[i] < 0)
            continue;
        log_warning("descriptor %d of the service manager is no socket that is of use here",
                    sockets[i]);
        close(sockets[i]);
    }
    n_sockets = 0;
}
