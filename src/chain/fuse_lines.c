/* Fusing on a device whose kernels were compiled with sluice: the kernels of the steps are called
 * in turn, row by row. Between two of them lies one line of scratch memory, or in front of a
 * stencil a ring of as many lines as the stencil reads, so intermediate results stay in a core's
 * nearest cache. Behind the stencil the next row of the result serves as a line where it can. The
 * rows of a result are shared out in bands, one for each work-item. */
#include <stdlib.h>
#include <string.h>

#include "chain/plan_internal.h"
#include "device/program.h"

#define PARTS_MAX 12

/* Limit for the lines of one band. More would not fit a core's own cache, and where rows are that
 * long there are few bands. */
#define LINES_BYTES_MAX (1 << 20)

/* The least number of rows in a band. With a stencil a band has so many more that the rows which
 * neighbouring bands both compute are at most an eighth. */
#define BAND_ROWS_MIN 16
#define BANDS_A_UNIT  8

/* One part of a fused kernel, and the line or ring of lines that it writes for the next part. */
struct unit {
    struct stage_plan own; /* as its stage planned it: the pass, and tables */
    const struct frame *in, *out;
    struct stage_reach reach;
    uint32_t line_bytes, lines; /* of the lines that it writes; 0 for the last part */
};

struct lines {
    const struct fuse_group *group;
    unsigned n;
    struct unit units[PARTS_MAX];
    int window; /* index of the stencil among the units, or -1 */
    uint32_t item_bytes;
};

/* Plans the unit of a step. It fits if it is one pass in rows form on one plane. */
static int add_unit(struct lines *lines, const struct plan_step *step, bool *fits,
                    struct fault *fault)
{
    struct unit *unit = &lines->units[lines->n++];
    *unit = (struct unit){
        .in = step->in, .out = &step->out, .reach = stage_find_reach(step->stage, step->config)};
    int result = plan_step_passes(step, lines->group->plan->profile, &unit->own, fault);
    if (unit->reach.rows > 1)
        lines->window = (int)lines->n - 1;
    *fits = result == 0 && unit->own.n_passes == 1 && unit->own.n_scratch == 0 &&
            unit->own.passes[0].form == FORM_ROWS;
    return result;
}

/* Lays out the lines behind each unit but the last. Those in front of the stencil are a ring. */
static void lay_out(struct lines *lines)
{
    uint64_t bytes = 0;
    for (unsigned i = 0; i + 1 < lines->n; i++) {
        const struct plane *plane = &lines->units[i].out->planes[0];
        uint64_t line = (uint64_t)plane->width * plane->channels * sample_size(plane->type);
        lines->units[i].lines = (int)i + 1 == lines->window ? lines->units[i + 1].reach.rows : 1;
        line = (line + 127) / 64 * 64;
        bytes += line * lines->units[i].lines;
        if (bytes > LINES_BYTES_MAX)
            bytes = UINT32_MAX / 2;
        lines->units[i].line_bytes = (uint32_t)line;
    }
    lines->item_bytes = (uint32_t)bytes;
}

static uint32_t choose_band(const struct lines *lines, uint32_t height)
{
    const struct device_profile *profile = lines->group->plan->profile;
    uint32_t least = BAND_ROWS_MIN, bands = BANDS_A_UNIT * profile->units;
    if (lines->window > 0 && 8 * (lines->units[lines->window].reach.rows - 1) > least)
        least = 8 * (lines->units[lines->window].reach.rows - 1);
    if (bands > (height + least - 1) / least)
        bands = (height + least - 1) / least;
    const struct plane *out = &lines->units[lines->n - 1].out->planes[0];
    return pass_limit_band(profile, out, (height + bands - 1) / bands, least / 10.0);
}

/* A picture of few long rows is better divided within its rows, which this form cannot. */
static bool is_worth_it(const struct lines *lines, uint32_t band)
{
    const struct plane *out = &lines->units[lines->n - 1].out->planes[0];
    uint32_t bands = (out->height + band - 1) / band;
    return lines->item_bytes <= LINES_BYTES_MAX &&
           (bands >= lines->group->plan->profile->units ||
            out->width * out->channels <= lines->group->plan->profile->segment);
}

