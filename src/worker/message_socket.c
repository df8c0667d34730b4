/* How messages go over a socket: bytes, and descriptors beside them. */
#include "worker/message.h"

#include <errno.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/number.h"

/* Buffer for the descriptors of a message; the union aligns it. */
union control {
    char bytes[CMSG_SPACE(MESSAGE_FDS_MAX * sizeof(int))];
    struct cmsghdr header;
};

int message_send_encoded(int socket, const struct text *json, const int *fds, size_t n_fds,
                         struct fault *fault)
{
    union control control = {{0}};
    struct iovec bytes = {json->data, json->length};
    struct msghdr header = {.msg_iov = &bytes, .msg_iovlen = 1};
    if (n_fds > MESSAGE_FDS_MAX)
        return fault_set(fault, FAULT_INTERNAL, "%zu descriptors in one message", n_fds);
    if (n_fds > 0) {
        header.msg_control = control.bytes;
        header.msg_controllen = CMSG_SPACE(n_fds * sizeof(int));
        struct cmsghdr *rights = CMSG_FIRSTHDR(&header);
        rights->cmsg_level = SOL_SOCKET;
        rights->cmsg_type = SCM_RIGHTS;
        rights->cmsg_len = CMSG_LEN(n_fds * sizeof(int));
        memcpy(CMSG_DATA(rights), fds, n_fds * sizeof(int));
    }
    ssize_t sent;
    do
        sent = sendmsg(socket, &header, MSG_NOSIGNAL);
    while (sent < 0 && errno == EINTR);
    if (sent >= 0)
        return 0;
    bool full = errno == EAGAIN || errno == EWOULDBLOCK || errno == ENOBUFS ||
                errno == ETOOMANYREFS; /* too many descriptors are in flight already */
    return fault_set(fault, full ? FAULT_BUSY : FAULT_IO, "sendmsg: %s", strerror(errno));
}

/* Takes the descriptors out of what recvmsg returned. Those for which there is no room are closed.
 */
static size_t take_rights(struct msghdr *header, int *fds)
{
    size_t count = 0;
    for (struct cmsghdr *c = CMSG_FIRSTHDR(header); c; c = CMSG_NXTHDR(header, c)) {
        if (c->cmsg_level != SOL_SOCKET || c->cmsg_type != SCM_RIGHTS)
            continue;
        size_t n = (c->cmsg_len - CMSG_LEN(0)) / sizeof(int);
        for (size_t i = 0; i < n; i++) {
            int fd;
            memcpy(&fd, CMSG_DATA(c) + i * sizeof fd, sizeof fd);
            if (count < MESSAGE_FDS_MAX)
                fds[count++] = fd;
            else
                close(fd);
        }
    }
    return count;
}

static ssize_t receive_bytes(int socket, struct msghdr *header)
{
    ssize_t got;
    /* an error of the socket is reported once, before messages still in the queue */
    bool reset = false;
    do
        got = recvmsg(socket, header, MSG_CMSG_CLOEXEC);
    while (got < 0 && (errno == EINTR || (errno == ECONNRESET && !reset && (reset = true))));
    return got;
}

int message_receive_bytes(int socket, char *buffer, size_t *size, int fds[MESSAGE_FDS_MAX],
                          size_t *n_fds, struct fault *fault)
{
    union control control;
    size_t room = *size;
    struct iovec bytes = {buffer, room};
    struct msghdr header = {.msg_iov = &bytes,
                            .msg_iovlen = 1,
                            .msg_control = control.bytes,
                            .msg_controllen = sizeof control.bytes};
    *size = *n_fds = 0;
    ssize_t got = receive_bytes(socket, &header);
    if (got < 0 && (errno == EAGAIN || errno == EWOULDBLOCK))
        return fault_set(fault, FAULT_BUSY, "no message yet");
    if (got < 0 && errno != ECONNRESET)
        return fault_set(fault, FAULT_IO, "recvmsg: %s", strerror(errno));
    if (got < 0)
        return fault_set(fault, FAULT_NO_INPUT, "the other side has closed");
    *size = (size_t)got;
    *n_fds = take_rights(&header, fds);
    if (got > 0 && !(header.msg_flags & (MSG_TRUNC | MSG_CTRUNC)))
        return 0;
    bool empty = *n_fds > 0 && got == 0; /* otherwise it is the end of file */
    while (*n_fds > 0)
        close(fds[--*n_fds]);
    if (got == 0)
        return empty ? fault_set(fault, FAULT_DATA, "an empty message")
                     : fault_set(fault, FAULT_NO_INPUT, "the other side has closed");
    if (header.msg_flags & MSG_TRUNC)
        return fault_set(fault, FAULT_DATA, "a message of more than %s", number_size(room));
    return fault_set(fault, FAULT_DATA, "a message with more than %d descriptors", MESSAGE_FDS_MAX);
}
