/* The note: what is remembered about a claimed file, in `.note` in the claim's folder, so that it
 * survives this process: how often the file was tried, what happened, and the verdict once there is
 * one. Writing a verdict is the commit point of the whole job: before it the file is done again
 * after a crash, after it only moves are completed (docs/spool.md).
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

/* A result as it is recognised later, by size and time under the name that the note gives: nobody
 * else writes a file of that size at that nanosecond under a name that was free. */
struct note_result {
    char plane[32]; /* "" for a picture's only result */
    int64_t size, mtime;
};

struct note {
    unsigned attempts;      /* how often a worker was given the file */
    unsigned crashes;       /* how often a worker died while it had nothing else to do */
    unsigned interruptions; /* how often daemon or machine went down after a worker had begun */
    unsigned alone; /* of the latest interruptions in a row: those while it was the only job */
    enum note_verdict verdict;
    unsigned number;    /* in the chosen names, of the results or of the file in failed */
    char extension[24]; /* done: of the results' names */
    char base[256];     /* done: what the results' names begin with */
    int on_exists;      /* done: the rule, an enum settings_exists */
    char tag[48];       /* done: part of the results' temporary names */
    size_t n_results;
    struct note_result *results; /* done; owned */
    char *reason;                /* failed: the text of NAME.error.json; owned */
};

void note_finish(struct note *note);

/* Reads the note in a claim's folder. Without a note the result is an empty one. FAULT_DATA: it is
 * damaged. */
int note_read(int folder_fd, struct note *note, struct fault *fault);

/* Writes the note beside the one that counts, and leaves `fd` open to be synced. */
int note_write_aside(int folder_fd, const struct note *note, int *fd, struct fault *fault);

/* Has the note that was written aside count. */
int note_commit(int folder_fd, struct fault *fault);

/* Syncs the note that counts, and its name. Returns 0, or −1 and errno. */
int note_sync(int folder_fd);

/* Writes the note. `durable`: when this returns 0 it survives a power cut. */
int note_write(int folder_fd, const struct note *note, bool durable, struct fault *fault);

/* Makes the mark that a worker has begun to read the file. `durable` waits for the disk. `alone`:
 * it is the only job. */
int note_mark_begun(int folder_fd, bool alone, bool durable, struct fault *fault);

/* True when the mark is there; `alone` is as it was made. */
bool note_has_begun(int folder_fd, bool *alone);
void note_clear_begun(int folder_fd);

/* Removes all our files from the claim's folder. Must be the last step. */
void note_remove(int folder_fd);

/* A link beside the file that names the folder below the watched one it came from; none for "". */
#define NOTE_FROM ".from"

/* The second name of result number N, until the original has moved (draft.c). */
#define NOTE_RESULT ".result-%zu"

#endif
