#include "codec/output.h"

#include <stdlib.h>
#include <string.h>

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
        copy_samples(swapped, from + done, n / size, size, true);
        output_write(output, swapped, n);
        done += n;
    }
}

void output_plane(struct output *output, const struct picture *picture, size_t index)
{
    const struct plane *plane = &picture->frame.planes[index];
    for (uint32_t y = 0; y < plane->height && !output->fault.code; y++)
        output_samples(output, picture_row(picture, index, y),
                       (size_t)plane->width * plane->channels, sample_size(plane->type),
                       HOST_IS_BIG_ENDIAN);
}

int output_flush(struct output *output, struct fault *fault)
{
    drain(output);
    return output->fault.code ? fault_set(fault, output->fault.code, "%s", output->fault.text) : 0;
}
