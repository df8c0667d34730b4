/* Bytes of an HTTP client through libmicrohttpd and the real handlers, over a Unix socket. The
 * first byte says in how many pieces they come, and whether the client reads the answers, goes on
 * sending after its requests, or leaves at once. Whatever it does, all that is answered is HTTP,
 * and nothing of it is left when it has gone. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "daemon/serve/http.h"
#include "front.h"
#include "fuzz.h"

#define TURNS_MAX 400

static struct fuzz_front front;
static struct http *http;
static bool answered; /* this client: what follows may begin within an answer */
static struct sockaddr_un address = {.sun_family = AF_UNIX};

static void remove_socket(void)
{
    unlink(address.sun_path);
}

static void start(void)
{
    struct fault fault = FAULT_INIT;
    snprintf(address.sun_path, sizeof address.sun_path, "/tmp/fuzz-http-%d", (int)getpid());
    struct socket_settings settings = {.unix_path = address.sun_path};
    front_begin(&front, false);
    if (http_open(&http, &front.service, &settings, &fault) != 0)
        fuzz_fail("no socket: %s", fault.text);
    atexit(remove_socket);
}

/* What was read so far begins like an answer. */
static void check_answer(const char *answer, size_t length)
{
    static const char begin[] = "HTTP/1.";
    size_t compared = length < sizeof begin - 1 ? length : sizeof begin - 1;
    if (memcmp(answer, begin, compared) != 0)
        fuzz_fail("an answer begins with '%.*s'", (int)length, answer);
}

/* False: the daemon has closed the connection. */
static bool read_answers(int fd)
{
    static char buffer[65536];
    ssize_t got = recv(fd, buffer, sizeof buffer, MSG_DONTWAIT);
    if (got > 0 && !answered)
        check_answer(buffer, (size_t)got);
    answered |= got > 0;
    return got > 0 || (got < 0 && errno == EAGAIN);
}

static bool send_piece(int fd, const uint8_t *data, size_t size)
{
    while (size > 0) {
        ssize_t sent = send(fd, data, size, MSG_NOSIGNAL | MSG_DONTWAIT);
        if (sent < 0 && errno != EAGAIN)
            return false; /* it was refused and cut */
        if (sent > 0) {
            data += sent;
            size -= (size_t)sent;
        }
        front_turn(&front, 1);
    }
    return true;
}

static void visit(int fd, uint8_t how, const uint8_t *data, size_t size)
{
    size_t n_pieces = 1 + how % 4, at = 0;
    bool reads = how & 0x10, leaves = how & 0x20, stays = how & 0x40;
    for (size_t i = 0; i < n_pieces; i++) {
        size_t end = size * (i + 1) / n_pieces;
        if (!send_piece(fd, data + at, end - at))
            break;
        at = end;
        front_turn(&front, 2);
        if (reads)
            read_answers(fd);
    }
    if (leaves)
        return;
    if (!stays)
        shutdown(fd, SHUT_WR);
    for (int i = 0; i < TURNS_MAX / 8 && read_answers(fd); i++)
        front_turn(&front, 8);
}

void fuzz_one(const uint8_t *data, size_t size)
{
    struct reader_of_bytes bytes = {data, size};
    if (!http)
        start();
    int before = front_next_fd();
    uint8_t how = fuzz_take_byte(&bytes);
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (fd < 0 || connect(fd, (struct sockaddr *)&address, sizeof address) != 0)
        fuzz_fail("the daemon takes no connection: %s", strerror(errno));
    front_turn(&front, 2);
    answered = false;
    visit(fd, how, bytes.data, bytes.size);
    close(fd);
    for (int i = 0; i < TURNS_MAX && (!LIST_EMPTY(&http->connections) || !front_is_empty(&front));
         i++)
        front_turn(&front, 1);
    if (!LIST_EMPTY(&http->connections) || http->n_requests > 0)
        fuzz_fail("a connection is left of a client that has gone");
    if (!front_is_empty(&front))
        fuzz_fail("something is left of a client that has gone");
    if (front_next_fd() != before)
        fuzz_fail("a descriptor is left");
}
