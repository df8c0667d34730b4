#include "codec/output.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/deadline.h"
#include "base/file.h"
#include "codec/byte_order.h"

struct output *output_create(int fd)
{
    struct output *output = malloc(sizeof *output);
    if (!output)
        return NULL;
    output->fd = fd;
    output->metadata = NULL;
    output->used = 0;
    output->written = 0;
    fault_clear(&output->fault);
    return output;
}

void output_destroy(struct output **output)
{
    free(*output);
    *output = NULL;
}

static void drain(struct output *output)
{
    if (output->used > 0 && output->fault.code == FAULT_NONE &&
        file_write(output->fd, output->buffer, output->used, &output->fault) == 0)
        output->written += output->used;
    output->used = 0;
}

void output_write(struct output *output, const void *data, size_t size)
{
    if (output->fault.code != FAULT_NONE)
        return;
    if (size > sizeof output->buffer - output->used && deadline_check(&output->fault) == 0)
        drain(output);
    if (output->fault.code != FAULT_NONE)
        return;
    if (size >= sizeof output->buffer) {
        if (file_write(output->fd, data, size, &output->fault) == 0)
            output->written += size;
        return;
    }
    memcpy(output->buffer + output->used, data, size);
    output->used += size;
}

void output_mend(struct output *output, uint64_t at, const void *data, size_t size)
{
    const uint8_t *from = data;
    if (output->fault.code != FAULT_NONE)
        return;
    if (at < output->written)
        drain(output); /* so that they are all in the file */
    if (at >= output->written)
        memcpy(output->buffer + (at - output->written), data, size);
    while (at < output->written && size > 0 && output->fault.code == FAULT_NONE) {
        ssize_t n = pwrite(output->fd, from, size, (off_t)at);
        if (n < 0 && errno != EINTR)
            fault_set_errno(&output->fault, FAULT_IO, "write");
        from += n > 0 ? n : 0;
        at += n > 0 ? (uint64_t)n : 0;
        size -= n > 0 ? (size_t)n : 0;
    }
}

bool output_can_mend(const struct output *output)
{
    int flags = fcntl(output->fd, F_GETFL);
    return flags != -1 && !(flags & O_APPEND) && lseek(output->fd, 0, SEEK_CUR) == 0;
}

void output_grow(struct output *output, uint64_t size)
{
    drain(output);
    output->written = size;
}

void output_samples(struct output *output, const void *samples, size_t count, size_t size,
                    bool swap)
{
    uint8_t swapped[4096];
    const uint8_t *from = samples;
    size_t bytes = count * size;
    if (!swap || size == 1) {
        output_write(output, samples, bytes);
        return;
    }
    for (size_t done = 0; done < bytes;) {
        size_t n = bytes - done < sizeof swapped ? bytes - done : sizeof swapped;
        sample_copy(swapped, from + done, n / size, size, true);
        output_write(output, swapped, n);
        done += n;
    }
}

/* Rows that lie one behind the other are written at once, and not copied before. */
void output_rows(struct output *output, const struct picture *picture, size_t index, uint32_t y,
                 uint32_t end, bool swap)
{
    const struct plane *plane = &picture->frame.planes[index];
    size_t count = (size_t)plane->width * plane->channels, size = sample_size(plane->type);
    uint32_t rows = plane->stride == count * size ? end - y : 1;
    for (; y < end && !output->fault.code; y += rows)
        output_samples(output, picture_row(picture, index, y), rows * count, size, swap);
}

int output_flush(struct output *output, struct fault *fault)
{
    drain(output);
    return output->fault.code ? fault_set(fault, output->fault.code, "%s", output->fault.text) : 0;
}

/* ---- planes as formats store them ---- */

int fit_type(const char *format, enum fit_depth depth, struct plane *plane, struct fault *fault)
{
    switch (plane->type) {
    case SAMPLE_U8:
    case SAMPLE_I8:
        plane->type = SAMPLE_U8;
        return 0;
    case SAMPLE_F32:
    case SAMPLE_F64:
        plane->type = depth == FIT_8 || plane_white(plane) <= 255 ? SAMPLE_U8 : SAMPLE_U16;
        return 0;
    case SAMPLE_U16:
    case SAMPLE_I16:
        plane->type = depth == FIT_8 ? SAMPLE_U8 : SAMPLE_U16;
        return 0;
    default:
        return fault_set(fault, FAULT_SHAPE,
                         "%s holds no samples of type %s; end the chain with convert:type=u8 or "
                         "convert:type=u16, or write npy or json",
                         format, sample_name(plane->type));
    }
}

int fit_any(const void *config, struct plane *plane, struct fault *fault)
{
    return 0;
}

int fit_bitmap(const char *format, struct plane *plane, struct fault *fault)
{
    if (plane->channels > 2)
        return fault_set(fault, FAULT_SHAPE,
                         "%s holds black and white; end the chain with luminance,threshold:otsu or "
                         "the like",
                         format);
    plane->channels = 1;
    return fit_type(format, FIT_8_OR_16, plane, fault);
}

static uint32_t sample_at(const struct plane *plane, const void *row, uint32_t x)
{
    return plane->type == SAMPLE_U8 ? ((const uint8_t *)row)[x] : ((const uint16_t *)row)[x];
}

int fit_check_bits(const char *format, const struct picture *picture, size_t index, uint32_t y,
                   uint32_t end, struct fault *fault)
{
    const struct plane *plane = &picture->frame.planes[index];
    uint32_t white = plane->type == SAMPLE_U8 ? UINT8_MAX : UINT16_MAX;
    for (; y < end; y++) {
        const void *row = picture_row(picture, index, y);
        for (uint32_t x = 0; x < plane->width; x++) {
            uint32_t v = sample_at(plane, row, x);
            if (v != 0 && v != white)
                return fault_set(fault, FAULT_SHAPE,
                                 "%s holds 0 and %u, and pixel (%u, %u) is %u; end the chain with "
                                 "threshold:otsu or the like",
                                 format, white, x, y, v);
        }
    }
    return 0;
}

void fit_bits(const struct picture *picture, size_t index, uint32_t y, bool invert, uint8_t *bits)
{
    const struct plane *plane = &picture->frame.planes[index];
    const void *row = picture_row(picture, index, y);
    memset(bits, 0, (plane->width + 7) / 8);
    for (uint32_t x = 0; x < plane->width; x++)
        bits[x / 8] |= (uint8_t)(((sample_at(plane, row, x) != 0) ^ invert) << (7 - x % 8));
}
