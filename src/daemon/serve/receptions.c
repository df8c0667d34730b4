#include "daemon/serve/receptions.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/log.h"
#include "daemon/work/closing.h"

#define RECEIPTS_A_TURN 16
/* In milliseconds. */
#define ANSWER_TIME 10000 /* until a receiver must have answered */
#define IDLE_TIME   2000  /* after which a receiver without work ends */
#define SPARE_TIME  200   /* the same if there is another idle one of the same user */

/* Receivers of one user. */
#define AT_WORK_MAX   16 /* that do not hang */
#define STAYING_MAX   8  /* of these, up to which a new order is RECEIVER_STAY */
#define ABANDONED_MAX 16 /* that hang */
#define BINS_MAX      4  /* further ones that only hold, and those of them that hang at their end */

#define BIN_TIME 2000 /* milliseconds until a bin ends, or later if as many hang as may */

enum receiver_state {
    RECEIVER_IDLE,
    RECEIVER_AT_WORK,
    RECEIVER_HOLDING,   /* waits for RECEIVER_COPY or RECEIVER_DROP */
    RECEIVER_BIN,       /* holds descriptors, and closes them by its end */
    RECEIVER_ABANDONED, /* killed, or a bin that ends; it may hang in the kernel and not die */
};

struct receiver {
    struct receptions *all;
    uid_t uid;
    enum receiver_state state;
    struct reception *reception; /* NULL: none, or it was cancelled */
    uv_process_t process;
    uv_poll_t poll;
    uv_timer_t timer;
    int socket;         /* −1 once it is given up */
    unsigned n_binned;  /* descriptors that a bin holds */
    unsigned n_handles; /* of libuv that are not closed yet */
    LIST_ENTRY(receiver) in_list;
};

/* ---- life of a process ---- */

static void on_closed(uv_handle_t *handle)
{
    struct receiver *receiver = handle->data;
    if (--receiver->n_handles == 0)
        free(receiver);
}

/* Closes the socket, so that the process ends by itself, if it can. */
static void hang_up(struct receiver *receiver)
{
    if (receiver->socket < 0)
        return;
    uv_close((uv_handle_t *)&receiver->poll, on_closed);
    uv_close((uv_handle_t *)&receiver->timer, on_closed);
    close(receiver->socket);
    receiver->socket = -1;
}

static void forget(struct receiver *receiver)
{
    LIST_REMOVE(receiver, in_list);
    hang_up(receiver);
    uv_close((uv_handle_t *)&receiver->process, on_closed);
}

static void start_waiting(struct receptions *all);

/* Gives up a receiver and its reception. */
static void abandon(struct receiver *receiver, const char *why)
{
    struct reception *reception = receiver->reception;
    struct fault fault = FAULT_INIT;
    receiver->reception = NULL;
    receiver->state = RECEIVER_ABANDONED;
    hang_up(receiver);
    uv_process_kill(&receiver->process, SIGKILL);
    if (!reception)
        return;
    fault_set(&fault, FAULT_IO, "%s", why);
    if (reception->how.lost)
        reception->how.lost(reception, &fault);
    free(reception);
}

static void on_exit_of_process(uv_process_t *process, int64_t status, int number)
{
    struct receiver *receiver = process->data;
    struct receptions *all = receiver->all;
    if (uv_is_closing((uv_handle_t *)process))
        return; /* libuv reports several ends together, and a callback has closed everything */
    if (receiver->state != RECEIVER_ABANDONED && receiver->socket >= 0)
        abandon(receiver, "the process that receives descriptors has died");
    forget(receiver);
    start_waiting(all);
}

static void on_timer(uv_timer_t *timer)
{
    struct receiver *receiver = timer->data;
    struct receptions *all = receiver->all;
    bool full = receptions_count(all, &receiver->uid, true) >= ABANDONED_MAX;
    if (receiver->state == RECEIVER_BIN && full) {
        uv_timer_start(timer, on_timer, BIN_TIME, 0);
        return;
    }
    if (receiver->state == RECEIVER_IDLE || receiver->state == RECEIVER_BIN) {
        hang_up(receiver); /* → on_exit_of_process */
        receiver->state = RECEIVER_ABANDONED;
        return;
    }
    log_warning("descriptors of user %u do not answer: the process that received them is given up",
                (unsigned)receiver->uid);
    abandon(receiver, "the descriptors' file system does not answer");
    start_waiting(all);
}

static void on_socket(uv_poll_t *poll, int status, int events);

