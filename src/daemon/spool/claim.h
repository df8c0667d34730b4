/* One file that is ours: moved out of the watched directory into a folder of its own, where nobody
 * else touches its name, until it is done, failed or given back. Where claims are in place
 * (spool.h) the folder holds an empty file of its name, and the file stays where it is. A claim
 * belongs to one thread at a time; the spool that it refers to is counted by whoever keeps the
 * claim. */
#ifndef SLUICE_DAEMON_SPOOL_CLAIM_H
#define SLUICE_DAEMON_SPOOL_CLAIM_H

#include "daemon/spool/note.h"
#include "daemon/spool/spool.h"

struct claim {
    struct spool *spool;
    char folder[24];          /* its folder in the instance's: the serial */
    char *name;               /* of the file: a path below IN; owned */
    struct identity identity; /* since claim_open: what was read must be what is there at the end */
    bool recovered;           /* was left behind by a daemon that is gone */
    struct note note;
};

/* Claims the file `name` that was found to be `expected`. FAULT_BUSY: it is not there any more, or
 * is another file by now, which was left alone. */
int claim_take(struct claim **claim, struct spool *spool, const char *name,
               const struct identity *expected, struct fault *fault);

/* Takes over the claim that lies in `folder` of another instance's folder, whose lock the caller
 * holds, with its note, and counts an interruption if it had begun. NULL and 0: there was no file
 * in it, and it was removed. */
int claim_adopt(struct claim **claim, struct spool *spool, int other_fd, const char *folder,
                struct fault *fault);

/* Frees the memory alone. Takes NULL; clears the pointer. */
void claim_destroy(struct claim **claim);

/* Opens the file for reading, and remembers its state. */
int claim_open(struct claim *claim, int *fd, struct fault *fault);

/* True while size and time of the file are what they were when it was opened. */
bool claim_is_unchanged(const struct claim *claim, int fd);

/* Marks, durably or not, that the worker looks at the bytes (note.h). */
int claim_mark_begun(struct claim *claim, bool alone, struct fault *fault);
void claim_clear_begun(struct claim *claim);

/* Writes the note, synced as the folder's rules want it; with a verdict in it this is the commit
 * point. */
int claim_write_note(struct claim *claim, struct fault *fault);

/* Fills in `identity` of a claim that was not opened. False when the file is gone. */
bool claim_identify(struct claim *claim);

/* The last component of its name. */
const char *claim_base(const struct claim *claim);

/* The three ends. Each moves the file and takes the claim's folder away; on failure the claim is
 * still ours and as it was. None replaces a file: done and failed find a number, give_back fails
 * with FAULT_CREATE when there is a new file of that name. The verdict must be in the note. What
 * done means for the file is the folder's rule: moved to done, deleted, or back where it was (to
 * done, if there is a new file of its name). */
int claim_done(struct claim *claim, struct fault *fault);
int claim_failed(struct claim *claim, struct fault *fault);
int claim_give_back(struct claim *claim, struct fault *fault);

/* Notes the verdict that the file failed and why; `reason` is the whole text of NAME.error.json.
 * The commit point: claim_failed only puts things in their places. */
int claim_note_failure(struct claim *claim, const char *reason, struct fault *fault);

/* A folder of the claims: a descriptor of it, or −1 and errno. The caller closes it. */
int claim_open_folder(const struct claim *claim);

#endif
