/* The front's side of receivers, the processes that receive clients' descriptors (receiver.h). Each
 * serves one user. They are started on demand, and killed and given up when they do not answer.
 *
 * What is to be closed while no receiver of its user has time goes to a bin, a receiver that only
 * holds descriptors, and closes them all by its end. So the front itself holds nothing of a user
 * whose descriptors hang, however many connections he makes: the kernel lets a user have no more
 * descriptors unread in sockets than he may open, and a bin has room for as many. All on the loop's
 * thread. */
#ifndef SLUICE_DAEMON_SERVE_RECEPTIONS_H
#define SLUICE_DAEMON_SERVE_RECEPTIONS_H

#include "daemon/serve/account.h"
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
    struct pace *pace;
    LIST_HEAD(, receiver) receivers;
    struct reception_list waiting; /* for a receiver of their user */
};

/* A reception: one order for a receiver, which receives a client's messages with descriptors. The
 * callbacks are called from the loop. */
struct reception_how {
    uid_t uid;
    int client_fd;             /* borrowed until `received`; with RECEIVER_CLOSE taken over */
    enum receiver_order order; /* RECEIVER_TAKE; or RECEIVER_CLOSE, which has no callbacks */
    /* A parcel has come. `fds` belong to the callee; −1: none. If its receipt says `to_copy` the
     * callee calls reception_copy or reception_drop before it returns. If it says neither that nor
     * `going_on` the reception is over, and its memory is freed when the callee returns. */
    void (*received)(struct reception *reception, const struct parcel *parcel, const int fds[2]);
    /* After reception_copy: the input is copied, or could not be. The reception is over. */
    void (*copied)(struct reception *reception, const struct receipt *receipt, const int fds[2]);
    /* The receiver does not answer, or has died. The reception is over. */
    void (*lost)(struct reception *reception, const struct fault *fault);
    void *user;
};

struct reception {
    struct reception_how how; /* callees may change `user` */
    struct receptions *all;
    struct receiver *receiver; /* NULL: it waits for one */
    TAILQ_ENTRY(reception) in_list;
};

void receptions_init(struct receptions *receptions, uv_loop_t *loop, struct pace *pace);

/* Kills all receivers, without waiting for them. No reception with callbacks may be left. */
void receptions_close(struct receptions *receptions);

/* FAULT_BUSY: so many receivers hang because of this user's descriptors that no more are started;
 * FAULT_MEMORY. */
int reception_start(struct reception **reception, struct receptions *all,
                    const struct reception_how *how, struct fault *fault);

/* From `received`, if the receipt says `to_copy`: has the input copied, or closed. After
 * reception_drop the reception is over. */
void reception_copy(struct reception *reception);
void reception_drop(struct reception *reception);

/* No callback follows. Takes NULL; clears the pointer. */
void reception_cancel(struct reception **reception);

/* Closes what may hang, in a receiver. Takes the descriptor over. */
void receptions_close_fd(struct receptions *receptions, uid_t uid, int fd);

/* Shuts a client's socket down and closes it: in a receiver if there are unread descriptors in it.
 * Takes the descriptor over. */
void receptions_close_client(struct receptions *receptions, uid_t uid, int fd);

/* The number of receivers of one user, or of all (NULL): of those that answer, or of those that
 * hang and were given up. */
unsigned receptions_count(const struct receptions *receptions, const uid_t *uid, bool hanging);

/* The number of descriptors that bins of a user, or of all (NULL), hold. */
unsigned receptions_binned(const struct receptions *receptions, const uid_t *uid);

#endif
