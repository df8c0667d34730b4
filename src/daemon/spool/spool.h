/* A spool: the folders of one watched directory.
 *
 *     IN/                       where others drop files
 *     IN/.sluice/work/INSTANCE/ files claimed by one run of the daemon
 *       lock                    locked while that daemon lives; holds the path of OUT
 *       SERIAL/NAME             a claimed file under its own name, with its note (claim.h)
 *     IN/.sluice/done/          originals whose results are in OUT
 *     IN/.sluice/failed/        originals that failed, each with its reason
 *     OUT/                      results; hidden temporary names while they are written
 *
 * For a folder that must not be written to (`claim: none`, in the code "in place") the hidden
 * folder is folders/ID in the state directory; a claim holds an empty file in place of the file,
 * and failed holds reasons only.
 *
 * Names may be paths below IN (recursive: true); done, failed and OUT then have the same folders.
 *
 * The order of steps on disk, and which step commits, is the table in docs/spool.md. Everything
 * here and in claim.h, draft.h and recovery.h waits for the disk: it runs on threads of the watched
 * folder, any number of them at once (a claim: one), and never on the loop. */
#ifndef SLUICE_DAEMON_SPOOL_H
#define SLUICE_DAEMON_SPOOL_H

#include "base/fault.h"
#include "config/settings.h"
#include "daemon/spool/ledger.h"
#include <limits.h>
#include <stdatomic.h>
#include <stdbool.h>

#define SPOOL_HIDDEN      ".sluice"
#define SPOOL_LOCK        "lock"
#define SPOOL_INSTANCE_ID 16 /* hexadecimal digits */

/* What all spools share. */
struct spool_world {
    struct ledger *ledger;
    const char *state_path; /* absolute; the directory may be made later */
};

struct spool {
    const struct watch_settings *rules; /* they outlive the spool */
    const struct spool_world *world;
    bool in_place;            /* `claim: none`: files are never moved */
    bool remembers;           /* only the ledger knows which files are done */
    bool syncs;               /* what counts is synced before it does */
    char *in_path, *out_path; /* as configured; owned */
    char *hidden_path;        /* path of the hidden folder, for messages; owned */
    char *folder;             /* where in_path leads, as the ledger knows it; owned */
    char *out_folder;         /* where out_path leads; owned */
    int in_fd, out_fd;
    int hidden_fd, work_fd, instance_fd, lock_fd;
    int done_fd, failed_fd;
    char instance[SPOOL_INSTANCE_ID + 1];
    int *held; /* locks of instances that are gone, and whose results are still to be placed; owned
                */
    size_t n_held;
    atomic_uint serial; /* of the latest claim */
    unsigned users; /* references, counted on the folder's thread: its own, and one for each claim,
                       scan and question; the last one to leave destroys it */
};

/* Opens the folders, and makes a locked instance. FAULT_NO_INPUT: IN or OUT is missing;
 * FAULT_CREATE, FAULT_PERMISSION; FAULT_CONFIG: IN and OUT are the same. The caller has the first
 * reference. */
int spool_open(struct spool **spool, const struct watch_settings *rules,
               const struct spool_world *world, struct fault *fault);

/* The directory, of results or of claimed files, that has less than `min_free` left; NULL: there is
 * enough. */
const char *spool_short_of_space(const struct spool *spool);

/* Removes the folder of an instance without work, once the removal of its temporary files in OUT is
 * on the disk, which may be another one: the folder tells of them. */
void spool_remove_instance(const struct spool *spool, int out_fd, int instance_fd,
                           const char *instance);

/* Keeps the lock of an instance that is gone until the spool is destroyed. False without memory. */
bool spool_hold(struct spool *spool, int lock_fd);

/* Removes the instance's folder if it is empty, and closes everything. */
void spool_destroy(struct spool *spool);

/* NULL while the paths of IN and OUT, and of the hidden folder, lead to the directories that are
 * open; otherwise the path that does not: as in the settings, or spool->hidden_path. The fault says
 * why. */
const char *spool_lost_path(const struct spool *spool, struct fault *fault);

/* What a name in IN stands for. */
enum spool_sight {
    SPOOL_GONE,
    SPOOL_NO_FILE,    /* a directory, link, device, pipe or socket: never touched */
    SPOOL_UNREADABLE, /* we may not read it, or the disk fails */
    SPOOL_FILE,
};

/* Looks without opening: SPOOL_UNREADABLE means that the disk fails. */
enum spool_sight spool_look(const struct spool *spool, const char *name, struct identity *identity);

enum spool_writer {
    SPOOL_NOT_WRITTEN,
    SPOOL_WRITTEN,        /* somebody has it open for writing */
    SPOOL_WRITER_UNKNOWN, /* the file system, or a foreign owner, keeps the kernel from telling */
};

/* Opens the file for a moment, to see whether it can be read and whether somebody still writes to
 * it. */
enum spool_sight spool_probe(const struct spool *spool, const char *name,
                             enum spool_writer *writer);

/* Calls `found` for the regular files in IN that are neither ignored nor known as done
 * (spool_remembers), until it returns false. A file that cannot be looked at has an identity of
 * zeros.
 */
int spool_scan(const struct spool *spool, const char *const *ignore, identity_visit *found,
               void *context, struct fault *fault);

/* Removes from done and failed what is older, or more, than the settings say (retention.c). A
 * file's age is the machine's running time since the file was first seen there, which the ledger
 * stores; without a ledger nothing is removed. */
void spool_tidy(const struct spool *spool);

/* A page of a folder's files: the first `limit` names after the name `after`, in order. */
struct spool_files {
    const char *after;
    size_t limit, count;
    struct spool_file {
        char *name; /* owned */
        const char *state;
        unsigned attempts;
    } * files; /* owned */
};

/* Adds a name, which is copied, at its place; that may push the last one out. */
void spool_files_offer(struct spool_files *page, struct spool_file file);
void spool_files_finish(struct spool_files *page);

/* Counts the files in done or, with `failed`, in failed, and offers their names below that to the
 * page (NULL: none). With claims in place a reason in failed stands for its file. */
size_t spool_list(const struct spool *spool, bool failed, struct spool_files *page);

/* A spot: what a path means to a watched folder, by its text alone: a file in IN, done, failed or
 * work, or a result. Pure. */
enum spot_kind {
    SPOT_NONE,
    SPOT_INPUT,  /* IN/NAME */
    SPOT_DONE,   /* IN/.sluice/done/NAME */
    SPOT_FAILED, /* IN/.sluice/failed/NAME, or its reason */
    SPOT_WORK,   /* IN/.sluice/work/INSTANCE/SERIAL/NAME */
    SPOT_RESULT, /* OUT/NAME */
};

struct spot {
    enum spot_kind kind;
    char name[PATH_MAX]; /* below that folder; for a reason the name of its file */
};

/* Makes the path absolute text without empty, "." and ".." components. False: it is not absolute,
 * or too long. */
bool spot_normalise(const char *path, char normal[PATH_MAX]);

/* The path as one of a file below IN. */
void spot_in(struct spot *place, const char *path, const char *in);

/* The path as one of a result in OUT. */
void spot_out(struct spot *place, const char *path, const char *out);

#endif
