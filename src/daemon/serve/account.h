/* What users share, and how much each may have of it: places for connections and jobs, memory for
 * inputs and results, and the loop's time. Each user has an account; ids that a user may take on as
 * he likes count as his. All on the loop's thread. */
#ifndef SLUICE_DAEMON_SERVE_ACCOUNT_H
#define SLUICE_DAEMON_SERVE_ACCOUNT_H

#include "base/fault.h"
#include "daemon/work/queue.h"
#include <stdbool.h>
#include <stdint.h>
#include <sys/queue.h>
#include <sys/types.h>
#include <time.h>
#include <uv.h>

/* ---- who counts as whom ---- */

/* A range of subordinate ids (subuid(5)), which a user may take on as he likes, counts as its
 * owner, so that shares by user cannot be had many times over. */
struct owner_range {
    uint32_t start, count;
    uid_t owner; /* where the owner is not in the file of users: the range's first id */
};

struct owners {
    const char *ranges_file, *users_file; /* as /etc/subuid and /etc/passwd */

    struct owner_range *ranges; /* owned */
    size_t n_ranges;
    struct timespec changed; /* when ranges_file was last written, as far as it is known here */
    uint64_t looked;         /* monotonic nanoseconds */
};

/* The user who counts for this id: the owner of the range that it is in, or itself. Files are read
 * again when they have changed, which is looked at once a second at most; users of other sources
 * than users_file are not asked for, since such a question may hang. */
uid_t owner_of(struct owners *owners, uid_t uid);

void owners_finish(struct owners *owners);

/* ---- the loop's time ---- */

/* What clients ask for is done in turns of the loop, a few milliseconds in each, and what does not
 * fit goes on in later turns, users after one another. So nobody's messages, however many, keep the
 * loop from others, timers and the watchdog. */

/* Something that waits for its turn: a connection, in the list of its user. */
struct pace_entry {
    void (*run)(struct pace_entry *entry); /* called from the loop; it waits no more then */
    struct pace_user *user;                /* while it waits; NULL: it does not */
    TAILQ_ENTRY(pace_entry) next;
};

struct pace_user {
    TAILQ_HEAD(, pace_entry) entries;
    TAILQ_ENTRY(pace_user) next; /* while there are entries */
};

struct pace {
    TAILQ_HEAD(, pace_user) users; /* who have entries, in their turn */
    uint64_t spent;                /* nanoseconds of this turn */
    uint64_t since;                /* when the work began that is under way; 0: none is */
    uv_check_t check; /* runs in turns in which there was work, or somebody waits */
    uv_idle_t idle; /* keeps the loop from sleeping while somebody waits */
};

void pace_init(struct pace *pace, uv_loop_t *loop);
/* Closes the handles; the loop must run once more. */
void pace_close(struct pace *pace);

/* True: it may be done now. False: `run` is called in a later turn. */
bool pace_enter(struct pace *pace, struct pace_user *user, struct pace_entry *entry);

/* It is not to be called any more. Takes an entry that does not wait, too. */
void pace_leave(struct pace *pace, struct pace_entry *entry);

/* Work for clients begins, and ends; its time is of this turn. */
void pace_begin(struct pace *pace);
void pace_end(struct pace *pace);

/* True when this turn's time is over: what is left waits for the next one. */
bool pace_is_over(const struct pace *pace);

/* ---- accounts ---- */

enum service_socket {
    SERVICE_HTTP, /* a byte stream */
    SERVICE_JOBS, /* of packets */
    SERVICE_SOCKETS
};

/* How much one user has of what all users share. Freed when nobody uses it any more. */
struct account {
    uid_t uid;
    uint64_t bytes;   /* size of inputs, and of results that are not read yet */
    uint64_t results; /* the results' part of that */
    unsigned n_jobs;  /* in the queue */
    unsigned n_connections[SERVICE_SOCKETS];
    struct job_flow flow;  /* slots of the workers */
    struct pace_user pace; /* the loop's time */
    unsigned n_uses;
    LIST_ENTRY(account) in_list;
};

struct shares {
    const struct queue *queue;
    uint64_t memory;    /* of results that are not read, one user may have half */
    uint64_t bytes_max; /* of inputs and results of clients' jobs, … */
    uint64_t bytes;     /* … and how many there are */
    unsigned n_connections[SERVICE_SOCKETS];
    LIST_HEAD(, account) accounts;
    struct owners owners;
    struct pace pace;
};

/* The caller sets the queue first, and `memory` and `bytes_max`, which may change later. */
void shares_init(struct shares *shares, uv_loop_t *loop);
/* The loop must run once more. */
void shares_finish(struct shares *shares);

/* The account of a user, with a reference counted for the caller. NULL without memory. */
struct account *account_of(struct shares *shares, uid_t uid);
/* Gives a reference back. Takes NULL. */
void account_leave(struct account *account);

/* How much of `total` one user may have while others have `others` of it: half of what they leave,
 * so that whoever comes next finds some. */
static inline uint64_t account_share(uint64_t total, uint64_t others)
{
    return total > others ? (total - others) / 2 : 0;
}

/* Counts `bytes` more for an input for which `own` bytes are counted already. False when the user's
 * share, or the total, is used up. account_give gives them back. */
bool account_take(struct shares *shares, struct account *account, uint64_t own, uint64_t bytes);
void account_give(struct shares *shares, struct account *account, uint64_t bytes);

/* A result counts until its client has read it: by so many bytes more or, if negative, less. */
void account_count_result(struct shares *shares, struct account *account, int64_t bytes);

/* FAULT_BUSY: unread results use up the user's share. */
int account_check_results(const struct shares *shares, const struct account *account,
                          struct fault *fault);

/* FAULT_BUSY: the queue has no room for a job of this user. */
int account_check_queue(const struct shares *shares, const struct account *account,
                        struct fault *fault);

#endif
