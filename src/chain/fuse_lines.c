/* Groups in rows form: the stages' kernels as functions of one row, within cl/lines.cl. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "chain/plan_internal.h"

#define PARTS_MAX 8

/* Lines that lie between the parts of one work-item. Beyond what a core's own cache holds they are
 * no better than planes, and where rows are that long bands are few. */
#define LINES_BYTES_MAX (1 << 20)

/* Rows in one band, at least; of a stencil so many more that what neighbours compute twice is an
 * eighth. */
#define BAND_ROWS_MIN 16
#define BANDS_A_UNIT  8

/* One part, and the line or ring of lines that it writes to the next one. */
struct unit {
    struct stage_plan own; /* what its stage planned: the pass, and tables */
    const struct frame *in, *out;
    struct stage_reach reach;
    uint32_t line_bytes, lines; /* 0 for the last */
};

struct lines {
    const struct fuse_group *group;
    struct device_profile profile; /* that makes kernels take whole rows */
    unsigned n;
    struct unit units[PARTS_MAX];
    int window; /* the stencil's place, or -1 */
    uint32_t item_bytes;
};

static void finish(struct lines *lines)
{
    for (unsigned i = 0; i < lines->n; i++)
        plan_work_finish(&lines->units[i].own);
    free(lines);
}

/* One pass in rows form, of one plane, is what may become a part. */
static bool is_part(const struct stage_plan *work)
{
    return work->n_passes == 1 && work->n_scratch == 0 && work->passes[0].form == FORM_ROWS;
}

/* Written in vectors: what follows a result costs least where it is (threshold behind sobel: a line
 * of its own takes 2 ms of processor time at 4096², in the same vectors 0.3). A plain loop, which
 * the compiler makes vectors of, is better left alone. */
static bool is_wide(const struct stage_plan *work)
{
    return work->n_passes == 1 && work->passes[0].lanes > 0;
}

/* Plans the unit that begins with step `first`; *next is the step behind it. */
static int add_unit(struct lines *lines, size_t first, size_t *next, bool *fits, char *label,
                    struct fault *fault)
{
    const struct plan_step *steps = lines->group->plan->steps, *step = &steps[first];
    struct unit *unit = &lines->units[lines->n++];
    int result = 0;
    *unit = (struct unit){.in = step->in, .reach = {.rows = 1}};
    *next = first + 1;
    if (fuse_is_pixel(step)) {
        struct fuse_group run = {lines->group->plan, first, first};
        while (run.last < lines->group->last &&
               (steps[run.last + 1].work.n_passes == 0 || fuse_is_pixel(&steps[run.last + 1])))
            run.last++;
        unit->own = (struct stage_plan){
            .profile = &lines->profile, .in = step->in, .out = &step->out, .stage = label};
        size_t held = fuse_run(&run, 0, &unit->own);
        *next = first + held;
        if (held == 0)
            result = fault_set(fault, FAULT_MEMORY, "no memory for a plan");
    } else {
        result = plan_step_passes(step, &lines->profile, &unit->own, fault);
        unit->reach = step->stage->reach(step->config);
        if (unit->reach.rows > 1)
            lines->window = (int)lines->n - 1;
        if (result == 0 && is_wide(&unit->own)) {
            struct fuse_group then = {lines->group->plan, first, lines->group->last};
            result = fuse_attach(&then, &unit->own, fault);
            *next = then.last + 1;
        }
    }
    unit->out = result == 0 ? &steps[*next - 1].out : NULL;
    *fits = result == 0 && is_part(&unit->own);
    return result;
}

/* Lines behind each unit but the last; those in front of the stencil are a ring. */
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

static double row_work(const struct lines *lines)
{
    double work = 0;
    for (unsigned i = 0; i < lines->n; i++)
        work += lines->units[i].own.passes[0].work * lines->units[i].own.passes[0].grid_width;
    return work;
}