static int start_receiver(struct receiver **receiver, struct receptions *all, uid_t uid,
                          struct fault *fault)
{
    char name[] = RECEIVER_NAME, argument[] = RECEIVER_ARGUMENT;
    char *args[] = {name, argument, NULL};
    const char *file = getenv("SLUICE_RECEIVER");
    int sockets[2];
    struct receiver *r = calloc(1, sizeof *r);
    if (!r)
        return fault_set(fault, FAULT_MEMORY, "no memory for a message with descriptors");
    if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, sockets) != 0 ||
        fcntl(sockets[0], F_SETFL, O_NONBLOCK) != 0) {
        free(r);
        return fault_set_errno(fault, FAULT_MEMORY, "socketpair");
    }
    *r = (struct receiver){.all = all, .uid = uid, .socket = -1};
    uv_stdio_container_t stdio[RECEIVER_FD + 1] = {
        {.flags = UV_IGNORE},
        {.flags = UV_IGNORE},
        {.flags = UV_INHERIT_FD, .data.fd = STDERR_FILENO},
        {.flags = UV_INHERIT_FD, .data.fd = sockets[1]},
    };
    /* Not by its path, at which an update may have put another program. */
    uv_process_options_t options = {.exit_cb = on_exit_of_process,
                                    .file = file ? file : "/proc/self/exe",
                                    .args = args,
                                    .stdio_count = RECEIVER_FD + 1,
                                    .stdio = stdio};
    r->process.data = r;
    r->n_handles++;
    int error = uv_spawn(all->loop, &r->process, &options);
    if (error < 0)
        uv_close((uv_handle_t *)&r->process, on_closed);
    close(sockets[1]);
    if (error == 0 && (error = uv_poll_init(all->loop, &r->poll, sockets[0])) != 0) {
        LIST_INSERT_HEAD(&all->receivers, r, in_list);
        r->state = RECEIVER_ABANDONED; /* it ends by itself → on_exit_of_process */
    }
    if (error != 0) {
        close(sockets[0]);
        return fault_set(fault, FAULT_MEMORY, "no process that receives descriptors: %s",
                         uv_strerror(error));
    }
    r->socket = sockets[0];
    uv_timer_init(all->loop, &r->timer);
    r->poll.data = r->timer.data = r;
    r->n_handles += 2;
    uv_poll_start(&r->poll, UV_READABLE, on_socket);
    LIST_INSERT_HEAD(&all->receivers, r, in_list);
    *receiver = r;
    return 0;
}

/* ---- orders and receipts ---- */

static void give_order(struct receiver *receiver, enum receiver_order order, int fd)
{
    char byte = (char)order;
    struct text text = {.data = &byte, .length = 1};
    struct fault fault = FAULT_INIT;
    receiver->state = RECEIVER_AT_WORK;
    uv_timer_start(&receiver->timer, on_timer, ANSWER_TIME, 0);
    if (message_send_encoded(receiver->socket, &text, &fd, fd >= 0, &fault) != 0)
        uv_timer_start(&receiver->timer, on_timer, 0, 0);
}

static void close_both(const struct receptions *all, const int fds[2])
{
    for (int i = 0; i < 2; i++)
        closing_take(all->loop, &(int){fds[i]});
}

/* Receives a parcel, and does with it what its reception says. False if there is none, or none
 * follows: the receiver is idle or has died. */
static bool receive_one(struct receiver *receiver)
{
    static struct parcel parcel; /* used by the loop's thread only */
    const struct receipt *receipt = &parcel.receipt;
    struct receptions *all = receiver->all;
    struct reception *reception = receiver->reception;
    struct fault fault = FAULT_INIT;
    int fds[MESSAGE_FDS_MAX] = {-1, -1};
    size_t size = sizeof parcel, n_fds;
    int result =
        message_receive_bytes(receiver->socket, (char *)&parcel, &size, fds, &n_fds, &fault);
    for (size_t i = n_fds; i < MESSAGE_FDS_MAX; i++)
        fds[i] = -1;
    if (result == FAULT_BUSY)
        return false;
    if (result != 0 || size < sizeof *receipt || size != sizeof *receipt + receipt->length) {
        close_both(all, fds);
        abandon(receiver, "the process that receives descriptors has died");
        start_waiting(all);
        return false;
    }

    /* Another one follows. */
    bool takes = reception && reception->how.order == RECEIVER_TAKE;
    uv_timer_stop(&receiver->timer);
    if (!reception)
        close_both(all, fds);
    if (receipt->going_on) {
        uv_timer_start(&receiver->timer, on_timer, ANSWER_TIME, 0);
        if (takes)
            reception->how.received(reception, &parcel, fds);
        return receiver->state == RECEIVER_AT_WORK;
    }

    /* It waits for an order about the input. */
    if (receipt->to_copy) {
        receiver->state = RECEIVER_HOLDING;
        if (reception)
            reception->how.received(reception, &parcel, fds);
        else
            give_order(receiver, RECEIVER_DROP, -1);
        return receiver->state == RECEIVER_AT_WORK;
    }

    /* Its order is done. */
    const struct receiver *other;
    bool superfluous = false;
    receiver->reception = NULL;
    receiver->state = RECEIVER_IDLE;
    LIST_FOREACH (other, &all->receivers, in_list)
        superfluous |=
            other != receiver && other->uid == receiver->uid && other->state == RECEIVER_IDLE;
    uv_timer_start(&receiver->timer, on_timer, superfluous ? SPARE_TIME : IDLE_TIME, 0);
    if (takes)
        reception->how.received(reception, &parcel, fds);
    else if (reception && reception->how.order == RECEIVER_COPY)
        reception->how.copied(reception, receipt, fds);
    free(reception);
    start_waiting(all);
    return receiver->state == RECEIVER_AT_WORK;
}

