#include "codec/input.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"

struct decoder_input input_of_memory(const uint8_t *data, size_t size)
{
    return (struct decoder_input){
        .fd = -1, .size = size, .see = data, .seen = size, .fault = FAULT_INIT};
}

struct decoder_input input_of_file(int fd, uint64_t size)
{
    return (struct decoder_input){.fd = fd, .size = size, .room = INPUT_PIECE, .fault = FAULT_INIT};
}

struct decoder_input input_again(const struct decoder_input *input)
{
    struct decoder_input again = *input;
    if (input->fd >= 0) {
        again = input_of_file(input->fd, input->size);
        again.room = input->room;
    }
    return again;
}

void input_finish(struct decoder_input *input)
{
    free(input->piece);
    *input = (struct decoder_input){.fd = -1};
}

/* Reads up to `count` bytes, or where the file has become shorter what it has. */
static size_t read_at(struct decoder_input *input, uint64_t at, uint8_t *to, size_t count)
{
    size_t have = 0;
    ssize_t n = 1;
    uint64_t before = clock_now();
    if (at >= input->size)
        return 0;
    count = count < input->size - at ? count : (size_t)(input->size - at);
    while (have < count && n != 0) {
        n = pread(input->fd, to + have, count - have, (off_t)(at + have));
        if (n < 0 && errno != EINTR) {
            if (!input->fault.code)
                fault_set_errno(&input->fault, FAULT_IO, "read");
            n = 0;
        }
        have += n > 0 ? (size_t)n : 0;
    }
    if (have < count)
        input->size = at + have;
    input->time += clock_now() - before;
    return have;
}

static bool make_room(struct decoder_input *input, size_t least)
{
    if (input->piece && least <= input->room)
        return true;
    size_t room = least > input->room ? least : input->room;
    uint8_t *grown = realloc(input->piece, room);
    if (!grown) {
        if (!input->fault.code)
            fault_set(&input->fault, FAULT_MEMORY, "no memory to read a file");
        return false;
    }
    input->piece = grown;
    input->room = room;
    return true;
}

const uint8_t *input_see(struct decoder_input *input, uint64_t at, size_t least, size_t *got)
{
    uint64_t from = at - input->at;
    *got = from <= input->seen ? input->seen - (size_t)from : 0;
    if (*got >= least || input->fd < 0 || at >= input->size)
        return *got > 0 ? input->see + from : NULL;
    bool follows = from <= input->seen;
    size_t kept = *got, wanted = follows || input->room < INPUT_JUMP ? input->room : INPUT_JUMP;
    wanted = wanted > least ? wanted : least;
    if (wanted > input->size - at)
        wanted = (size_t)(input->size - at);
    if (!make_room(input, wanted)) {
        *got = 0;
        return NULL;
    }
    if (kept > 0)
        memmove(input->piece, input->piece + from, kept);
    input->see = input->piece;
    input->at = at;
    *got = input->seen = kept + read_at(input, at + kept, input->piece + kept, wanted - kept);
    return *got > 0 ? input->see : NULL;
}

size_t input_read(struct decoder_input *input, uint64_t at, void *to, size_t count)
{
    size_t done = 0;
    while (done < count) {
        size_t got, left = count - done;
        bool far = input->fd >= 0 && at - input->at >= input->seen && left >= input->room;
        if (far) /* what follows is more than a piece */
            return done + read_at(input, at, (uint8_t *)to + done, left);
        const uint8_t *see = input_see(input, at, 1, &got);
        if (got == 0)
            break;
        got = got < left ? got : left;
        memcpy((uint8_t *)to + done, see, got);
        done += got;
        at += got;
    }
    return done;
}
