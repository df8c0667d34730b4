/* A question about files, as a message to a watched folder (folder_ask), and what the folder puts
 * into it. inquiry.h has who asks. */
#ifndef SLUICE_DAEMON_WATCH_QUESTION_H
#define SLUICE_DAEMON_WATCH_QUESTION_H

#include "daemon/spool/fate.h"
#include "daemon/spool/requeue.h"
#include <jansson.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <sys/queue.h>

struct folder_thread;
struct inquiry;

enum inquiry_kind {
    INQUIRY_WHY,            /* what has become of a file */
    INQUIRY_REQUEUE,        /* do a file again */
    INQUIRY_REQUEUE_FAILED, /* do all files in failed again */
    INQUIRY_LIST,           /* list a page of files */
};

/* A thread that reads for the folder's. */
struct folder_reader {
    struct folder_thread *thread;
    _Atomic uint64_t moved; /* when it began or last made progress */
    struct spool *spool;    /* counted reference of the folder's thread */
    LIST_ENTRY(folder_reader) next;
};

/* A page of a list while it is filled. Its cursor is where it begins, and then where it ends, in
 * the list of all files: the folder, the part of its list, and the file. */
struct page {
    size_t folder;
    enum page_part {
        PART_LIVE,   /* under way, in the order of names */
        PART_FAILED, /* in the order of names */
        PART_DONE,   /* in the order of the ledger's entries */
        PARTS
    } part;
    char key[PATH_MAX]; /* the last file listed; "": none yet */
    const char *state;  /* a constant string; NULL: any */
    unsigned limit;
    json_t *files;     /* owned */
    size_t bytes_left; /* of JSON, until the page is full */
    bool full;
};

/* What a folder is asked, and what it says: a message that goes from the loop to the folder's
 * thread, from there to a thread that reads, and back the same way. Whoever does not have it does
 * not look at it. */
struct probe {
    struct inquiry *inquiry; /* the loop's */
    enum inquiry_kind kind;
    const char *input; /* of the folder, as configured; the inquiry's */
    struct folder_reader reader;
    STAILQ_ENTRY(probe) next;
    bool gone; /* its directories are gone, so that nothing was read */

    /* for one file */
    struct spot place;
    struct fate fate;
    bool busy; /* a job has the file, so nothing is requeued */
    bool put_back;
    char name[PATH_MAX]; /* its name in IN after requeuing */

    /* for all files in failed */
    struct requeued requeued;
    bool more;

    /* for a list */
    struct page page;
    struct spool_files live; /* under way: jobs, then names */
    struct fault fault;
};

/* For a thread that reads. */
void inquiry_read(struct probe *probe, struct spool *spool);

/* On the loop: the folder has answered. */
void inquiry_answered(struct probe *probe);

#endif