static uint32_t choose_band(const struct lines *lines, uint32_t height)
{
    const struct device_profile *profile = &lines->profile;
    uint32_t least = BAND_ROWS_MIN, bands = BANDS_A_UNIT * profile->units;
    if (lines->window > 0 && 8 * (lines->units[lines->window].reach.rows - 1) > least)
        least = 8 * (lines->units[lines->window].reach.rows - 1);
    if (bands > (height + least - 1) / least)
        bands = (height + least - 1) / least;
    double most = LAUNCH_SECONDS_MAX * profile->work_per_second / profile->units / row_work(lines);
    uint32_t band = (height + bands - 1) / bands;
    if (band > most)
        band = most < 1 ? 1 : (uint32_t)most;
    return band;
}

/* Long rows and few of them are better shared out by pieces of rows. */
static bool is_worth_it(const struct lines *lines, uint32_t band)
{
    const struct plane *out = &lines->units[lines->n - 1].out->planes[0];
    uint32_t bands = (out->height + band - 1) / band;
    return lines->item_bytes <= LINES_BYTES_MAX &&
           (bands >= lines->group->plan->profile->units ||
            out->width * out->channels <= lines->group->plan->profile->segment);
}

/* OpenCL's name for samples as kernels take them: doubles are bits. */
static const char *type_name(enum sample_type type)
{
    return type == SAMPLE_F64 ? "ulong" : pass_type_name(type);
}

/* The kernel while it is put together. */
struct kernel {
    const struct lines *lines;
    struct stage_plan *work;
    struct pass *pass;
    struct text parameters, before, after;
    unsigned n_named;
};

static void add_int(struct kernel *kernel, const char *name, unsigned index, int32_t value)
{
    text_printf(&kernel->parameters, ", int %s%u", name, index);
    pass_int(kernel->pass, value);
}

/* An argument of a part that is no plane: named, and handed through. */
static void pass_through(struct kernel *kernel, const struct unit *unit, const struct pass_arg *arg,
                         struct text *call)
{
    static const char *const types[] = {[PASS_INT] = "int",
                                        [PASS_UINT] = "uint",
                                        [PASS_FLOAT] = "float",
                                        [PASS_LONG] = "long",
                                        [PASS_DOUBLE] = "double"};
    struct pass_arg *to = &kernel->pass->args[kernel->pass->n_args++];
    unsigned name = kernel->n_named++;
    *to = *arg;
    if (arg->kind != PASS_BUFFER && arg->kind != PASS_TABLE) {
        text_printf(&kernel->parameters, ", %s a%u", types[arg->kind], name);
        text_printf(call, ", a%u", name);
        return;
    }
    text_printf(&kernel->parameters, ", __global const uchar *restrict a%u", name);
    text_printf(call, ", (__global const void *)a%u", name);
    if (arg->operand >= OPERAND_TABLE) {
        const struct stage_table *table = &unit->own.tables[arg->operand - OPERAND_TABLE];
        to->operand = stage_plan_table(kernel->work, table->data, table->size);
    }
}

/* A plane of a part: the kernel's own, or lines: l0 … are where they begin, in bytes. */
static void add_plane(struct kernel *kernel, unsigned index, const struct pass_arg *arg,
                      struct text *call)
{
    const struct lines *lines = kernel->lines;
    bool writes = arg->operand == OPERAND_OUT;
    if (writes ? index + 1 == lines->n : index == 0) {
        char number[12] = "";
        if (arg->plane > 0)
            snprintf(number, sizeof number, "%u", arg->plane + 1);
        const char *name = writes ? "out" : "in";
        text_printf(call, ", %s%s_base, %s%s_offset, %s%s_stride", name, number, name, number, name,
                    number);
        return;
    }
    const struct unit *writer = &lines->units[writes ? index : index - 1];
    bool ring = writer->lines > 1;
    text_printf(call, ", (__global %s%s *)(lines + l%u), ", writes ? "" : "const ",
                type_name(writer->out->planes[0].type), writes ? index : index - 1);
    if (ring && writes)
        text_printf(call, "(line) * pitch%u, 0", index);
    else if (ring)
        text_printf(call, "0, pitch%u", index - 1);
    else
        text_append(call, "0, 0");
}

