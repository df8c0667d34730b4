/* Who counts as whom: a range of subordinate ids (subuid(5)), which a user may take on as he likes,
 * counts as its owner, so that shares by user cannot be had many times over. All on the loop's
 * thread. */
#ifndef SLUICE_DAEMON_SERVE_OWNER_H
#define SLUICE_DAEMON_SERVE_OWNER_H

#include <stdint.h>
#include <sys/types.h>
#include <time.h>

struct owner_range {
    uint32_t start, count;
    uid_t owner; /* where the owner is not in the file of users: the range's first id */
};

struct owners {
    const char *ranges_file, *users_file; /* as /etc/subuid and /etc/passwd */

    struct owner_range *ranges; /* owned */
    size_t n_ranges;
    struct timespec changed; /* when ranges_file was last written, as far as it is known here */
    uint64_t looked;         /* monotonic nanoseconds */
};

/* The user who counts for this id: the owner of the range that it is in, or itself. Files are read
 * again when they have changed, which is looked at once a second at most; users of other sources
 * than users_file are not asked for, since such a question may hang. */
uid_t owner_of(struct owners *owners, uid_t uid);

void owners_finish(struct owners *owners);

#endif
