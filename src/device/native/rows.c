/* Kernels of several that are called in turn, a row at a time (device_rows_create). Each band has
 * lines of its own; in front of a stencil lie the latest rows that it reaches, each computed once a
 * band. They are counted as they stand in the bordered plane, so that a row outside, which repeats
 * another, is computed again. Rows of zeros are not computed: the stencil knows them. */
#include <stdlib.h>
#include <string.h>

#include "device/native/native.h"
#include "image/border.h"

/* A launch's arguments behind NATIVE_ARGS, in front of the parts'. */
enum {
    LINES,
    BAND_BYTES,
    BAND_ROWS,
    ROWS,
    RING_ROWS,
    RING_BORDER,
    RING_TOP,
    HEAD_ARGS
};

/* And in front of each part's. */
enum {
    PART_WIDTH,
    PART_ITEMS,
    PART_ARGS
};

/* Arguments of all parts: PASS_ARGS_MAX in stage/pass.h, planes being three. */
#define ARGS_MAX 512

struct part {
    native_function *function;
    unsigned n_args;
    int line_in, line_out;
    unsigned ring;
};

struct native_rows {
    struct device_program base;
    struct native_kernel kernel;
    char name[128];
    unsigned n, window; /* parts; which of them has a ring in front of it, 0: none */
    struct part parts[];
};

int native_rows_create(struct device *device, const struct device_part *parts, unsigned n_parts,
                       const char *name, struct device_program **program, struct fault *fault)
{
    struct native_rows *rows = calloc(1, sizeof *rows + n_parts * sizeof *rows->parts);
    int result = rows ? 0 : fault_set(fault, FAULT_MEMORY, "no memory for a kernel");
    *program = NULL;
    for (unsigned i = 0, n_args = 0; i < n_parts && result == 0; i++) {
        const struct device_kernel *kernel = NULL;
        result = device_kernel_find(device, parts[i].hash, parts[i].name, &kernel, fault);
        n_args += NATIVE_ARGS + parts[i].n_args;
        if (result == 0 && n_args > ARGS_MAX)
            result = fault_set(fault, FAULT_INTERNAL, "kernel %s has too many arguments", name);
        if (result != 0)
            break;
        rows->parts[i] =
            (struct part){((const struct native_kernel *)kernel)->function, parts[i].n_args,
                          parts[i].line_in, parts[i].line_out, parts[i].ring};
        if (parts[i].ring > 0)
            rows->window = i;
    }
    if (result != 0) {
        free(rows);
        return result;
    }
    size_t length = strlen(name);
    memcpy(rows->name, name, length < sizeof rows->name ? length : sizeof rows->name - 1);
    rows->base.device = device;
    rows->kernel = (struct native_kernel){.base = {.name = rows->name}, .rows = rows};
    rows->n = n_parts;
    *program = &rows->base;
    return 0;
}

void native_rows_put(struct device_program *program)
{
    free(program);
}

int native_rows_kernel(struct device_program *program, const char *name,
                       const struct device_kernel **kernel, struct fault *fault)
{
    (void)name;
    (void)fault;
    *kernel = &((struct native_rows *)program)->kernel.base;
    return 0;
}

int native_rows_store(struct device_program *program, struct fault *fault)
{
    (void)program;
    (void)fault;
    return 0; /* there is nothing that was compiled */
}

/* A part with its arguments for one band. */
struct call {
    native_function *function;
    union native_arg *args;
    int items;
};

/* Fills the calls of all parts, whose arguments are at `to`. */
static void prepare(const struct native_rows *rows, const union native_arg *own, size_t lines,
                    union native_arg *to, struct call *calls)
{
    const union native_arg *from = own + HEAD_ARGS;
    for (unsigned i = 0; i < rows->n; i++) {
        const struct part *part = &rows->parts[i];
        calls[i] = (struct call){part->function, to, from[PART_ITEMS].i};
        to[NATIVE_WIDTH] = from[PART_WIDTH];
        to[NATIVE_RING].i = (int32_t)part->ring;
        memcpy(to + NATIVE_ARGS, from + PART_ARGS, part->n_args * sizeof *to);
        if (part->line_in >= 0)
            to[NATIVE_ARGS + part->line_in].p = (char *)to[NATIVE_ARGS + part->line_in].p + lines;
        if (part->line_out >= 0)
            to[NATIVE_ARGS + part->line_out].p = (char *)to[NATIVE_ARGS + part->line_out].p + lines;
        to += NATIVE_ARGS + part->n_args;
        from += PART_ARGS + part->n_args;
    }
}

static void call_all(const struct call *calls, unsigned first, unsigned end, int row)
{
    for (unsigned i = first; i < end; i++)
        calls[i].function(calls[i].args, 0, calls[i].items, row, row + 1);
}

static void run_ring(const struct native_rows *rows, const union native_arg *own,
                     const struct call *calls, int begin, int end)
{
    enum {
        OFFSET = 1,
        STRIDE = 2
    };
    const struct part *stencil = &rows->parts[rows->window];
    const struct part *writer = &rows->parts[rows->window - 1];
    int ring = (int)stencil->ring, top = own[RING_TOP].i, last = ring - 1;
    int stride = calls[rows->window].args[NATIVE_ARGS + stencil->line_in + STRIDE].i;
    union native_arg *at = &calls[rows->window - 1].args[NATIVE_ARGS + writer->line_out + OFFSET];
    int offset = at->i;
    for (int v = begin - top; v < end - top + last; v++) {
        int64_t row = border_index(v, own[RING_ROWS].i, (enum border)own[RING_BORDER].i);
        if (row >= 0) {
            at->i = offset + ((v % ring + ring) % ring) * stride;
            call_all(calls, 0, rows->window, (int)row);
        }
        if (v + top - last >= begin)
            call_all(calls, rows->window, rows->n, v + top - last);
    }
}

void native_rows_run(const struct native_rows *rows, const union native_arg *args, int begin,
                     int end)
{
    const union native_arg *own = args + NATIVE_ARGS;
    union native_arg memory[ARGS_MAX];
    struct call calls[rows->n];
    for (int band = begin; band < end; band++) {
        int row = band * own[BAND_ROWS].i, row_end = row + own[BAND_ROWS].i;
        if (row_end > own[ROWS].i)
            row_end = own[ROWS].i;
        prepare(rows, own, (size_t)band * (size_t)own[BAND_BYTES].i, memory, calls);
        if (rows->window > 0)
            run_ring(rows, own, calls, row, row_end);
        else
            for (; row < row_end; row++)
                call_all(calls, 0, rows->n, row);
    }
}