/* The call of part `index` for row `row`, a macro's parameter. */
static void add_call(struct kernel *kernel, unsigned index, const char *row, struct text *call)
{
    const struct unit *unit = &kernel->lines->units[index];
    const struct pass *part = &unit->own.passes[0];
    text_printf(call, " FN(f%u)(w%u, (%s), (%s) + 1", index, index, row, row);
    for (unsigned i = 0; i < part->n_args; i++) {
        if (part->args[i].kind == PASS_PLANE)
            add_plane(kernel, index, &part->args[i], call);
        else
            pass_through(kernel, unit, &part->args[i], call);
    }
    text_append(call, ");");
}

static void add_planes(struct kernel *kernel)
{
    const struct lines *lines = kernel->lines;
    const struct frame *in = lines->units[0].in, *out = lines->units[lines->n - 1].out;
    text_printf(&kernel->parameters, ", PLANE_IN(%s, in)", type_name(in->planes[0].type));
    pass_plane(kernel->pass, OPERAND_IN, 0);
    for (unsigned i = 0; i < out->n_planes; i++) {
        text_printf(&kernel->parameters, ", PLANE_OUT(%s, out", type_name(out->planes[i].type));
        if (i > 0)
            text_printf(&kernel->parameters, "%u", i + 1);
        text_append(&kernel->parameters, ")");
        pass_plane(kernel->pass, OPERAND_OUT, i);
        kernel->pass->bytes_written += plane_bytes(&out->planes[i]);
    }
    kernel->pass->bytes_read = plane_bytes(&in->planes[0]);
}

/* Parameters, arguments and calls, in the order of cl/lines.cl. */
static void add_arguments(struct kernel *kernel, uint32_t band)
{
    const struct lines *lines = kernel->lines;
    const struct unit *last = &lines->units[lines->n - 1];
    const struct unit *window = lines->window > 0 ? &lines->units[lines->window] : &lines->units[0];
    uint32_t line = 0;
    unsigned memory = stage_plan_scratch(kernel->work, lines->item_bytes, kernel->pass->grid_height,
                                         1, SAMPLE_U8);
    pass_buffer(kernel->pass, memory);
    pass_int(kernel->pass, (int32_t)lines->item_bytes);
    pass_int(kernel->pass, (int32_t)band);
    pass_int(kernel->pass, (int32_t)last->out->planes[0].height);
    pass_int(kernel->pass, (int32_t)window->in->planes[0].height);
    pass_int(kernel->pass, window->reach.border);
    pass_int(kernel->pass, (int32_t)window->reach.top);
    add_planes(kernel);
    for (unsigned i = 0; i < lines->n; i++) {
        const struct unit *unit = &lines->units[i];
        add_int(kernel, "w", i, (int32_t)unit->own.passes[0].grid_width);
        if (unit->lines == 0)
            continue;
        add_int(kernel, "l", i, (int32_t)line);
        line += unit->lines * unit->line_bytes;
        if (unit->lines > 1)
            add_int(kernel, "pitch", i,
                    (int32_t)(unit->line_bytes / sample_size(unit->out->planes[0].type)));
    }
    for (unsigned i = 0; i < lines->n; i++) {
        bool before = (int)i < lines->window;
        add_call(kernel, i, before ? "row" : "y", before ? &kernel->before : &kernel->after);
    }
}

/* Whether the arguments fit: an upper bound. */
static bool has_room(const struct lines *lines)
{
    unsigned count = 7 + 3 + 3 * lines->n;
    for (unsigned i = 0; i < lines->n; i++)
        count += lines->units[i].own.passes[0].n_args - 2;
    return count <= PASS_ARGS_MAX;
}

