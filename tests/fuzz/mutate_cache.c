/* Entries of the kernel cache with sizes and a checksum that are right, now and then. */
#include <string.h>

#include "base/hash.h"
#include "parts.h"

struct header {
    char magic[16];
    uint64_t key_size, binary_size, checksum;
};

size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t limit, unsigned seed)
{
    struct header header;
    size = LLVMFuzzerMutate(data, size, limit);
    if (size < sizeof header || seed % 2 == 0)
        return size;
    memcpy(&header, data, sizeof header);
    uint64_t rest = size - sizeof header;
    if (seed % 4 == 1 && header.key_size <= rest)
        header.binary_size = rest - header.key_size;
    header.checksum = hash_bytes(HASH_INIT, data + sizeof header, rest);
    memcpy(data, &header, sizeof header);
    return size;
}
