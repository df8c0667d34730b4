/* Shared by inquiry.c and inquiry_list.c alone. */
#ifndef SLUICE_DAEMON_SERVE_INQUIRY_INTERNAL_H
#define SLUICE_DAEMON_SERVE_INQUIRY_INTERNAL_H

#include "daemon/serve/inquiry.h"
#include "daemon/spool/fate.h"
#include "daemon/spool/requeue.h"
#include "daemon/watch/folder.h"

/* A watched folder, and what of it stays while a thread looks at it. */
struct target {
    struct folder *folder; /* may be gone by the time that the loop has the answer */
    struct rulebook *book;
    const struct watch_settings *settings;
    struct spool *spool; /* NULL: its directories are gone, or do not answer */
};

/* Where in the list of all files a page begins or ends: folder by folder, in these parts. */
enum part {
    PART_LIVE,   /* by name */
    PART_FAILED, /* by name */
    PART_DONE,   /* by the ledger's number */
    PARTS
};

struct cursor {
    size_t target;
    enum part part;
    char key[PATH_MAX]; /* of the last one told; "": none yet */
};

struct inquiry {
    struct inquiries *all;
    enum inquiry_kind kind;
    char *asked;         /* the path as it was given; owned */
    char path[PATH_MAX]; /* … normal */
    const char *state;   /* a constant; NULL: any */
    unsigned limit;
    void (*ended)(void *user, json_t *answer, const struct fault *fault); /* NULL: nobody waits */
    void *user;

    struct errand errand; /* of the folder that is asked */
    bool away;            /* the errand is under way */
    bool answered;        /* meanwhile, since that folder hangs: when it is back nobody waits */
    uint64_t begun;       /* monotonic nanoseconds */
    size_t n_targets;
    struct target *targets; /* owned */

    /* of one file: as an input, then as a result, of target number `at` */
    bool as_result;
    struct spot place;
    struct fate fate;
    size_t chosen; /* which target's it is; n_targets: none's */
    bool busy;     /* a job has it: nothing is put back */
    bool put_back;
    char name[PATH_MAX]; /* in IN, when it was */
    unsigned tries;

    /* of all in failed, of target number `at` */
    struct requeued requeued;
    bool more;

    /* a page */
    struct cursor cursor;
    bool full;
    json_t *files;

    size_t at;
    struct fault fault;
    TAILQ_ENTRY(inquiry) next; /* of those that wait, or of those that have begun */
};

/* inquiry_list.c: reads a cursor; false: it is none. */
bool inquiry_read_cursor(const char *text, struct cursor *cursor);

/* On the loop: files under way. Then, if part of it is left, as an errand of the cursor's target,
 * or at once where that has no spool. True: there is more to find, on the loop again. */
void inquiry_list_live(struct inquiry *inquiry);
void inquiry_list_ended(struct inquiry *inquiry);
bool inquiry_list_goes_on(const struct inquiry *inquiry);
json_t *inquiry_list_answer(struct inquiry *inquiry);

#endif
