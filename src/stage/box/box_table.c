/* Summed-area tables, and means from them on GPUs: see cl/box/box_table.cl. */
#include "stage/box/box_internal.h"

enum {
    CHUNK = 12,    /* samples of a row that a work-item of a GPU takes */
    BAND = 128,    /* rows of a table that it goes down */
    COLUMNS = 1024 /* entries of a row that a work-item of a CPU goes down with: a page */
};

static struct pass *begin(const struct box_task *task, const char *kernel, enum kernel_form form,
                          uint32_t span, uint32_t width, uint32_t height, double work)
{
    const struct plane *in = &task->in.plane;
    struct pass *pass = pass_begin(task->plan, "box_table", kernel, form, span, width, height);
    pass_define_type(pass, "SRC", in->type);
    pass_channels(pass, in->channels, in->channels);
    pass_name(pass, kernel_form_name(form));
    pass->work = work;
    return pass;
}

/* On CPUs: sums along rows, then down columns. */
static void make_by_rows(const struct box_task *task, const struct view *table)
{
    const struct plane *in = &task->in.plane;
    uint32_t samples = (in->width + 1) * in->channels;
    struct pass *pass =
        begin(task, "rows", FORM_ROWS, PASS_WHOLE_ROW, in->width * in->channels, in->height + 1, 4);
    pass_views(pass, &task->in, table);
    pass = begin(task, "down", FORM_ROWS, COLUMNS, samples, 1, 2.0 * in->height);
    pass->bytes_read = pass->bytes_written = plane_bytes(&table->plane);
    pass_view(pass, table);
    pass_int(pass, (int32_t)in->height);
}

static struct pass *begin_reading(const struct box_task *task, const char *kernel, uint32_t span,
                                  uint32_t width, uint32_t height, double work)
{
    const struct plane *in = &task->in.plane;
    struct pass *pass = begin(task, kernel, FORM_SCALAR, span, width, height, work);
    pass_define(pass, "ALIGNED", "%d", pass_is_aligned(in));
    if (!pass_is_aligned(in))
        pass_name(pass, "unaligned");
    pass->bytes_read = plane_bytes(in);
    pass_view(pass, &task->in);
    return pass;
}

static void make_by_bands(const struct box_task *task, const struct view *table)
{
    const struct plane *in = &task->in.plane;
    uint32_t samples = in->width * in->channels, chunks = (samples + CHUNK - 1) / CHUNK;
    uint32_t bands = (in->height + BAND - 1) / BAND, each = in->channels == 1 ? 1 : 4;
    /* Whole chunks, and whole words of 16 bytes. */
    uint32_t lanes = stage_round_up(samples, 4 * CHUNK);
    struct view blocks = box_scratch(task, &task->memory->blocks, lanes, bands, 1, SAMPLE_I32);
    struct view starts =
        box_scratch(task, &task->memory->half, chunks * each, in->height, 1, SAMPLE_I32);
    struct pass *pass = begin_reading(task, "blocks", 16, samples, bands, 2.0 * BAND);
    pass_view(pass, &blocks);
    pass_ints(pass, in->height, BAND);
    pass = begin(task, "carry", FORM_SCALAR, 4, lanes, 1, 2.0 * bands);
    pass_view(pass, &blocks);
    pass_int(pass, (int32_t)bands);
    pass = begin(task, "along", FORM_SCALAR, 1, bands, 1, 2.0 * lanes);
    pass_view(pass, &blocks);
    pass_int(pass, (int32_t)samples);
    pass = begin_reading(task, "starts", 1, in->height, 1, 2.0 * samples);
    pass->bytes_written = plane_bytes(&starts.plane);
    pass_view(pass, &starts);
    pass_int(pass, (int32_t)samples);
    pass = begin_reading(task, "walk", 1, chunks, bands, 4.0 * CHUNK * BAND);
    pass->bytes_written = plane_bytes(&table->plane);
    pass_view(pass, &blocks);
    pass_view(pass, &starts);
    pass_view(pass, table);
    pass_ints(pass, samples, in->height, BAND);
}

void box_make_table(const struct box_task *task, const struct view *table)
{
    (task->plan->profile->form == FORM_ROWS ? make_by_rows : make_by_bands)(task, table);
}

static uint64_t entries_of(const struct plane *in)
{
    return (uint64_t)(in->height + 1) *
           ((uint64_t)(in->width + 1) * in->channels + FRAME_ALIGNMENT);
}

bool box_table_fits(const struct plane *in)
{
    return entries_of(in) <= INT32_MAX;
}

bool box_suits_table(const struct box_task *task)
{
    const struct plane *in = &task->in.plane;
    const struct device_profile *profile = task->plan->profile;
    return task->by_table && profile->form != FORM_ROWS && sample_is_integer(in->type) &&
           box_table_fits(in) && entries_of(in) * sizeof(uint32_t) <= profile->max_allocation &&
           box_divider_of(task).sum_bits == 32;
}

struct view box_add_table(const struct box_task *task, struct scratch *memory)
{
    const struct plane *in = &task->in.plane;
    struct view table =
        box_scratch(task, memory, in->width + 1, in->height + 1, in->channels, SAMPLE_I32);
    box_make_table(task, &table);
    return table;
}

void box_add_lookup(const struct box_task *task)
{
    const struct plane *out = &task->out.plane;
    struct view own;
    const struct view *table = task->table;
    if (!table) {
        own = box_add_table(task, &task->memory->table[1]);
        table = &own;
    }
    struct box_divider divider = box_divider_of(task);
    struct pass *pass = begin(task, "lookup", FORM_SCALAR, pass_is_aligned(out) ? 4 : 1,
                              out->width * out->channels, out->height, 24);
    pass->bytes_read = plane_bytes(&table->plane);
    pass->bytes_written = plane_bytes(out);
    pass_view(pass, &task->in);
    pass_view(pass, table);
    pass_view(pass, &task->out);
    box_add_window(pass, task, 1);
    box_add_divider(pass, task, &divider);
}
