/* What is remembered about a claimed file beside it, so that it outlives us: how often it was
 * tried, what happened, and the verdict once there is one. The note is `.note` in the claim's
 * folder. Writing a verdict is the commit point of the whole job: before it the file is done again,
 * after it only the names are put right (docs/spool.md).
 *
 * Functions here wait for the disk: not on the loop. A note belongs to one thread at a time. */
#ifndef SLUICE_DAEMON_SPOOL_NOTE_H
#define SLUICE_DAEMON_SPOOL_NOTE_H

#include "base/fault.h"
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum note_verdict {
    NOTE_OPEN,   /* none yet */
    NOTE_DONE,   /* the results are whole and synced, under temporary or final names */
    NOTE_FAILED, /* the reason is known */
};

/* One result, as its file is known again: nobody else makes one of the same size at the same
 * nanosecond under the name that was free. */
struct note_result {
    char plane[32]; /* "" when the result is one file */
    int64_t size, mtime;
};

struct note {
    unsigned attempts;      /* times that a worker was given the file */
    unsigned crashes;       /* times that the worker died while it had nothing else to do */
    unsigned interruptions; /* times that we or the machine went down after it had begun */
    unsigned alone;         /* the latest of these in a row, while it was the only one */
    enum note_verdict verdict;
    unsigned number;    /* in the names that were chosen: of the results, or among the failed */
    char extension[24]; /* done: of the results */
    char base[256];     /* done: what their names are made from */
    int on_exists;      /* done: enum settings_exists */
    char tag[48];       /* done: of their temporary names */
    size_t n_results;
    struct note_result *results; /* done; owned */
    char *reason;                /* failed: the whole of NAME.error.json; owned */
};

void note_finish(struct note *note);

/* Reads the note in a claim's folder; there being none gives an empty one. FAULT_DATA for one that
 * is damaged. */
int note_read(int folder_fd, struct note *note, struct fault *fault);

/* Writes it. `durable`: when this returns 0 the note survives a power cut. */
int note_write(int folder_fd, const struct note *note, bool durable, struct fault *fault);

/* The mark that the worker has begun to read the file. `durable` waits for the disk. */
int note_mark_begun(int folder_fd, bool alone, bool durable, struct fault *fault);

/* True when the mark is there; `alone` is what it says. */
bool note_has_begun(int folder_fd, bool *alone);
void note_clear_begun(int folder_fd);

/* Removes all of the claim's own files, which must come last of all. */
void note_remove(int folder_fd);

/* In which folder below the watched one the file was, beside it until it leaves; "" for none. */
#define NOTE_FROM ".from"

/* A result's second name until its original has moved (draft.c), by its number. */
#define NOTE_RESULT ".result-%zu"

#endif
