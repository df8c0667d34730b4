/* Drafts: results that a worker writes under hidden temporary names in OUT. When all results of a
 * picture are whole they are published together under their final names. Waits for the disk: not on
 * the loop. */
#ifndef SLUICE_DAEMON_SPOOL_DRAFT_H
#define SLUICE_DAEMON_SPOOL_DRAFT_H

#include "daemon/spool/claim.h"

struct draft {
    int fd;          /* −1: not open */
    char plane[32];  /* "" until it is known, and for a picture's only result */
    char *temporary; /* its path below OUT; owned */
};

#define DRAFT_INIT                                                                                 \
    {                                                                                              \
        .fd = -1                                                                                   \
    }

/* Makes the temporary file of the claim's result number `index`. FAULT_CREATE here and below: OUT
 * can never have a file of that name. */
int draft_open(struct draft *draft, const struct claim *claim, size_t index, const char *extension,
               struct fault *fault);

/* Closes and removes the file. Takes an empty draft. */
void draft_discard(struct draft *draft, const struct claim *claim, size_t index);

/* Closes the file and forgets it; it stays on disk. */
void draft_forget(struct draft *draft);

/* Prepares the verdict on results that are written: makes their reservations, and writes the note
 * aside (claim_prepare_note). The caller then syncs the results and the note; from claim_decide on
 * the note knows the results, and the drafts are forgotten. A draft whose sync fails is lost and
 * the file has to be done again: a second sync would not tell the truth. FAULT_EXISTS: `on_exists:
 * fail`, and the name is taken. FAULT_CRASHED: the worker can still write to a result. */
int drafts_prepare(struct draft *drafts, size_t count, struct claim *claim, const char *extension,
                   struct fault *fault);

/* Syncs committed results that an earlier run wrote, under whichever name they have. Returns 0, or
 * −1 and errno. */
int drafts_sync(const struct claim *claim, int out_fd);

/* Removes committed results that will not be placed, whatever names they have. */
void drafts_withdraw(const struct claim *claim, int out_fd);

/* After a sync failed nobody knows what is on the disk, and another sync would not tell. So this
 * takes the verdict back and removes the results: the file is done again from the start. A disk
 * whose syncs go on failing is dead: the verdict stays, and counts when the disk is back, with what
 * is on it then. A consumer may have taken the results. */
void drafts_void(struct claim *claim, int out_fd);

/* Whether a reservation lies in OUT. Its removal might be on the disk before the move of the
 * original is, on another one. */
bool drafts_are_reserved_in(const struct claim *claim, int out_fd);

/* Removes the reservations, once the original has moved. */
void drafts_release(const struct claim *claim, int out_fd);

/* Gives committed results their final names in OUT (`out_fd`), except those that have them. The
 * caller syncs the directory. FAULT_NO_INPUT: a result is gone, and the file must be done again.
 * FAULT_EXISTS: as in drafts_prepare. After other faults the verdict may be gone from the note;
 * then the file is done again, too. */
int drafts_place(struct claim *claim, int out_fd, struct fault *fault);

/* The final name of a result, without the folders on the way. Valid once there is a verdict. */
void draft_final_name(const struct claim *claim, size_t index, char name[256]);

/* What results of this file are called by the folder's settings on that day. */
void draft_base(const struct spool *spool, const char *original, const char *extension,
                const char *day, char base[256]);

/* Syncs the directories of OUT in which this claim's results got names. Returns 0, or −1 and errno.
 */
int drafts_sync_names(const struct claim *claim, int out_fd);

#endif
