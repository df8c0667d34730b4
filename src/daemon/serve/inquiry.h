/* Questions about files, and requeuing, for both sockets. What waits for a disk are errands of the
 * folder that it belongs to, one question at a time unless one takes long; what is under way is
 * told by the folders. One that needs a folder that hangs is answered without it. All on the loop's
 * thread. */
#ifndef SLUICE_DAEMON_SERVE_INQUIRY_H
#define SLUICE_DAEMON_SERVE_INQUIRY_H

#include "base/fault.h"
#include <jansson.h>
#include <stdbool.h>
#include <sys/queue.h>
#include <uv.h>

struct folder;
struct inquiry;
struct queue;

enum inquiry_kind {
    INQUIRY_WHY,            /* what became of one file */
    INQUIRY_REQUEUE,        /* one file is to be done again */
    INQUIRY_REQUEUE_FAILED, /* all in failed are */
    INQUIRY_LIST,           /* a page of files */
};

#define INQUIRY_LIMIT     100 /* files of a page, unless said */
#define INQUIRY_LIMIT_MAX 1000

struct inquiry_ask {
    enum inquiry_kind kind;
    const char *file;  /* an absolute path */
    const char *state; /* of a list; NULL: any */
    const char *after; /* `next` of the page before; NULL: the first page */
    unsigned limit;
    /* The answer, or a fault; never from within inquiry_start. The answer is the callee's, the
     * inquiry is gone after it. */
    void (*ended)(void *user, json_t *answer, const struct fault *fault);
    void *user;
};

struct inquiries {
    uv_loop_t *loop;
    const struct queue *queue; /* while it drains, nothing more is put back */
    /* Watched folder number `index`; NULL: there are no more. */
    struct folder *(*folder)(void *context, size_t index);
    void *context;

    /* inquiry.c's own */
    uv_timer_t timer;
    TAILQ_HEAD(, inquiry) waiting, begun;
    struct inquiry *running;
    unsigned count;
    bool closed;
};

/* The members above the blank line are the caller's to set before. */
void inquiries_init(struct inquiries *inquiries);

/* All are dropped; nobody wants their answers any more. The loop must run once more. */
void inquiries_close(struct inquiries *inquiries);

/* FAULT_BUSY: too many wait; FAULT_USAGE: no absolute path, no such state, a damaged cursor. */
int inquiry_start(struct inquiry **inquiry, struct inquiries *inquiries,
                  const struct inquiry_ask *ask, struct fault *fault);

/* Nobody waits for it any more; what it does on disk is done all the same once it has begun. Takes
 * NULL; clears the pointer. */
void inquiry_cancel(struct inquiry **inquiry);

#endif
