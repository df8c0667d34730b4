/* A claim: a file that was moved from the watched directory into a folder of its own below
 * IN/.sluice/work, where nobody else uses its name, until it is done, failed or given back. With
 * `claim: none` (spool.h) the file stays where it is, and an empty file of its name stands in the
 * claim's folder. One thread at a time may use a claim. The owner of the claim holds the reference
 * to its spool. */
#ifndef SLUICE_DAEMON_SPOOL_CLAIM_H
#define SLUICE_DAEMON_SPOOL_CLAIM_H

#include "base/log.h"
#include "daemon/spool/note.h"
#include "daemon/spool/spool.h"

struct claim {
    struct spool *spool;
    char folder[24];          /* its serial number: the folder's name in the instance's folder */
    char *name;               /* of the file: a path below IN; owned */
    struct identity identity; /* as claim_open found it; the file has to be the same at the end */
    bool recovered;           /* left behind by a daemon that is gone */
    int folder_fd, note_fd;   /* open between claim_prepare_note and claim_close_note, else −1 */
    struct note note;
};

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

/* Frees the memory only; nothing changes on disk. Takes NULL; clears the pointer. */
void claim_destroy(struct claim **claim);

/* Opens the file for reading, and remembers its state. */
int claim_open(struct claim *claim, int *fd, struct fault *fault);

/* True while the file's size and time are as they were when it was opened. */
bool claim_is_unchanged(const struct claim *claim, int fd);

/* Marks that a worker reads the file (note_mark_begun). */
int claim_mark_begun(struct claim *claim, bool alone, struct fault *fault);
void claim_clear_begun(struct claim *claim);

/* Writes the note, synced as the folder's settings ask. A note with a verdict is the commit point.
 */
int claim_write_note(struct claim *claim, struct fault *fault);

/* The same in steps, for notes that are synced together: the note is written aside; the caller
 * syncs `note_fd`; claim_decide has the note count, which is the commit point; the caller syncs
 * `folder_fd`; claim_close_note follows whatever happened. */
int claim_prepare_note(struct claim *claim, struct fault *fault);
int claim_decide(struct claim *claim, struct fault *fault);
void claim_close_note(struct claim *claim);

/* Syncs the note that an earlier run wrote: it may have ended before its own sync. Returns 0, or −1
 * and errno. */
int claim_sync_note(struct claim *claim);

/* Sets `identity` of a claim that was not opened. Returns false when the file is gone. */
bool claim_identify(struct claim *claim);

/* The last component of its name. */
const char *claim_base(const struct claim *claim);

/* The three ends. Each moves the file and removes the claim's folder. After a fault the claim is as
 * it was. None replaces another file: done and failed choose a free number, give_back fails with
 * FAULT_CREATE when there is a new file of the name. For done and failed the note must hold the
 * verdict. What done does with the file is a setting: it moves to done, is deleted, or goes back to
 * its folder (to done, if there is a new file of its name). */
int claim_done(struct claim *claim, struct fault *fault);
int claim_failed(struct claim *claim, struct fault *fault);
int claim_give_back(struct claim *claim, struct fault *fault);

/* Puts the verdict "failed" and the reason, the whole text of NAME.error.json, into the note, for
 * the caller to write. claim_failed then moves the file. */
int claim_note_failure(struct claim *claim, const char *reason, struct fault *fault);

#endif
