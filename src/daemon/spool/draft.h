/* Results on their way: written by the worker under a hidden temporary name in OUT, published under
 * their final names all together once they are whole. As with claims, not on the loop. */
#ifndef SLUICE_DAEMON_SPOOL_DRAFT_H
#define SLUICE_DAEMON_SPOOL_DRAFT_H

#include "daemon/spool/claim.h"

struct draft {
    int fd;          /* −1: there is none, or not any more */
    char plane[32];  /* "" until it is known, and for a result that is one file */
    char *temporary; /* its path below OUT; owned */
};

#define DRAFT_INIT                                                                                 \
    {                                                                                              \
        .fd = -1                                                                                   \
    }

/* Makes the temporary file for the claim's result number `index`. */
int draft_open(struct draft *draft, const struct claim *claim, size_t index, const char *extension,
               struct fault *fault);

/* Removes it, the claim's result number `index`. Takes an empty draft. */
void draft_discard(struct draft *draft, const struct claim *claim, size_t index);

/* Closes it and forgets it, and leaves it where it is. */
void draft_forget(struct draft *draft);

/* The results are written: reserves and syncs each, closes it, and notes the verdict, which is the
 * commit point. (Where the folder's rule is sync: batch, nothing is synced here, and the commit
 * point is the caller's sync of the file systems of OUT and of the claim.) A draft whose fsync
 * fails is lost and must be made anew: nothing is tried again here. FAULT_EXISTS: on_exists is
 * fail, and there is such a file. */
int drafts_commit(struct draft *drafts, size_t count, struct claim *claim, const char *extension,
                  struct fault *fault);

/* Removes results that were committed and will not be placed, wherever they are by now. */
void drafts_withdraw(const struct claim *claim, int out_fd);

/* After a sync that failed: nobody knows what is on the disk, and to sync once more would not tell.
 * Takes the verdict back, and with it the results: the file is done again from the start. */
void drafts_void(struct claim *claim, int out_fd);

/* Once the original has moved: removes what is left of the reservations, by which place knows a
 * result that was given its name and taken away by somebody since. */
void drafts_release(const struct claim *claim, int out_fd);

/* Gives the results of a noted verdict their names in OUT (`out_fd`), those that have them not yet.
 * The caller syncs the directory. FAULT_NO_INPUT: a result is nowhere; the file must be done again.
 * FAULT_EXISTS: as drafts_commit. Other faults may leave no verdict: then it is done again, too. */
int drafts_place(struct claim *claim, int out_fd, struct fault *fault);

/* The final name of the claim's result for a plane, without the folders on the way, once there is a
 * verdict. */
void draft_final_name(const struct claim *claim, size_t index, char name[256]);

/* Syncs the names that were given in OUT for this claim. 0 or −1, errno. */
int drafts_sync_names(const struct claim *claim, int out_fd);

#endif
