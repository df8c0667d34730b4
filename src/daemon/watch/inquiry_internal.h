/* A question about files while it is answered. Shared by inquiry.c and inquiry_list.c alone. */
#ifndef SLUICE_DAEMON_WATCH_INQUIRY_INTERNAL_H
#define SLUICE_DAEMON_WATCH_INQUIRY_INTERNAL_H

#include "daemon/watch/folder.h"
#include "daemon/watch/inquiry.h"

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

    /* from when it is begun; `probe` is NULL while a folder has it */
    struct probe *probe;
    bool away;      /* a folder has the probe */
    bool answered;  /* it was answered while its folder hung: when the probe comes back the inquiry
                       is  freed */
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

/* Lists those of its jobs that may be on the page, on the loop, before the folder is asked. */
void inquiry_list_jobs(struct probe *probe, const struct folder *folder);

/* Puts files under way on the page; then, if it has room left, what ended of its cursor's target.
 * Without a spool that is left out. */
void inquiry_list_live(struct probe *probe);
void inquiry_list_ended(struct page *page, const struct target *target, const struct spool *spool);
json_t *inquiry_list_answer(const struct page *page);

#endif
