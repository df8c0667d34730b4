/* Drafts: results that a worker writes under hidden temporary names in OUT. When all results of a
 * picture are whole they are published together under their final names. The folder of a result
 * below OUT is the one that its file had below IN. Waits for the disk: not on the loop.
 *
 * FAULT_CREATE: OUT can never have a file of that name, in that folder. */
#ifndef SLUICE_DAEMON_SPOOL_DRAFT_H
#define SLUICE_DAEMON_SPOOL_DRAFT_H

#include "daemon/spool/claim.h"

/* Makes the next temporary file of the claim's results, which becomes the last of its drafts: of
 * result number `of`, for the plane `plane` ("": it is its only file, or not known yet). The
 * extensions are those of all results, with ; between them. */
int drafts_add(struct claim *claim, unsigned of, const char *plane, const char *extensions,
               struct fault *fault);

/* Closes and removes all drafts. */
void drafts_discard(struct claim *claim);

/* Closes all drafts and forgets them; they stay on disk. */
void drafts_forget(struct claim *claim);

/* Prepares the verdict on drafts that are written: makes their reservations, and writes the note
 * aside (claim_prepare_note). The caller then syncs the drafts and the note; from claim_decide on
 * the note knows the results, and the drafts are forgotten. A draft whose sync fails is lost and
 * the file has to be done again: a second sync would not tell the truth. FAULT_EXISTS: `on_exists:
 * fail`, and the name is taken. FAULT_CRASHED: the worker can still write to a result. */
int drafts_prepare(struct claim *claim, struct fault *fault);

/* ---- from here on of results that a note knows ---- */

/* Syncs those that an earlier run wrote, under whichever name they have. Returns 0, or −1 and
 * errno. */
int results_sync(const struct claim *claim);

/* Gives results their final names in OUT, except those that have them. The caller syncs the names
 * (results_sync_names). FAULT_NO_INPUT: a result is gone, and the file must be done again.
 * FAULT_EXISTS: as in drafts_prepare. After other faults the verdict may be gone from the note;
 * then the file is done again, too. */
int results_place(struct claim *claim, struct fault *fault);

/* Syncs the directories of OUT in which this claim's results got names. Returns 0, or −1 and errno.
 */
int results_sync_names(const struct claim *claim);

/* Removes results that will not be placed, whatever names they have. */
void results_withdraw(const struct claim *claim);

/* After a sync failed nobody knows what is on the disk, and another sync would not tell. So this
 * takes the verdict back and removes the results: the file is done again from the start. A disk
 * whose syncs go on failing is dead: the verdict stays, and counts when the disk is back, with what
 * is on it then. A consumer may have taken the results. */
void results_void(struct claim *claim);

/* An instance's folder that was synced, once for several claims, and how that went. */
struct results_synced {
    const struct spool *spool; /* NULL: none was */
    int result;
};

/* Removes the reservations that lie in OUT (claim->keeps_in_out), once the original has moved: the
 * others went with the claim's folder. Before one goes, which may be on another disk, the claim's
 * end is synced. One that stays after a failed sync is removed with the instance. */
void results_release(const struct claim *claim, struct results_synced *synced);

/* What a result of this file is called by the folder's settings on that day. */
void result_base(const struct spool *spool, size_t of, const char *original, const char *extension,
                 const char *day, name_buffer base);

#endif