/* Adds a plane of part `index`: the group's input or output, or the line between two parts. */
static void add_plane(struct pass *pass, const struct lines *lines, unsigned index,
                      const struct pass_arg *arg, unsigned memory, const uint32_t *begins)
{
    bool writes = arg->operand == OPERAND_OUT;
    if (writes ? index + 1 == lines->n : index == 0) {
        pass_plane(pass, arg->operand, arg->plane);
        return;
    }
    unsigned from = writes ? index : index - 1;
    const struct unit *writer = &lines->units[from];
    struct plane line = writer->out->planes[0];
    line.offset = begins[from];
    line.stride = !writes && writer->lines > 1 ? writer->line_bytes : 0;
    pass_view(pass, &(struct view){memory, line});
}

/* Adds the arguments of part `index` (struct device_rows_grid). */
static void add_part(struct pass *pass, struct stage_plan *work, const struct lines *lines,
                     unsigned index, unsigned memory, const uint32_t *begins)
{
    const struct unit *unit = &lines->units[index];
    const struct pass *part = &unit->own.passes[0];
    const struct device_rows_grid grid = {
        (int32_t)part->grid_width, (int32_t)((part->grid_width + part->span - 1) / part->span)};
    pass_add_ints(pass, (const int32_t *)&grid, DEVICE_ROWS_ARGS(grid));
    for (unsigned i = 0; i < part->n_args; i++) {
        const struct pass_arg *arg = &part->args[i];
        if (arg->kind == PASS_PLANE) {
            add_plane(pass, lines, index, arg, memory, begins);
            continue;
        }
        struct pass_arg *to = &pass->args[pass->n_args++];
        *to = *arg;
        if ((arg->kind == PASS_BUFFER || arg->kind == PASS_TABLE) &&
            arg->operand >= OPERAND_TABLE) {
            const struct stage_table *table = &unit->own.tables[arg->operand - OPERAND_TABLE];
            to->operand = stage_plan_take_table(work, table);
        }
    }
}

/* Whether a row that the stencil, or without one the first part, hands on fits a row of the result,
 * in samples as large. */
static bool fits_result(const struct lines *lines)
{
    unsigned from = lines->window > 0 ? (unsigned)lines->window : 0;
    const struct frame *out = lines->units[lines->n - 1].out;
    const struct plane *row = &lines->units[from].out->planes[0], *result = &out->planes[0];
    return from + 1 < lines->n && out->n_planes == 1 &&
           sample_size(row->type) == sample_size(result->type) &&
           row->width * row->channels <= result->width * result->channels;
}

static void add_arguments(struct pass *pass, struct stage_plan *work, const struct lines *lines,
                          uint32_t band)
{
    const struct unit *last = &lines->units[lines->n - 1];
    const struct unit *window = lines->window > 0 ? &lines->units[lines->window] : NULL;
    uint32_t begins[PARTS_MAX], bytes = 0;
    unsigned memory = stage_plan_scratch(work, lines->item_bytes, pass->grid_height, 1, SAMPLE_U8);
    if (work->out_of_memory)
        return; /* there is no such plane; the caller looks */
    pass->item = work->scratch[memory - OPERAND_SCRATCH].planes[0].stride;
    for (unsigned i = 0; i < lines->n; i++) {
        begins[i] = bytes;
        bytes += lines->units[i].lines * lines->units[i].line_bytes;
    }
    struct device_rows rows = {.band_bytes = (int32_t)pass->item,
                               .band = (int32_t)band,
                               .rows = (int32_t)last->out->planes[0].height,
                               .relays = fits_result(lines)};
    if (window) {
        rows.ring_rows = (int32_t)window->in->planes[0].height;
        rows.ring_border = window->reach.border;
        rows.ring_top = (int32_t)window->reach.top;
    }
    pass_buffer(pass, memory);
    pass_add_ints(pass, (const int32_t *)&rows, DEVICE_ROWS_ARGS(rows));
    for (unsigned i = 0; i < lines->n; i++)
        add_part(pass, work, lines, i, memory, begins);
    pass->bytes_read = lines->units[0].own.passes[0].bytes_read;
    for (unsigned i = 0; i < last->out->n_planes; i++)
        pass->bytes_written += plane_bytes(&last->out->planes[i]);
}

