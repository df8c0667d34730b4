/* Clients of the jobs socket: messages with descriptors, received by real receivers. A message is a
 * byte that says which descriptors go with it, its bytes, and a newline; a newline more ends the
 * client's sending. All that is answered is JSON, and nothing is left of a client that has gone. */
#include <errno.h>
#include <fcntl.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "daemon/serve/jobs_socket.h"
#include "front.h"
#include "fuzz.h"
#include "receivers.h"

#define TURNS_MAX 1000

static struct fuzz_front front;
static struct jobs_socket *jobs;
static struct sockaddr_un address = {.sun_family = AF_UNIX};

static void remove_socket(void)
{
    unlink(address.sun_path);
}

static void turn(unsigned turns)
{
    for (unsigned i = 0; i < turns; i++) {
        front_turn(&front, 1);
        receivers_turn();
    }
}

static void start(void)
{
    struct fault fault = FAULT_INIT;
    snprintf(address.sun_path, sizeof address.sun_path, "/tmp/fuzz-jobs-%d", (int)getpid());
    struct socket_settings settings = {.unix_path = address.sun_path};
    front_begin(&front, false);
    if (jobs_socket_open(&jobs, &front.service, &settings, &fault) != 0)
        fuzz_fail("no socket: %s", fault.text);
    atexit(remove_socket);
}

/* Descriptors of all kinds that may be handed over. */
static int make_fd(unsigned kind)
{
    int both[2], fd = -1;
    switch (kind) {
    case 1: /* as a good client has it */
        fd = memfd_create("fuzz", MFD_CLOEXEC | MFD_ALLOW_SEALING);
        (void)!write(fd, "P5 1 1 255\n.", 12);
        fcntl(fd, F_ADD_SEALS, F_SEAL_WRITE | F_SEAL_GROW | F_SEAL_SHRINK | F_SEAL_SEAL);
        break;
    case 2:
        fd = memfd_create("fuzz", MFD_CLOEXEC);
        (void)!write(fd, "P5 1 1 255\n.", 12);
        break;
    case 3:
        return open("/dev/null", O_RDWR | O_CLOEXEC);
    case 4:
        if (pipe2(both, O_CLOEXEC) == 0) {
            close(both[1]);
            return both[0];
        }
        break;
    case 5:
        return open("/", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    case 6:
        return open("/proc/self/exe", O_PATH | O_CLOEXEC);
    case 7:
        return socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    }
    return fd;
}

static void send_message(int client, uint8_t how, const char *text, size_t length)
{
    char control[CMSG_SPACE(2 * sizeof(int))] = {0};
    int fds[2] = {make_fd(how & 7), make_fd(how >> 3 & 7)};
    unsigned n_fds = fds[0] < 0 ? 0 : fds[1] < 0 ? 1 : 2;
    struct iovec bytes = {(void *)(uintptr_t)text, length};
    struct msghdr header = {.msg_iov = &bytes, .msg_iovlen = 1};
    if (n_fds > 0) {
        header.msg_control = control;
        header.msg_controllen = CMSG_SPACE(n_fds * sizeof(int));
        struct cmsghdr *rights = CMSG_FIRSTHDR(&header);
        rights->cmsg_level = SOL_SOCKET;
        rights->cmsg_type = SCM_RIGHTS;
        rights->cmsg_len = CMSG_LEN(n_fds * sizeof(int));
        memcpy(CMSG_DATA(rights), fds, n_fds * sizeof(int));
    }
    (void)!sendmsg(client, &header, MSG_NOSIGNAL | MSG_DONTWAIT);
    for (int i = 0; i < 2; i++)
        if (fds[i] >= 0)
            close(fds[i]);
}

/* False: the daemon has closed the connection. */
static bool read_answers(int client)
{
    static char buffer[MESSAGE_BYTES_MAX];
    ssize_t got;
    while ((got = recv(client, buffer, sizeof buffer, MSG_DONTWAIT)) > 0) {
        json_t *answer = json_loadb(buffer, (size_t)got, 0, NULL);
        if (!json_is_object(answer))
            fuzz_fail("an answer is '%.*s'", (int)got, buffer);
        json_decref(answer);
    }
    return got < 0 && errno == EAGAIN;
}

static bool waits(const struct jobs_socket *socket)
{
    const struct jobs_client *client = LIST_FIRST(&socket->clients);
    return client && (client->reception || client->n_requests > 0);
}

static void settle(int client)
{
    for (int i = 0; i < TURNS_MAX && read_answers(client) && waits(jobs); i++)
        turn(1);
}

static bool is_empty(void)
{
    return LIST_EMPTY(&jobs->clients) && jobs->n_requests == 0 && front_is_empty(&front);
}

void fuzz_one(const uint8_t *data, size_t size)
{
    struct reader_of_bytes bytes = {data, size};
    if (!jobs)
        start();
    int client = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
    if (client < 0 || connect(client, (struct sockaddr *)&address, sizeof address) != 0)
        fuzz_fail("the daemon takes no connection: %s", strerror(errno));
    turn(2);
    for (int i = 0; i < 16 && bytes.size > 0; i++) {
        uint8_t how = fuzz_take_byte(&bytes);
        size_t length;
        char *text = fuzz_take_text(&bytes, '\n', &length);
        send_message(client, how >= '@' ? how - '@' : 0, text, length);
        free(text);
        turn(1);
        if (how & 0x80)
            settle(client);
    }
    settle(client);
    close(client);
    for (int i = 0; i < 10 * TURNS_MAX && !is_empty(); i++) {
        turn(1);
        if (i > 100) /* every 250 ms the front looks whether a result was read */
            usleep(500);
    }
    if (!is_empty())
        fuzz_fail("of a client that has gone are left: %u requests, %u jobs of %u, %llu bytes",
                  jobs->n_requests, front.queue.n_client_jobs, front.queue.n_jobs,
                  (unsigned long long)front.service.shares.bytes);
}