static void on_socket(uv_poll_t *poll, int status, int events)
{
    struct receiver *receiver = poll->data;
    if (events & UV_WRITABLE) { /* a bin that had no room */
        uv_poll_start(poll, UV_READABLE, on_socket);
        start_waiting(receiver->all);
        return;
    }
    struct pace *pace = receiver->all->pace;
    bool more = true;
    pace_begin(pace);
    for (int i = 0; more && i < RECEIPTS_A_TURN && (i == 0 || !pace_is_over(pace)); i++)
        more = receive_one(receiver);
    pace_end(pace);
}

/* ---- receptions ---- */

unsigned receptions_count(const struct receptions *receptions, const uid_t *uid, bool hanging)
{
    const struct receiver *receiver;
    unsigned n = 0;
    LIST_FOREACH (receiver, &receptions->receivers, in_list)
        n += (!uid || receiver->uid == *uid) && receiver->state != RECEIVER_BIN &&
             (receiver->state == RECEIVER_ABANDONED) == hanging;
    return n;
}

unsigned receptions_binned(const struct receptions *receptions, const uid_t *uid)
{
    const struct receiver *receiver;
    unsigned n = 0;
    LIST_FOREACH (receiver, &receptions->receivers, in_list)
        if (receiver->state == RECEIVER_BIN && (!uid || receiver->uid == *uid))
            n += receiver->n_binned;
    return n;
}

/* Gives a descriptor to its user's bin. False if it has to wait until there is room. */
static bool put_in_bin(struct receptions *all, const struct reception_how *how)
{
    static const char keep = RECEIVER_KEEP;
    struct text order = {.data = (char *)(uintptr_t)&keep, .length = 1};
    struct fault fault = FAULT_INIT;
    struct receiver *bin = LIST_FIRST(&all->receivers);
    while (bin && (bin->uid != how->uid || bin->state != RECEIVER_BIN))
        bin = LIST_NEXT(bin, in_list);
    if (!bin) {
        if (receptions_count(all, &how->uid, true) >= ABANDONED_MAX + BINS_MAX ||
            start_receiver(&bin, all, how->uid, &fault) != 0)
            return false;
        bin->state = RECEIVER_BIN;
        uv_timer_start(&bin->timer, on_timer, BIN_TIME, 0);
        log_warning("descriptors of user %u take all of that user's receivers: what is left of his "
                    "connections is put aside",
                    (unsigned)how->uid);
    }
    int result = message_send_encoded(bin->socket, &order, &how->client_fd, 1, &fault);
    if (result == FAULT_BUSY)
        uv_poll_start(&bin->poll, UV_READABLE | UV_WRITABLE, on_socket);
    if (result != 0)
        return false; /* of another fault: it has ended, which its socket tells next */
    bin->n_binned++;
    return true;
}

/* Gives a reception to a receiver. False if it has to wait for one, or, with a fault, if it is
 * refused. RECEIVER_CLOSE always waits. */
static bool assign(struct reception *reception, struct fault *fault)
{
    struct receptions *all = reception->all;
    const struct reception_how *how = &reception->how;
    struct receiver *receiver = NULL;
    bool hanging = receptions_count(all, &how->uid, true) >= ABANDONED_MAX;
    if (hanging && how->order == RECEIVER_TAKE)
        fault_set(fault, FAULT_BUSY,
                  "descriptors of this user keep %d processes waiting: no more are received until "
                  "one of them answers",
                  ABANDONED_MAX);
    if (!hanging)
        receiver = LIST_FIRST(&all->receivers);
    while (receiver && (receiver->uid != how->uid || receiver->state != RECEIVER_IDLE))
        receiver = LIST_NEXT(receiver, in_list);
    if (!hanging && !receiver && receptions_count(all, &how->uid, false) < AT_WORK_MAX)
        start_receiver(&receiver, all, how->uid, fault);
    if (!receiver && how->order == RECEIVER_CLOSE && put_in_bin(all, how)) {
        close(how->client_fd); /* the bin has a copy, which it closes last */
        return true;
    }
    if (!receiver)
        return false;
    bool stay =
        how->order == RECEIVER_TAKE && receptions_count(all, &how->uid, false) <= STAYING_MAX;
    receiver->reception = reception;
    reception->receiver = receiver;
    give_order(receiver, stay ? RECEIVER_STAY : how->order, how->client_fd);
    if (how->order == RECEIVER_CLOSE)
        close(how->client_fd); /* the receiver has a copy, which it closes last */
    return true;
}

