/* HTTP 1.0, whose answers end with the connection, so that no chunks have to be put together. */
#include "view/client.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "base/text.h"

#define WAIT_SECONDS 10
#define ANSWER_MAX   (64u << 20)
#define HEADER_MAX   16384

static int connect_to(const char *path, int *fd, struct fault *fault)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    struct timeval wait = {.tv_sec = WAIT_SECONDS};
    if (strlen(path) >= sizeof address.sun_path)
        return fault_set(fault, FAULT_USAGE, "the path of a socket has at most %zu bytes",
                         sizeof address.sun_path - 1);
    memcpy(address.sun_path, path, strlen(path) + 1);
    *fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (*fd < 0)
        return fault_set_errno(fault, FAULT_IO, "socket");
    setsockopt(*fd, SOL_SOCKET, SO_RCVTIMEO, &wait, sizeof wait);
    setsockopt(*fd, SOL_SOCKET, SO_SNDTIMEO, &wait, sizeof wait);
    if (connect(*fd, (struct sockaddr *)&address, sizeof address) == 0)
        return 0;
    int result = fault_set(fault, errno == EACCES ? FAULT_PERMISSION : FAULT_NO_DEVICE,
                           "no daemon answers at %s: %s", path, strerror(errno));
    file_close(fd);
    return result;
}

static int send_request(int fd, const char *method, const char *target, struct fault *fault)
{
    struct text request = {0};
    text_printf(&request, "%s %s HTTP/1.0\r\nHost: localhost\r\nContent-Length: 0\r\n\r\n", method,
                target);
    int result = request.failed ? fault_set(fault, FAULT_MEMORY, "no memory for a request") : 0;
    for (size_t at = 0; at < request.length && result == 0;) {
        ssize_t sent = send(fd, request.data + at, request.length - at, MSG_NOSIGNAL);
        if (sent <= 0)
            result = fault_set_errno(fault, FAULT_IO, "the daemon");
        else
            at += (size_t)sent;
    }
    text_finish(&request);
    return result;
}

/* Reads the header up to its end, and not beyond; a byte at a time, of which there are few. */
static int read_header(int fd, unsigned *status, struct fault *fault)
{
    char header[HEADER_MAX];
    size_t length = 0;
    while (length < 4 || memcmp(header + length - 4, "\r\n\r\n", 4) != 0) {
        if (length == sizeof header)
            return fault_set(fault, FAULT_IO, "the daemon's answer is no HTTP");
        ssize_t got = recv(fd, header + length, 1, 0);
        if (got <= 0)
            return fault_set(fault, FAULT_IO, "the daemon does not answer");
        length++;
    }
    header[length - 1] = '\0';
    if (sscanf(header, "HTTP/1.%*1[01] %3u", status) != 1)
        return fault_set(fault, FAULT_IO, "the daemon's answer is no HTTP");
    return 0;
}

static int ask(const char *socket_path, const char *method, const char *target, int *fd,
               unsigned *status, struct fault *fault)
{
    int result = connect_to(socket_path, fd, fault);
    if (result == 0)
        result = send_request(*fd, method, target, fault);
    if (result == 0)
        result = read_header(*fd, status, fault);
    if (result != 0)
        file_close(fd);
    return result;
}

int client_ask(const char *socket_path, const char *method, const char *target, unsigned *status,
               struct bytes *body, struct fault *fault)
{
    int fd = -1, result = ask(socket_path, method, target, &fd, status, fault);
    struct text text = {0};
    char piece[65536];
    ssize_t got = 1;
    while (result == 0 && got > 0) {
        got = recv(fd, piece, sizeof piece, 0);
        if (got < 0)
            result = fault_set_errno(fault, FAULT_IO, "the daemon's answer");
        else if (text.length + (size_t)got > ANSWER_MAX)
            result = fault_set(fault, FAULT_LIMIT, "the daemon's answer is too large");
        else
            text_append_bytes(&text, piece, (size_t)got);
    }
    if (result == 0 && text.failed)
        result = fault_set(fault, FAULT_MEMORY, "no memory for an answer");
    file_close(&fd);
    if (result != 0)
        text_finish(&text);
    *body = (struct bytes){(uint8_t *)text.data, text.length};
    return result;
}

int client_stream(const char *socket_path, const char *target, int *fd, struct fault *fault)
{
    unsigned status = 0;
    int result = ask(socket_path, "GET", target, fd, &status, fault);
    if (result == 0 && status != 200) {
        result = fault_set(fault, status == 404 ? FAULT_NO_INPUT : FAULT_IO,
                           "the daemon answers %u", status);
        file_close(fd);
    }
    return result;
}
