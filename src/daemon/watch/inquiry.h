/* Inquiries: questions about files, and requeuing, for both sockets. What waits for a disk is asked
 * of the folders, one after the other (folder_ask), for two inquiries of each user at a time; folders
 * themselves tell what is under way. A folder that hangs is left out of the answer. All on the loop's thread, but for probes on their way. */
#ifndef SLUICE_DAEMON_WATCH_INQUIRY_H
#define SLUICE_DAEMON_WATCH_INQUIRY_H

#include "daemon/watch/question.h"
#include <stdbool.h>
#include <sys/queue.h>
#include <sys/types.h>
#include <uv.h>

struct folder_list;
struct inquiry;
struct queue;

#define INQUIRY_LIMIT     100 /* files on a page, if not given */
#define INQUIRY_LIMIT_MAX 1000

struct inquiry_ask {
    enum inquiry_kind kind;
    uid_t uid;         /* who asks */
    const char *file;  /* absolute path */
    const char *state; /* for a list; NULL: any */
    const char *after; /* `next` of the page before; NULL: the first page */
    unsigned limit;
    size_t bytes; /* of JSON that a page may have, so that it ends before `limit`; 0: any */
    /* Gives the answer, or a fault; never called from within inquiry_start. The answer belongs to
     * the receiver; the inquiry is gone after this. */
    void (*ended)(void *user, json_t *answer, const struct fault *fault);
    void *user;
};

struct inquiries {
    uv_loop_t *loop;
    const struct queue *queue; /* while it drains nothing is requeued */
    const struct folder_list *folders; /* the watched ones now; they come and go with reloads */

    /* set by inquiry.c */
    uv_timer_t timer;
    TAILQ_HEAD(, inquiry) waiting, begun;
    bool closed;
};

/* The caller sets the members above the blank line first. */
void inquiries_init(struct inquiries *inquiries);

/* Drops all inquiries without an answer. The loop must run once more. */
void inquiries_close(struct inquiries *inquiries);

/* FAULT_BUSY: too many inquiries of this user wait; FAULT_USAGE: the path is not absolute, the
 * state is unknown, or the cursor is damaged. */
int inquiry_start(struct inquiry **inquiry, struct inquiries *inquiries,
                  const struct inquiry_ask *ask, struct fault *fault);

/* Nobody waits for the answer any more. A requeuing that has begun is completed. Takes NULL; clears
 * the pointer. */
void inquiry_cancel(struct inquiry **inquiry);

#endif
