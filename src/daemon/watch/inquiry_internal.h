/* A question about files while it is answered. Shared by inquiry.c and inquiry_list.c alone. */
#ifndef SLUICE_DAEMON_WATCH_INQUIRY_INTERNAL_H
#define SLUICE_DAEMON_WATCH_INQUIRY_INTERNAL_H

#include "daemon/spool/fate.h"
#include "daemon/spool/requeue.h"
#include "daemon/watch/folder.h"
#include "daemon/watch/inquiry.h"

/* A watched folder that may know the answer, and what a thread needs of it. */
struct target {
    struct folder *folder; /* may be destroyed before the loop has the answer */
    struct rulebook *book;
    const struct watch_settings *settings;
    struct spool *spool; /* NULL: its directories are gone, or do not answer */
};

/* Where a page begins or ends in the list of all files: the folder, the part of its list, and the
 * file. */
enum part {
    PART_LIVE,   /* under way, in the order of names */
    PART_FAILED, /* in the order of names */
    PART_DONE,   /* in the order of the ledger's entries */
    PARTS
};

struct cursor {
    size_t target;
    enum part part;
    char key[PATH_MAX]; /* the last file listed; "": none yet */
};

/* A page of a list while it is filled. */
struct page {
    struct cursor cursor;
    const char *state; /* a constant string; NULL: any */
    unsigned limit;
    size_t n_targets;
    json_t *files;     /* owned */
    size_t bytes_left; /* of JSON, until the page is full */
    bool full;
};

/* What a folder's disk is asked, and what it says. The loop and the errand hand it to each other:
 * whoever does not have it does not look at it. */
struct probe {
    struct errand errand;
    struct inquiry *inquiry; /* the loop's */
    enum inquiry_kind kind;
    const struct target *target; /* does not change while an errand has the probe */

    /* for one file */
    struct spot place;
    struct fate fate;
    bool busy; /* a job has the file, so nothing is requeued */
    bool put_back;
    char name[PATH_MAX]; /* its name in IN after requeuing */

    /* for all files in failed */
    struct requeued requeued;
    bool more;

    struct page page;
    struct fault fault;
};

struct inquiry {
    struct inquiries *all;
    enum inquiry_kind kind;
    uid_t uid;
    uint64_t turn;     /* the waiting ones are in this order */
    char *asked;       /* the path as it was asked for, or the cursor; owned */
    char *path;        /* that path, normalised; owned */
    const char *state; /* a constant string; NULL: any */
    unsigned limit;
    size_t bytes; /* of JSON that a page may have; 0: any */
    void (*ended)(void *user, json_t *answer,
                  const struct fault *fault); /* NULL: nobody waits for the answer */
    void *user;

    /* from when it is begun; `probe` is NULL while an errand has it */
    struct probe *probe;
    bool away;      /* an errand has the probe */
    bool answered;  /* it was answered while its errand hung: when the errand ends the inquiry is
                       freed */
    uint64_t begun; /* monotonic nanoseconds */
    size_t n_targets;
    struct target *targets; /* owned */
    size_t at;              /* the target that is asked */

    /* for one file: is it an input, or a result, of target number `at`? */
    bool as_result;
    size_t chosen; /* index of the target that has the file; n_targets: none has */
    unsigned tries;
    TAILQ_ENTRY(inquiry) next; /* in the list of waiting ones, or of those being answered */
};

/* inquiry.c: the folder of target number `index`; NULL: it does not exist any more. */
struct folder *inquiry_folder(const struct inquiry *inquiry, size_t index);

/* inquiry_list.c: reads a cursor; returns false for a damaged one. */
bool inquiry_read_cursor(const char *text, struct cursor *cursor);

/* inquiry_list_live, on the loop, lists files under way. If the page has room left, the rest of its
 * cursor's target is listed by inquiry_list_ended, as an errand of that target, or at once where it
 * has no spool. */
void inquiry_list_live(struct inquiry *inquiry, struct page *page);
void inquiry_list_ended(struct page *page, const struct target *target);
json_t *inquiry_list_answer(const struct page *page);

#endif
