#include "codec/output.h"

#include <stdlib.h>
#include <string.h>

#include "base/file.h"

struct output *output_create(int fd)
{
    struct output *output = malloc(sizeof *output);
    if (!output)
        return NULL;
    output->fd = fd;
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
    if (size > sizeof output->buffer - output->used)
        drain(output);
    if (size >= sizeof output->buffer) {
        if (file_write(output->fd, data, size, &output->fault) == 0)
            output->written += size;
        return;
    }
    memcpy(output->buffer + output->used, data, size);
    output->used += size;
}

int output_flush(struct output *output, struct fault *fault)
{
    drain(output);
    return output->fault.code ? fault_set(fault, output->fault.code, "%s", output->fault.text) : 0;
}
