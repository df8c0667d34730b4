/* The loop's time, shared by users: what clients ask for is done in turns of the loop, a few
 * milliseconds in each, and what does not fit goes on in later turns, users after one another. So
 * nobody's messages, however many, keep the loop from others, timers and the watchdog. All on the
 * loop's thread. */
#ifndef SLUICE_DAEMON_SERVE_PACE_H
#define SLUICE_DAEMON_SERVE_PACE_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/queue.h>
#include <uv.h>

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
    uv_check_t check;
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

#endif