static void start_waiting(struct receptions *all)
{
    struct reception *reception, *next;
    for (reception = TAILQ_FIRST(&all->waiting); reception; reception = next) {
        struct fault fault = FAULT_INIT;
        next = TAILQ_NEXT(reception, in_list);
        bool assigned = assign(reception, &fault);
        bool lost = reception->how.lost && fault.code != FAULT_NONE;
        if (assigned || lost)
            TAILQ_REMOVE(&all->waiting, reception, in_list);
        if (lost)
            reception->how.lost(reception, &fault);
        if (lost || (assigned && !reception->receiver)) /* it is in a bin */
            free(reception);
    }
}

void receptions_init(struct receptions *receptions, uv_loop_t *loop, struct pace *pace)
{
    receptions->loop = loop;
    receptions->pace = pace;
    LIST_INIT(&receptions->receivers);
    TAILQ_INIT(&receptions->waiting);
}

void receptions_close(struct receptions *receptions)
{
    while (!LIST_EMPTY(&receptions->receivers)) {
        struct receiver *receiver = LIST_FIRST(&receptions->receivers);
        if (receiver->state != RECEIVER_ABANDONED)
            abandon(receiver, "the daemon is ending");
        forget(receiver);
    }
    while (!TAILQ_EMPTY(&receptions->waiting)) { /* RECEIVER_CLOSE; exiting closes their sockets */
        struct reception *reception = TAILQ_FIRST(&receptions->waiting);
        TAILQ_REMOVE(&receptions->waiting, reception, in_list);
        free(reception);
    }
}

int reception_start(struct reception **reception, struct receptions *all,
                    const struct reception_how *how, struct fault *fault)
{
    *reception = NULL;
    struct reception *r = calloc(1, sizeof *r);
    if (!r)
        return fault_set(fault, FAULT_MEMORY, "no memory for a message with descriptors");
    *r = (struct reception){.how = *how, .all = all};
    bool assigned = assign(r, fault);
    if (how->order == RECEIVER_TAKE && fault->code != FAULT_NONE) {
        free(r);
        return fault->code;
    }
    if (!assigned)
        TAILQ_INSERT_TAIL(&all->waiting, r, in_list);
    else if (!r->receiver) { /* it is in a bin */
        free(r);
        r = NULL;
    }
    *reception = r;
    return 0;
}

void reception_copy(struct reception *reception)
{
    reception->how.order = RECEIVER_COPY;
    give_order(reception->receiver, RECEIVER_COPY, -1);
}

void reception_drop(struct reception *reception)
{
    reception->receiver->reception = NULL;
    give_order(reception->receiver, RECEIVER_DROP, -1);
    free(reception);
}

void reception_cancel(struct reception **reception)
{
    struct reception *r = *reception;
    *reception = NULL;
    if (!r)
        return;
    if (r->receiver)
        r->receiver->reception = NULL; /* take_parcel closes the descriptors that it passes on */
    else
        TAILQ_REMOVE(&r->all->waiting, r, in_list);
    free(r);
}

/* ---- clients' sockets ---- */

void receptions_close_fd(struct receptions *receptions, uid_t uid, int fd)
{
    struct fault fault = FAULT_INIT;
    struct reception *reception;
    struct reception_how how = {.uid = uid, .client_fd = fd, .order = RECEIVER_CLOSE};
    if (reception_start(&reception, receptions, &how, &fault) != 0)
        closing_take(receptions->loop, &fd);
}

/* Closing a socket also closes the descriptors unread in it, which may hang. An empty message looks
 * like the end; but while credentials are asked for, every message has them, as if they were
 * descriptors, and the end has none. */
void receptions_close_client(struct receptions *receptions, uid_t uid, int fd)
{
    char byte;
    enum message_head head;
    ssize_t got = 1;
    shutdown(fd, SHUT_RDWR); /* no more can come */
    while ((head = message_look(fd)) == MESSAGE_PLAIN &&
           (got > 0 || (setsockopt(fd, SOL_SOCKET, SO_PASSCRED, &(int){1}, sizeof(int)) == 0 &&
                        message_look(fd) == MESSAGE_DESCRIPTORS))) {
        setsockopt(fd, SOL_SOCKET, SO_PASSCRED, &(int){0}, sizeof(int));
        got = recv(fd, &byte, 1, MSG_DONTWAIT);
    }
    if (head == MESSAGE_PLAIN)
        close(fd);
    else
        receptions_close_fd(receptions, uid, fd);
}
