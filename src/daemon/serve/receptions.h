/* The front's side of the processes that receive strangers' descriptors (receiver.h): as many of a
 * user's as are needed at a time, started on demand, killed and abandoned when they do not answer.
 * All on the loop's thread. */
#ifndef SLUICE_DAEMON_SERVE_RECEPTIONS_H
#define SLUICE_DAEMON_SERVE_RECEPTIONS_H

#include "daemon/serve/receiver.h"
#include <stdbool.h>
#include <sys/queue.h>
#include <sys/types.h>
#include <uv.h>

struct receiver;
struct reception;

TAILQ_HEAD(reception_list, reception);

struct receptions {
    uv_loop_t *loop;
    LIST_HEAD(, receiver) receivers;
    struct reception_list waiting; /* for a receiver of their user's */
};

/* A client's message with descriptors, and what follows. Of its callbacks one is called at a time,
 * from the loop. */
struct reception_how {
    uid_t uid;
    int client_fd;             /* borrowed, until `received` */
    enum receiver_order order; /* RECEIVER_TAKE, or RECEIVER_BURY: then without callbacks */
    /* What came: `fds` are the callee's, −1 where there is none. Unless the receipt is going on, or
     * says to_copy, the reception is over, and its memory gone when the callee returns. Where it
     * says to_copy the callee answers with reception_copy or reception_drop, at once. */
    void (*received)(struct reception *reception, const struct parcel *parcel, const int fds[2]);
    /* After reception_copy. The reception is over. */
    void (*copied)(struct reception *reception, const struct receipt *receipt, const int fds[2]);
    /* The receiver did not answer, or has died. The reception is over. */
    void (*lost)(struct reception *reception, const struct fault *fault);
    void *user;
};

struct reception {
    struct reception_how how; /* `user` may be set anew by the callee */
    struct receptions *all;
    struct receiver *receiver; /* NULL: it waits for one */
    TAILQ_ENTRY(reception) in_list;
};

void receptions_init(struct receptions *receptions, uv_loop_t *loop);

/* Closes everything, waits for nobody. There are no receptions left. */
void receptions_close(struct receptions *receptions);

/* FAULT_BUSY: so many receivers hang of this user's descriptors that there are no more;
 * FAULT_MEMORY. */
int reception_start(struct reception **reception, struct receptions *all,
                    const struct reception_how *how, struct fault *fault);

void reception_copy(struct reception *reception);
void reception_drop(struct reception *reception);

/* Nobody wants it any more; no callback follows. Takes NULL; clears the pointer. */
void reception_cancel(struct reception **reception);

/* Shuts a client's socket down and closes it, here where it holds no unread descriptors, in a
 * receiver where it does. Takes the descriptor over. */
void receptions_bury(struct receptions *receptions, uid_t uid, int fd);

/* Processes that receive descriptors, of one user, or of all (NULL): those that are well, or those
 * that hang and were given up. */
unsigned receptions_count(const struct receptions *receptions, const uid_t *uid, bool hanging);

/* What stands at a socket's head, and stays there. Where there is nothing yet nothing may be read:
 * what comes meanwhile may have descriptors. */
enum reception_head {
    HEAD_NOTHING,
    HEAD_PLAIN, /* a message without descriptors, or the end */
    HEAD_DESCRIPTORS,
};
enum reception_head receptions_look(int fd);

#endif
