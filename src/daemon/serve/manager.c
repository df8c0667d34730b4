#include "daemon/serve/manager.h"

#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "base/log.h"

#ifdef SLUICE_SYSTEMD
#include <systemd/sd-daemon.h>
#else /* as these answer where there is no manager */
#define SD_LISTEN_FDS_START                                  3
#define sd_listen_fds(unset)                                 0
#define sd_watchdog_enabled(unset, microseconds)             0
#define sd_notify(unset, text)                               0
#define sd_is_socket_unix(fd, type, listening, path, length) ((void)(type), 0)
#endif

#define SOCKETS_MAX 16

static uint64_t watchdog;
static int sockets[SOCKETS_MAX];
static size_t n_sockets;
static bool gave_sockets;

void manager_init(void)
{
    uint64_t microseconds;
    int count = sd_listen_fds(1);
    for (int i = 0; i < count && i < SOCKETS_MAX; i++)
        sockets[n_sockets++] = SD_LISTEN_FDS_START + i;
    gave_sockets = manager_has_socket(SOCK_STREAM) || manager_has_socket(SOCK_SEQPACKET);
    if (sd_watchdog_enabled(1, &microseconds) > 0 && microseconds < UINT64_MAX / 1000)
        watchdog = microseconds * 1000;
}

bool manager_listens(void)
{
    return getenv("NOTIFY_SOCKET") != NULL;
}

uint64_t manager_watchdog(void)
{
    return manager_listens() ? watchdog : 0;
}

void manager_say(const char *format, ...)
{
    char text[600];
    va_list args;
    if (!manager_listens())
        return;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    int result = sd_notify(0, text);
    if (result < 0)
        log_warning("the service manager is not told '%s': %s", text, strerror(-result));
}

static size_t find(int type)
{
    size_t i = 0;
    while (i < n_sockets &&
           (sockets[i] < 0 || sd_is_socket_unix(sockets[i], type, 1, NULL, 0) <= 0))
        i++;
    return i;
}

bool manager_has_socket(int type)
{
    return find(type) < n_sockets;
}

bool manager_gave_sockets(void)
{
    return gave_sockets;
}

int manager_take_socket(int type, char *path, size_t size)
{
    struct sockaddr_un address = {0};
    socklen_t length = sizeof address;
    size_t i = find(type);
    if (i == n_sockets)
        return -1;
    int fd = sockets[i];
    sockets[i] = -1;
    getsockname(fd, (struct sockaddr *)&address, &length); /* an unbound socket has no path */
    snprintf(path, size, "%.*s", (int)sizeof address.sun_path, address.sun_path);
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
