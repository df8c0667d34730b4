/* For decoders: the bytes of their input, which are in memory, or in a file that is read in pieces
 * when they are asked for. A file is not mapped: pictures in watched folders are a stranger's, and
 * if somebody truncates one this process would die of SIGBUS. What is read twice may have changed
 * in between, so whoever checks bytes uses the ones that were checked. A file that becomes shorter
 * ends there. One thread at a time; several inputs may have the same file. */
#ifndef SLUICE_CODEC_INPUT_H
#define SLUICE_CODEC_INPUT_H

#include "base/fault.h"
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define INPUT_PIECE (128u << 10) /* bytes that are read at a time, one after the other */
#define INPUT_JUMP  4096         /* and elsewhere, where others may be wanted next */

struct decoder_input {
    int fd;             /* borrowed; −1: all is in memory */
    uint64_t size;      /* bytes in all */
    const uint8_t *see; /* those that can be seen; in memory all */
    uint64_t at;        /* where they begin */
    size_t seen;        /* how many they are */
    uint8_t *piece;     /* owned: memory for them; NULL: none yet */
    size_t room;        /* its bytes, or what it will have; INPUT_PIECE unless a test says less */
    uint64_t time;      /* nanoseconds in read(2) */
    struct fault fault; /* the first failure; code 0: none. The input ends where it happened */
};

struct decoder_input input_of_memory(const uint8_t *data, size_t size);

/* Reads `fd`, a file of `size` bytes, by pread(2). */
struct decoder_input input_of_file(int fd, uint64_t size);

/* The same bytes once more, with places of its own. */
struct decoder_input input_again(const struct decoder_input *input);

void input_finish(struct decoder_input *input);

/* Bytes from `at` on that lie together, at least `least` of them unless the input ends before;
 * *got: how many there are, 0 at the end. Valid until the next call. Memory for them grows with
 * `least`. */
const uint8_t *input_see(struct decoder_input *input, uint64_t at, size_t least, size_t *got);

/* Bytes beyond INPUT_PIECE that are taken for seeing so many at a time. */
static inline uint64_t input_memory(const struct decoder_input *input, uint64_t least)
{
    return input->fd < 0 || least <= INPUT_PIECE ? 0 : least;
}

/* Copies bytes; returns how many there were. */
size_t input_read(struct decoder_input *input, uint64_t at, void *to, size_t count);

/* The byte at `at`; −1 behind the last one. */
static inline int input_byte(struct decoder_input *input, uint64_t at)
{
    size_t got = 1;
    const uint8_t *byte =
        at - input->at < input->seen ? input->see + (at - input->at) : input_see(input, at, 1, &got);
    return got > 0 ? *byte : -1;
}

#endif
