/* A claim: a file that was moved from the watched directory into a folder of its own below
 * IN/.sluice/work, where nobody else uses its name, until it is done, failed or given back. With
 * `claim: none` (spool.h) the file stays where it is, and an empty file of its name stands in the
 * claim's folder. Beside it lies its note, `.note`: what is remembered of it, so that it survives
 * this process. Writing a verdict into that is the commit point of the whole job: before it the
 * file is done again after a crash, after it only moves are completed (docs/spool.md).
 *
 * Everything here waits for the disk: not on the loop. One thread at a time may use a claim. The
 * owner of the claim holds the reference to its spool. */
#ifndef SLUICE_DAEMON_SPOOL_CLAIM_H
#define SLUICE_DAEMON_SPOOL_CLAIM_H

#include "base/log.h"
#include "base/name.h"
#include "daemon/spool/spool.h"
#include <sys/queue.h>

enum note_verdict {
    NOTE_OPEN,   /* none yet */
    NOTE_DONE,   /* the results are whole and synced, under temporary or final names */
    NOTE_FAILED, /* the reason is known */
};

/* A result as it is recognised later, by size and time under the name that the note gives: nobody
 * else writes a file of that size at that nanosecond under a name that was free. */
struct note_result {
    unsigned of;    /* which of the picture's results it is, or is a plane of */
    char plane[32]; /* "" for a result that is one file */
    int64_t size, mtime;
};

/* What the files of one of a picture's results are called. */
struct note_name {
    char base[256];     /* what their names begin with; "" until there is a verdict */
    char extension[24]; /* of their names, and of the drafts' */
    char folder[256];   /* below OUT; "": that itself */
};

struct note {
    unsigned attempts;      /* how often a worker was given the file */
    unsigned crashes;       /* how often a worker died while it had nothing else to do */
    unsigned interruptions; /* how often daemon or machine went down after a worker had begun */
    unsigned alone; /* of the latest interruptions in a row: those while it was the only job */
    enum note_verdict verdict;
    unsigned number;    /* in the chosen names, of the results or of the file in failed */
    size_t n_names;
    struct note_name *names; /* of the results so far; owned */
    int on_exists;      /* done: the rule, an enum settings_exists */
    char tag[48]; /* done: part of the results' temporary names; and before that, the drafts' */
    size_t n_results;
    struct note_result *results; /* done; owned */
    char *reason;                /* failed: the text of NAME.error.json; owned */
};

/* A result that a worker writes (draft.h). */
struct draft {
    int fd;
    unsigned of;    /* which of the picture's results it is, or is a plane of */
    char plane[32]; /* "" until it is known, and for a result that is one file */
};

struct claim {
    struct spool *spool;
    char folder[24];  /* its serial number: the folder's name in the instance's folder */
    char *name;       /* of the file: a path below IN; owned */
    const char *base; /* the last component of it */
    char path[24 + 1 + NAME_BYTES + 1]; /* of the file, below the instance's folder */
    struct identity identity; /* as claim_open found it; the file has to be the same at the end */
    bool recovered;           /* left behind by a daemon that is gone */
    const char *mark;         /* that a worker has begun, while its file is open; else NULL */
    int folder_fd, note_fd;   /* open from the mark or the note to claim_close_note, else −1 */
    int out_fd;               /* where its results go: OUT of its spool or, while recovery resumes
                                 it, of the instance that had it */
    size_t n_drafts;
    struct draft *drafts; /* owned */
    bool keeps_in_out;    /* reservations of its results may lie in OUT (draft.c) */
    char *results;        /* as claim_fill_entry lists them; owned */
    struct note note;
    STAILQ_ENTRY(claim) next; /* among those that are taken over */
};

STAILQ_HEAD(claims, claim);

/* For log lines about its file (log_about). */
static inline struct log_subject claim_subject(const struct claim *claim)
{
    return (struct log_subject){.folder = claim->spool->in_path, .file = claim->name};
}

