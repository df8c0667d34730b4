/* Files that are lists of parts (chunks of PNG, segments of JPEG, members of ZIP), for mutators:
 * they take a file apart, change its parts, and put it together again with lengths and checksums
 * that are right, so that what changed is read. Built with -Dfuzz=true alone. */
#ifndef SLUICE_TESTS_FUZZ_PARTS_H
#define SLUICE_TESTS_FUZZ_PARTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define PARTS_MAX     64
#define PART_NAME_MAX 32

struct part {
    char name[PART_NAME_MAX]; /* as the format calls it */
    uint8_t *data;            /* owned */
    size_t size;
    bool packed; /* `data` is unpacked, and packed again when the file is written */
    bool spoilt; /* its checksum is to be wrong */
};

struct parts {
    struct part list[PARTS_MAX];
    size_t n;
};

void parts_add(struct parts *parts, const char *name, const void *data, size_t size);
void parts_finish(struct parts *parts);

/* Changes one part, or leaves one out, doubles one, moves one, or adds one whose name is one of
 * `names` (ends with NULL). */
void parts_mutate(struct parts *parts, const char *const *names, unsigned seed);

/* zlib's form, or with `raw` deflate alone. Owned by the caller; NULL: it is none, or too large. */
uint8_t *parts_unpack(const uint8_t *data, size_t size, size_t *unpacked, bool raw);
uint8_t *parts_pack(const uint8_t *data, size_t size, size_t *packed, bool raw);

/* The file being written: what does not fit is left out, and `full` set. */
struct sink_of_bytes {
    uint8_t *data;
    size_t size, limit;
    bool full;
};
void sink_put(struct sink_of_bytes *sink, const void *data, size_t size);
void sink_put_be(struct sink_of_bytes *sink, uint64_t value, unsigned bytes);
void sink_put_le(struct sink_of_bytes *sink, uint64_t value, unsigned bytes);

/* libFuzzer's. */
size_t LLVMFuzzerMutate(uint8_t *data, size_t size, size_t limit);
size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t limit, unsigned seed);

#endif
