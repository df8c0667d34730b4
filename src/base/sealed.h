/* Sealed memory files (memfd_create, fcntl F_ADD_SEALS), which are mapped instead of copied. */
#ifndef SLUICE_BASE_SEALED_H
#define SLUICE_BASE_SEALED_H

#include "base/file.h"

/* Makes an empty memory file that can be sealed. Returns −1 and errno where there is no memory. */
int sealed_create(const char *name);

/* Seals a memory file: from now on nobody can change its bytes or its size. Returns −1 and errno
 * for one that cannot be sealed. */
int sealed_finish(int fd);

/* True for a memory file that nobody can change or shrink. */
bool sealed_is(int fd);

/* Maps `fd` for reading if nobody can change it, whoever made it. That takes
 *
 *     F_SEAL_WRITE    no byte can change. The kernel refuses this seal while a writable mapping
 *                     exists. F_SEAL_FUTURE_WRITE is not enough, since it allows existing mappings
 *     F_SEAL_SHRINK   no page can disappear (SIGBUS)
 *     tmpfs           a missing huge page of hugetlbfs would be a SIGBUS
 *
 * Returns false for any other file, an empty one, and one above `limit`; file_read tells the
 * reason. */
bool sealed_map(int fd, uint64_t limit, struct bytes *bytes);

/* Unmaps bytes of sealed_map, and clears them. */
void sealed_unmap(struct bytes *bytes);

#endif
