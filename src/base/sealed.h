/* Sealed memory files: what a memfd holds, mapped and not copied. */
#ifndef SLUICE_BASE_SEALED_H
#define SLUICE_BASE_SEALED_H

#include "base/file.h"

/* True for a memory file that nobody can change or shrink any more. */
bool sealed_is(int fd);

/* Maps the whole of `fd` for reading when nobody can change it any more, whoever made it:
 *
 *     F_SEAL_WRITE    no byte changes. The kernel refuses this seal while anybody has a writable
 *                     mapping, which F_SEAL_FUTURE_WRITE leaves alone: that one will not do
 *     F_SEAL_SHRINK   no page goes away under us (SIGBUS)
 *     tmpfs           a huge page of hugetlbfs that cannot be had is a SIGBUS, too
 *
 * False for anything else, an empty file and one above `limit`: file_read says what is wrong. */
bool sealed_map(int fd, uint64_t limit, struct bytes *bytes);

/* Takes bytes that sealed_map gave; clears them. */
void sealed_unmap(struct bytes *bytes);

#endif