/* Whether the arguments fit, by an upper bound. */
static bool has_room(const struct lines *lines)
{
    unsigned count = 1 + DEVICE_ROWS_ARGS(struct device_rows);
    for (unsigned i = 0; i < lines->n; i++)
        count +=
            DEVICE_ROWS_ARGS(struct device_rows_grid) + 4 + lines->units[i].own.passes[0].n_args;
    return count <= PASS_ARGS_MAX;
}

static void name_pass(struct pass *pass, const struct lines *lines, const char *label)
{
    const struct plane *in = &lines->units[0].in->planes[0];
    const char channels[] = {'c', (char)('0' + in->channels), '\0'};
    memcpy(pass->name, label, strlen(label) + 1);
    pass_name(pass, sample_name(in->type));
    pass_name(pass, channels);
    pass_name(pass, "lines");
}

static int make_pass(struct lines *lines, uint32_t band, struct stage_plan *work, const char *label,
                     struct fault *fault)
{
    uint32_t height = lines->units[lines->n - 1].out->planes[0].height;
    struct pass *pass = pass_begin(work, "", "", FORM_ROWS, 1, 1, (height + band - 1) / band);
    struct fused *fused = pass->fused = calloc(1, sizeof *fused);
    name_pass(pass, lines, label);
    double row_sum = 0;
    for (unsigned i = 0; i < lines->n; i++)
        row_sum += lines->units[i].own.passes[0].work * lines->units[i].own.passes[0].grid_width;
    pass->work = row_sum * band;
    struct stage_reach reach =
        lines->window >= 0 ? lines->units[lines->window].reach : (struct stage_reach){.rows = 1};
    pass_set_rows(pass, band, (int32_t)reach.top, (int32_t)(reach.rows - 1 - reach.top),
                  reach.border, 0);
    add_arguments(pass, work, lines, band);
    for (unsigned i = 0; i < lines->n && fused; i++) {
        struct pass *part = fused_add_part(fused);
        if (!part)
            return fault_set(fault, FAULT_MEMORY, "no memory for a plan");
        *part = lines->units[i].own.passes[0];
        part->ring = (int)i == lines->window && i > 0 ? lines->units[i].reach.rows : 0;
    }
    if (!fused || work->out_of_memory)
        return fault_set(fault, FAULT_MEMORY, "no memory for a plan");
    fused->by_rows = true;
    return 0;
}

int fuse_lines(const struct fuse_group *group, bool *done, struct fault *fault)
{
    struct lines *lines = calloc(1, sizeof *lines);
    const struct plan_step *steps = group->plan->steps;
    struct stage_plan work = {.profile = group->plan->profile,
                              .in = steps[group->first].in,
                              .out = &steps[group->last].out};
    char label[64];
    bool fits = true;
    int result = 0;
    *done = false;
    if (!lines)
        return fault_set(fault, FAULT_MEMORY, "no memory for a plan");
    fuse_label(group, '_', label, sizeof label);
    work.stage = label;
    lines->group = group;
    lines->window = -1;
    for (size_t i = group->first; i <= group->last && result == 0 && fits; i++) {
        if (steps[i].work.n_passes == 0)
            continue;
        fits = lines->n < PARTS_MAX;
        if (fits)
            result = add_unit(lines, &steps[i], &fits, fault);
    }
    if (result == 0 && fits && lines->n > 1 && has_room(lines)) {
        lay_out(lines);
        uint32_t band = choose_band(lines, work.out->planes[0].height);
        if (is_worth_it(lines, band)) {
            result = make_pass(lines, band, &work, label, fault);
            *done = result == 0;
        }
    }
    if (*done)
        fuse_commit(group, &work);
    plan_work_finish(&work);
    for (unsigned i = 0; i < lines->n; i++)
        plan_work_finish(&lines->units[i].own);
    free(lines);
    return result;
}