/* Claims the file `name`, which a look found to be `expected`. FAULT_BUSY: it is gone, or another
 * file has its name, which was left there. */
int claim_take(struct claim **claim, struct spool *spool, const char *name,
               const struct identity *expected, struct fault *fault);

/* Takes over the claim in `folder` of another instance, whose lock the caller holds, with its note;
 * counts an interruption if a worker had begun. Sets NULL and returns 0 when there was no file in
 * it; the folder was then removed. */
int claim_adopt(struct claim **claim, struct spool *spool, int other_fd, const char *folder,
                struct fault *fault);

/* Frees the memory, and closes what is open; nothing changes on disk. Takes NULL; clears the
 * pointer. */
void claim_destroy(struct claim **claim);

/* Opens the file for reading, and remembers its state. */
int claim_open(struct claim *claim, int *fd, struct fault *fault);

/* Marks that a worker reads the file, so that a death of the daemon counts as an interruption.
 * `alone`: it is the only job. The mark stays open, since it becomes the note that is written next;
 * claim_close_note closes it. */
int claim_mark_begun(struct claim *claim, bool alone, struct fault *fault);
void claim_clear_begun(struct claim *claim);

/* Writes the note. A note with a verdict is the commit point. `durable`: when this returns 0 it
 * survives a power cut. */
int claim_write_note(struct claim *claim, bool durable, struct fault *fault);

/* The same in steps, for notes that are synced together: the note is written aside; the caller
 * syncs `note_fd`; claim_decide has the note count, which is the commit point; the caller syncs
 * `folder_fd`; claim_close_note follows whatever happened. */
int claim_prepare_note(struct claim *claim, struct fault *fault);
int claim_decide(struct claim *claim, struct fault *fault);
void claim_close_note(struct claim *claim);

/* Syncs the note that an earlier run wrote: it may have ended before its own sync. Returns 0, or −1
 * and errno. */
int claim_sync_note(struct claim *claim);

/* Puts the verdict "failed" and the reason, the whole text of NAME.error.json, into the note, for
 * the caller to write. claim_failed then moves the file. */
int claim_note_failure(struct claim *claim, const char *reason, struct fault *fault);

/* In place of a plane's name: the job's report, which is a file of the first result. No plane's
 * name begins with a dot. */
#define CLAIM_REPORT ".report"

/* What a file of a result would be called with that number, without the folders on the way. Once
 * there is a verdict, the note's number makes it the final name. */
void claim_file_name(const struct note *note, size_t index, unsigned number, name_buffer name);

/* The note's names up to this result; false without memory. */
bool note_add_name(struct note *note, size_t of);

/* Its results: the first file of each, as the ledger has them, or with `paths` all files by their
 * paths below OUT, as job->results. The caller frees the text; NULL without memory. */
char *claim_print_results(const struct claim *claim, bool paths);

/* Fills an entry for the ledger from a claim with a verdict. It points to the claim and to `reason`
 * (NULL: none). False when the file is gone, so that nothing can be said about it. */
bool claim_fill_entry(struct claim *claim, struct ledger_entry *entry, const char *reason);

/* The three ends. Each moves the file and removes the claim's folder. After a fault the claim is as
 * it was. None replaces another file: done and failed choose a free number, give_back fails with
 * FAULT_CREATE when there is a new file of the name. For done and failed the note must hold the
 * verdict. What done does with the file is a setting: it moves to done, is deleted, or goes back to
 * its folder (to done, if there is a new file of its name). */
int claim_done(struct claim *claim, struct fault *fault);
int claim_failed(struct claim *claim, struct fault *fault);
int claim_give_back(struct claim *claim, struct fault *fault);

/* A link beside the file that names the folder below the watched one it came from; none for "". */
#define CLAIM_FROM ".from"

/* The second name of result number N, until the original has moved (draft.c). */
#define CLAIM_RESULT ".result-%zu"

#endif
