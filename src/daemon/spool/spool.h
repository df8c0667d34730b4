/* The folders of one watched directory, and what makes a file in them ours.
 *
 *     IN/                       what others drop
 *     IN/.sluice/work/INSTANCE/ what this run of the daemon has claimed, under its lock
 *         lock                  locked while we live; holds the path of OUT
 *         SERIAL/NAME           a claimed file under its own name, alone with its note (claim.h)
 *     IN/.sluice/done/          originals whose results stand in OUT
 *     IN/.sluice/failed/        originals that failed, each with its reason
 *     OUT/                      results; while they are written under hidden temporary names
 *
 * Of a folder that is not to be written to (claim: none) the hidden folder is in the state
 * directory, as folders/ID, a claim holds an empty file of the name in place of the file, and of a
 * failed file there is only the reason.
 *
 * Names may be paths below IN (recursive: true); done, failed and OUT have the same folders then.
 *
 * The order of steps, and which of them decides, is the table in docs/spool.md. Everything here
 * and in claim.h, draft.h and recovery.h waits for the disk: it runs on pool threads, any number of
 * them at a time (a claim: one at a time), and knows nothing of the loop. */
#ifndef SLUICE_DAEMON_SPOOL_H
#define SLUICE_DAEMON_SPOOL_H

#include "base/fault.h"
#include "config/settings.h"
#include "daemon/spool/identity.h"
#include <stdatomic.h>
#include <stdbool.h>

#define SPOOL_HIDDEN      ".sluice"
#define SPOOL_LOCK        "lock"
#define SPOOL_INSTANCE_ID 16 /* hexadecimal digits */

struct ledger;

/* What all spools share. */
struct spool_world {
    struct ledger *ledger;
    const char *state_path; /* absolute; the directory may come later */
};

struct spool {
    const struct watch_settings *rules; /* outlive it */
    const struct spool_world *world;
    bool in_place;            /* claim: none */
    char *in_path, *out_path; /* as configured; owned */
    char *hidden_path;        /* of the hidden folder, for messages; owned */
    char *folder;             /* where in_path led: what the ledger calls it; owned */
    char *out_folder;         /* where out_path led; owned */
    int in_fd, out_fd;
    int hidden_fd, work_fd, instance_fd, lock_fd;
    int done_fd, failed_fd;
    char instance[SPOOL_INSTANCE_ID + 1];
    atomic_uint serial; /* of the latest claim */
    unsigned users;     /* counted on the loop's thread: the watched folder, and each claim */
    void (*left)(void *context, struct spool *spool); /* NULL; else destroys it for the last user */
    void *context;
};

/* Opens the folders and makes ours, with a new instance that is locked. FAULT_NO_INPUT: there is no
 * IN, or no OUT; FAULT_CREATE, FAULT_PERMISSION; FAULT_CONFIG: both are one. One user: the caller.
 */
int spool_open(struct spool **spool, const struct watch_settings *rules,
               const struct spool_world *world, struct fault *fault);

/* True when what has been done with a file is known to the ledger alone. */
bool spool_remembers(const struct spool *spool);

/* The folder, of results or of claimed files, where there is less space than `min_free`; NULL:
 * there is enough. */
const char *spool_short_of_space(const struct spool *spool);

/* On the loop's thread alone. After the last user's leave it is destroyed, by `left` if there is
 * one. Clears the pointer. */
struct spool *spool_use(struct spool *spool);
void spool_leave(struct spool **spool);

/* Takes the instance's folder away, if nothing is left in it, and closes all. */
void spool_destroy(struct spool *spool);

/* NULL while both paths, and that of our hidden folder, still lead to the directories that are
 * open; else the one that does not, as in the rules, or spool->hidden_path. The fault says why. */
const char *spool_lost_path(const struct spool *spool, struct fault *fault);

/* What a name in IN is. */
enum spool_sight {
    SPOOL_GONE,
    SPOOL_NO_FILE,    /* a directory, link, device, pipe or socket: not ours to touch */
    SPOOL_UNREADABLE, /* we may not read it, or the disk cannot, yet */
    SPOOL_FILE,
};

/* Looks without opening: SPOOL_UNREADABLE tells that the disk fails. */
enum spool_sight spool_look(const struct spool *spool, const char *name, struct identity *identity);

enum spool_writer {
    SPOOL_NOT_WRITTEN,
    SPOOL_WRITTEN,        /* somebody has it open for writing */
    SPOOL_WRITER_UNKNOWN, /* this file system, or another's file: the kernel does not tell */
};

/* Opens it for a moment to see whether it can be read and whether somebody still writes. */
enum spool_sight spool_probe(const struct spool *spool, const char *name,
                             enum spool_writer *writer);

/* Lists the regular files in IN that are not ignored, and not known to be done with
 * (spool_remembers): calls `found` for each until it returns false. One that cannot be looked at has
 * an identity of zeros. */
int spool_scan(const struct spool *spool, const char *const *ignore,
               bool (*found)(void *context, const char *name, const struct identity *identity),
               void *context, struct fault *fault);

/* How many files are below one of its directories; of those in failed the files, or with `reasons`
 * what is told of them (NAME.error.json). */
size_t spool_count(int directory_fd, bool reasons);

#endif
