/* Several passes computed row by row (device_rows_create): for each row of the result the kernels
 * of the parts are called in turn. What one part hands to the next is a line of memory, which each
 * band of rows has for itself, or a row of the result that is computed next (struct relay).
 *
 * A stencil needs several rows of its source, so in front of it is a ring of lines with the latest
 * rows; each row is computed once for a band. Rows of the ring are numbered as in the plane with
 * its border (row -1 is above the first one), and row v is line v mod ring. So a row outside, which
 * repeats an inner one, is computed a second time. With a border of zeros it is not computed: the
 * stencil's kernel does not read it. */
#include <stdlib.h>
#include <string.h>

#include "device/native/native.h"
#include "image/border.h"

/* The launch's arguments behind NATIVE_ARGS: the memory for lines, and struct device_rows. */
#define HEAD_ARGS (1 + DEVICE_ROWS_ARGS(struct device_rows))

/* The three arguments of a plane. */
enum {
    PLANE_MEMORY,
    PLANE_OFFSET,
    PLANE_STRIDE
};

/* Limit of the arguments of all parts together; a plane counts as three. A pass has at most
 * PASS_ARGS_MAX (stage/pass.h). */
#define ARGS_MAX 512

struct part {
    struct native_function function;
    unsigned n_args;
    int line_in, line_out;
    unsigned ring;
};

struct native_rows {
    struct device_program base;
    struct native_kernel kernel;
    char name[128];
    unsigned n;       /* parts */
    unsigned stencil; /* index of the part that reads a ring; 0: there is none */
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
            rows->stencil = i;
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
    *kernel = &((struct native_rows *)program)->kernel.base;
    return 0;
}

int native_rows_store(struct device_program *program, struct fault *fault)
{
    return 0; /* nothing was compiled */
}

/* A part with its arguments for one band. */
struct call {
    const struct native_function *function;
    union native_arg *args;
    int items;
};

static void take_ints(void *to, const union native_arg *args, size_t count)
{
    for (size_t i = 0; i < count; i++)
        ((int32_t *)to)[i] = args[i].i;
}

/* Prepares the calls of all parts for a band, whose lines are `lines` bytes behind those of the
 * first band. Copies the arguments to `to`, which the calls point into. */
static void prepare(const struct native_rows *rows, const union native_arg *own, size_t lines,
                    union native_arg *to, struct call *calls)
{
    const union native_arg *from = own + HEAD_ARGS;
    for (unsigned i = 0; i < rows->n; i++) {
        const struct part *part = &rows->parts[i];
        struct device_rows_grid grid;
        take_ints(&grid, from, DEVICE_ROWS_ARGS(grid));
        from += DEVICE_ROWS_ARGS(grid);
        calls[i] = (struct call){&part->function, to, grid.items};
        to[NATIVE_WIDTH].i = grid.width;
        to[NATIVE_RING].i = (int32_t)part->ring;
        memcpy(to + NATIVE_ARGS, from, part->n_args * sizeof *to);
        if (part->line_in >= 0)
            to[NATIVE_ARGS + part->line_in].p = (char *)to[NATIVE_ARGS + part->line_in].p + lines;
        if (i + 1 < rows->n)
            to[NATIVE_ARGS + part->line_out].p = (char *)to[NATIVE_ARGS + part->line_out].p + lines;
        to += NATIVE_ARGS + part->n_args;
        from += part->n_args;
    }
}

/* The row that the stencil, or without one the first part, hands on is not written into a line but
 * where the next row of the result will be, unless that belongs to another band. Stores into a row
 * wait for memory to deliver it. The stencil has enough to compute meanwhile; the last part and the
 * first one, which follow each other and mostly compute little, would wait one after the other. */
struct relay {
    union native_arg *out, *in; /* the plane's arguments, of the part that writes and that reads */
    const union native_arg *result; /* the result's; NULL: the line is taken for all rows */
    union native_arg line[2];       /* the line's memory and offset */
};

static struct relay make_relay(const struct native_rows *rows, const struct device_rows *head,
                               const struct call *calls)
{
    unsigned s = rows->stencil, last = rows->n - 1;
    struct relay relay = {.result = NULL};
    if (!head->relays)
        return relay;
    relay.result = calls[last].args + NATIVE_ARGS + rows->parts[last].line_out;
    relay.out = calls[s].args + NATIVE_ARGS + rows->parts[s].line_out;
    relay.in = calls[s + 1].args + NATIVE_ARGS + rows->parts[s + 1].line_in;
    memcpy(relay.line, relay.out, sizeof relay.line);
    return relay;
}

/* Chooses where row `row` is handed on, of a band that ends in front of row `end`. */
static void set_relay(const struct relay *relay, int row, int end)
{
    union native_arg to[2];
    if (!relay->result)
        return;
    memcpy(to, row + 1 < end ? relay->result : relay->line, sizeof to);
    if (row + 1 < end)
        to[PLANE_OFFSET].i += (row + 1) * relay->result[PLANE_STRIDE].i;
    memcpy(relay->out, to, sizeof to);
    memcpy(relay->in, to, sizeof to);
}

static void call_all(const struct call *calls, unsigned first, unsigned end, int row)
{
    for (unsigned i = first; i < end; i++)
        calls[i].function->call(calls[i].function, calls[i].args, 0, calls[i].items, row, row + 1);
}

/* Computes rows begin … end - 1 with a stencil among the parts. For each row v of the ring, the
 * parts in front of the stencil compute it into its line; then, if that was the last row that a row
 * of the result needs, the stencil and the parts behind it compute that row. */
static void run_ring(const struct native_rows *rows, const struct device_rows *head,
                     const struct call *calls, const struct relay *relay, int begin, int end)
{
    unsigned s = rows->stencil;
    const struct part *stencil = &rows->parts[s], *writer = &rows->parts[s - 1];
    int ring = (int)stencil->ring, top = head->ring_top, last = ring - 1;
    int stride = calls[s].args[NATIVE_ARGS + stencil->line_in + PLANE_STRIDE].i;
    union native_arg *line = &calls[s - 1].args[NATIVE_ARGS + writer->line_out + PLANE_OFFSET];
    int offset = line->i;
    for (int v = begin - top; v < end - top + last; v++) {
        int64_t row = border_index(v, head->ring_rows, (enum border)head->ring_border);
        if (row >= 0) {
            line->i = offset + ((v % ring + ring) % ring) * stride;
            call_all(calls, 0, s, (int)row);
        }
        if (v + top - last >= begin) {
            set_relay(relay, v + top - last, end);
            call_all(calls, s, rows->n, v + top - last);
        }
    }
}

void native_rows_run(const struct native_rows *rows, const union native_arg *args, int begin,
                     int end)
{
    const union native_arg *own = args + NATIVE_ARGS;
    union native_arg memory[ARGS_MAX];
    struct call calls[rows->n];
    struct device_rows head;
    take_ints(&head, own + 1, DEVICE_ROWS_ARGS(head));
    for (int band = begin; band < end; band++) {
        int row = band * head.band, row_end = row + head.band;
        if (row_end > head.rows)
            row_end = head.rows;
        prepare(rows, own, (size_t)band * (size_t)head.band_bytes, memory, calls);
        struct relay relay = make_relay(rows, &head, calls);
        if (rows->stencil > 0)
            run_ring(rows, &head, calls, &relay, row, row_end);
        else
            for (; row < row_end; row++) {
                set_relay(&relay, row, row_end);
                call_all(calls, 0, rows->n, row);
            }
    }
}