static void name_pass(struct pass *pass, const struct lines *lines, const char *label)
{
    const struct plane *in = &lines->units[0].in->planes[0];
    char channels[8];
    snprintf(pass->name, sizeof pass->name, "%s", label);
    snprintf(channels, sizeof channels, "c%u", in->channels);
    pass_name(pass, sample_name(in->type));
    pass_name(pass, channels);
    pass_name(pass, "lines");
}

/* Hands the units' passes over as parts. */
static struct fused *make_fused(struct lines *lines, struct kernel *kernel)
{
    struct fused *fused = calloc(1, sizeof *fused);
    bool good = fused != NULL;
    for (unsigned i = 0; i < lines->n && good; i++) {
        struct pass *part = fused_add_part(fused);
        struct pass *from = &lines->units[i].own.passes[0];
        good = part != NULL;
        if (!good)
            break;
        *part = *from;
        from->fused = NULL;
        part->ring = (int)i == lines->window && i > 0 ? lines->units[i].reach.rows : 0;
    }
    if (good) {
        text_printf(&fused->defines, "RING_LINES %u\n",
                    lines->window > 0 ? lines->units[lines->window].reach.rows : 0);
        text_printf(&fused->defines, "PARAMETERS %s\n", text_string(&kernel->parameters));
        text_printf(&fused->defines, "BEFORE(row, line) %s\n", text_string(&kernel->before));
        text_printf(&fused->defines, "AFTER(y) %s\n", text_string(&kernel->after));
        good = !fused->defines.failed && !kernel->parameters.failed && !kernel->before.failed &&
               !kernel->after.failed;
    }
    if (!good)
        fused_destroy(&fused);
    return fused;
}

static int make_pass(struct lines *lines, uint32_t band, struct stage_plan *work, const char *label,
                     struct fault *fault)
{
    uint32_t height = lines->units[lines->n - 1].out->planes[0].height;
    struct pass *pass = pass_begin(work, "lines", "", FORM_ROWS, 1, 1, (height + band - 1) / band);
    struct kernel kernel = {.lines = lines, .work = work, .pass = pass};
    name_pass(pass, lines, label);
    pass->work = row_work(lines) * band;
    add_arguments(&kernel, band);
    pass->fused = make_fused(lines, &kernel);
    text_finish(&kernel.parameters);
    text_finish(&kernel.before);
    text_finish(&kernel.after);
    if (!pass->fused || work->out_of_memory)
        return fault_set(fault, FAULT_MEMORY, "no memory for a plan");
    return 0;
}

/* Units that may be parts, and one that needs a ring in front of it at most. */
static int add_units(struct lines *lines, bool *fits, char *label, struct fault *fault)
{
    const struct fuse_group *group = lines->group;
    int result = 0;
    *fits = true;
    for (size_t i = group->first; i <= group->last && result == 0 && *fits;) {
        if (group->plan->steps[i].work.n_passes == 0) {
            i++;
            continue;
        }
        *fits = lines->n < PARTS_MAX;
        if (*fits)
            result = add_unit(lines, i, &i, fits, label, fault);
    }
    return result;
}

int fuse_lines(const struct fuse_group *group, bool *done, struct fault *fault)
{
    struct lines *lines = calloc(1, sizeof *lines);
    struct stage_plan work = {.profile = group->plan->profile,
                              .in = group->plan->steps[group->first].in,
                              .out = &group->plan->steps[group->last].out};
    char label[64];
    bool fits;
    *done = false;
    if (!lines)
        return fault_set(fault, FAULT_MEMORY, "no memory for a plan");
    fuse_label(group, '_', label, sizeof label);
    work.stage = label;
    lines->group = group;
    lines->profile = *group->plan->profile;
    lines->profile.segment = INT32_MAX;
    lines->window = -1;
    int result = add_units(lines, &fits, label, fault);
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
    finish(lines);
    return result;
}
