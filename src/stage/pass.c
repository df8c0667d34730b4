#include "stage/pass.h"

#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"

void stage_plan_finish(struct stage_plan *plan)
{
    for (unsigned i = 0; i < plan->n_scratch; i++)
        frame_finish(&plan->scratch[i]);
    for (unsigned i = 0; i < plan->n_tables; i++)
        if (!plan->tables[i].is_lent)
            free(plan->tables[i].data);
    free(plan->passes);
    *plan = (struct stage_plan){0};
}

const char *pass_type_name(enum sample_type type)
{
    static const char *const names[SAMPLE_TYPES] = {
        [SAMPLE_U8] = "uchar",   [SAMPLE_I8] = "char", [SAMPLE_U16] = "ushort",
        [SAMPLE_I16] = "short",  [SAMPLE_I32] = "int", [SAMPLE_F32] = "float",
        [SAMPLE_F64] = "double", [SAMPLE_F16] = "half"};
    return names[type];
}

const char *pass_type_bits_name(enum sample_type type)
{
    return type == SAMPLE_F64 ? "ulong" : type == SAMPLE_F16 ? "ushort" : pass_type_name(type);
}

struct pass *pass_begin(struct stage_plan *plan, const char *source, const char *variant,
                        enum kernel_form form, uint32_t span, uint32_t grid_width,
                        uint32_t grid_height)
{
    static _Thread_local struct pass nowhere; /* where there is no memory: callers go on */
    struct pass *pass = &nowhere, *passes = plan->passes;
    unsigned n = plan->n_passes;
    if ((n & (n - 1)) == 0) /* there is room for as many passes as the next power of two */
        passes = realloc(passes, (n ? 2 * (size_t)n : 1) * sizeof *passes);
    if (passes) {
        plan->passes = passes;
        pass = &passes[plan->n_passes++];
    } else {
        plan->out_of_memory = true;
    }
    *pass = (struct pass){.stage = plan->stage,
                          .source = source,
                          .form = form,
                          .grid_width = grid_width,
                          .grid_height = grid_height,
                          .span = span,
                          .work = 1};
    if (span == 0)
        pass->span = form == FORM_ROWS ? plan->profile->segment : 1;
    snprintf(pass->name, sizeof pass->name, "%s", source);
    if (variant[0]) {
        pass_kernel(pass, variant);
        pass_name(pass, variant);
    }
    static const char *const forms[] = {"FORM_ROWS", "FORM_VECTOR", "FORM_SCALAR"};
    pass_define(pass, forms[form], "1");
    pass_define(pass, "SPAN", "%u", pass->span);
    pass->lanes = form == FORM_VECTOR ? pass->span : 0;
    return pass;
}

void pass_group(const struct pass *pass, const struct device_profile *profile, unsigned group[2])
{
    const unsigned *own = profile->local[pass->form];
    group[0] = pass->group[0] ? pass->group[0] : own[0];
    group[1] = pass->group[1] ? pass->group[1] : pass->group[0] ? 1 : own[1];
}

void pass_name(struct pass *pass, const char *part)
{
    size_t used = strlen(pass->name);
    snprintf(pass->name + used, sizeof pass->name - used, "_%s", part);
}

/* Without room pass->too_large is set: a stage that needs more than PASS_DEFINES_MAX fails at its
 * first test. */
void pass_define_lines(struct pass *pass, const char *lines)
{
    size_t used = strlen(pass->defines), more = strlen(lines);
    pass->too_large |= used + more >= PASS_DEFINES_MAX;
    if (!pass->too_large)
        memcpy(pass->defines + used, lines, more + 1);
}

void pass_define(struct pass *pass, const char *name, const char *format, ...)
{
    char value[PASS_DEFINES_MAX];
    va_list args;
    va_start(args, format);
    vsnprintf(value, sizeof value, format, args);
    va_end(args);
    const char *const parts[] = {name, " ", value, "\n"};
    for (int i = 0; i < 4; i++)
        pass_define_lines(pass, parts[i]);
}

void pass_kernel(struct pass *pass, const char *kernel)
{
    char entry[64];
    snprintf(entry, sizeof entry, "KERNEL_%s", kernel);
    pass_define(pass, entry, "1");
}

void pass_numbers(struct pass *pass, const char *parameters, const char *names)
{
    pass_define(pass, "NUMBERS", ", %s", parameters);
    pass_define(pass, "GIVEN", ", %s", names);
}

static void define_type_as(struct pass *pass, const char *name, enum sample_type type,
                           const char *type_name)
{
    char is[64];
    snprintf(is, sizeof is, "%s_IS_%s", name, pass_type_name(type));
    pass_define(pass, name, "%s", type_name);
    pass_define(pass, is, "1");
    pass_name(pass, sample_name(type));
}

void pass_define_type(struct pass *pass, const char *name, enum sample_type type)
{
    define_type_as(pass, name, type, pass_type_name(type));
}

void pass_define_type_bits(struct pass *pass, const char *name, enum sample_type type)
{
    define_type_as(pass, name, type, pass_type_bits_name(type));
}

void pass_channels(struct pass *pass, uint32_t source, uint32_t destination)
{
    char name[8];
    snprintf(name, sizeof name, "c%u", source);
    pass_name(pass, name);
    pass_define(pass, "CH", "%u", source);
    pass_define(pass, "DST_CH", "%u", destination);
    pass_define(pass, "ALPHA", "%u", source == destination && source % 2 == 0 ? source : 0);
}

uint64_t pass_hash(const struct pass *pass)
{
    uint64_t hash = hash_bytes(HASH_INIT, pass->source, strlen(pass->source) + 1);
    hash = hash_bytes(hash, pass->name, strlen(pass->name) + 1);
    hash = hash_bytes(hash, pass->defines, strlen(pass->defines) + 1);
    return hash_bytes(hash, &pass->lanes, sizeof pass->lanes);
}

static void add_arg(struct pass *pass, struct pass_arg arg)
{
    pass->too_large |= pass->n_args == PASS_ARGS_MAX;
    if (!pass->too_large)
        pass->args[pass->n_args++] = arg;
}

void pass_plane(struct pass *pass, unsigned operand, unsigned plane)
{
    add_arg(pass, (struct pass_arg){.kind = PASS_PLANE, .operand = operand, .plane = plane});
    if (operand == OPERAND_OUT)
        pass->writes = operand;
}

void pass_planes(struct pass *pass, const struct stage_plan *plan, unsigned plane)
{
    pass->bytes_read = plane_bytes(&plan->in->planes[plane]);
    pass->bytes_written = plane_bytes(&plan->out->planes[plane]);
    pass_plane(pass, OPERAND_IN, plane);
    pass_plane(pass, OPERAND_OUT, plane);
}

void pass_table(struct pass *pass, unsigned operand)
{
    add_arg(pass, (struct pass_arg){.kind = PASS_TABLE, .operand = operand});
}

void pass_buffer(struct pass *pass, unsigned operand)
{
    add_arg(pass, (struct pass_arg){.kind = PASS_BUFFER, .operand = operand});
}

void pass_view_units(struct pass *pass, const struct view *view, uint32_t unit)
{
    add_arg(pass, (struct pass_arg){.kind = PASS_BUFFER, .operand = view->operand, .unit = unit});
    pass_ints(pass, view->plane.offset / unit, view->plane.stride / unit);
}

void pass_view(struct pass *pass, const struct view *view)
{
    pass_view_units(pass, view, (uint32_t)sample_size(view->plane.type));
}

void pass_views(struct pass *pass, const struct view *in, const struct view *out)
{
    pass->bytes_read = plane_bytes(&in->plane);
    pass->bytes_written = plane_bytes(&out->plane);
    pass_view(pass, in);
    pass_view(pass, out);
    pass->writes = out->operand;
}

void pass_int(struct pass *pass, int32_t value)
{
    add_arg(pass, (struct pass_arg){.kind = PASS_INT, .i = value});
}

void pass_add_ints(struct pass *pass, const int32_t *values, size_t count)
{
    for (size_t i = 0; i < count; i++)
        pass_int(pass, values[i]);
}

void pass_uint(struct pass *pass, uint32_t value)
{
    add_arg(pass, (struct pass_arg){.kind = PASS_UINT, .u = value});
}

void pass_float(struct pass *pass, float value)
{
    add_arg(pass, (struct pass_arg){.kind = PASS_FLOAT, .f = value});
}

void pass_add_floats(struct pass *pass, const float *values, size_t count)
{
    for (size_t i = 0; i < count; i++)
        pass_float(pass, values[i]);
}

void pass_long(struct pass *pass, int64_t value)
{
    add_arg(pass, (struct pass_arg){.kind = PASS_LONG, .l = value});
}

void pass_double(struct pass *pass, double value)
{
    add_arg(pass, (struct pass_arg){.kind = PASS_DOUBLE, .d = value});
}

unsigned stage_plan_scratch(struct stage_plan *plan, uint32_t width, uint32_t height,
                            uint32_t channels, enum sample_type type)
{
    if (plan->n_scratch == STAGE_SCRATCH_MAX) {
        plan->too_large = true;
        return OPERAND_SCRATCH;
    }
    struct plane plane = {.width = width, .height = height, .channels = channels, .type = type};
    if (!frame_add_plane(&plan->scratch[plan->n_scratch], &plane, FRAME_ALIGNMENT))
        plan->out_of_memory = true;
    return OPERAND_SCRATCH + plan->n_scratch++;
}

void pass_set_rows(struct pass *pass, uint32_t band, int32_t above, int32_t below, int border,
                   uint64_t item)
{
    bool mirrors = border == BORDER_REFLECT || border == BORDER_SYMMETRIC;
    int32_t more = above > below ? above : below;
    pass->band = border == BORDER_WRAP && (above > 0 || below > 0) ? 0 : band;
    pass->above = mirrors ? more : above;
    pass->below = mirrors ? more : below;
    pass->item = item;
}

struct stage_bands bands_of(uint32_t rows, uint32_t band)
{
    return (struct stage_bands){band, (rows + band - 1) / band};
}

struct stage_bands bands_cut(const struct device_profile *profile, const struct plane *out,
                             uint32_t beside, double row_work, double start_rows)
{
    uint32_t least = (profile->units + beside - 1) / beside, step = beside > 1 ? 1 : least;
    uint32_t count = (4 * profile->units + beside - 1) / beside, most = (out->height + 15) / 16;
    double largest = LAUNCH_SECONDS_MAX * profile->work_per_second / profile->units / row_work;
    while (count > least && out->height < 10 * start_rows * count)
        count -= step;
    count = count > most ? most : count;
    uint32_t band = pass_limit_band(profile, out, (out->height + count - 1) / count, start_rows);
    if (band > largest)
        band = largest < 1 ? 1 : (uint32_t)largest;
    return bands_of(out->height, band);
}

uint32_t pass_limit_band(const struct device_profile *profile, const struct plane *out,
                         uint32_t band, double start_rows)
{
    double least = profile->band_bytes / (double)out->stride;
    if (least < 10 * start_rows)
        least = 10 * start_rows;
    if (least < 16)
        least = 16;
    return profile->band_bytes > 0 && band > least ? (uint32_t)least : band;
}

void stage_plan_memory(struct stage_plan *plan, struct scratch *scratch, uint64_t bytes)
{
    /* Long rows whose number of samples still fits an int. */
    const uint32_t row = 1 << 20;
    uint64_t rows = (bytes + row - 1) / row;
    if (scratch->operand == 0)
        scratch->operand = stage_plan_scratch(plan, row / 8, 1, 1, SAMPLE_F64);
    struct frame *frame = &plan->scratch[scratch->operand - OPERAND_SCRATCH];
    struct plane plane = {
        .width = row / 8, .height = (uint32_t)rows, .channels = 1, .type = SAMPLE_F64};
    if (frame->n_planes == 0 || bytes <= frame->size)
        return;
    frame_finish(frame);
    plan->out_of_memory |= !frame_add_plane(frame, &plane, FRAME_ALIGNMENT);
}

struct view stage_plan_view(struct stage_plan *plan, struct scratch *scratch,
                            const struct plane *shape)
{
    struct frame frame = {0};
    struct view view = {.plane = *shape};
    if (scratch->operand == 0)
        scratch->operand =
            stage_plan_scratch(plan, shape->width, shape->height, shape->channels, shape->type);
    if (frame_add_plane(&frame, shape, FRAME_ALIGNMENT)) {
        view.plane = frame.planes[0];
        stage_plan_memory(plan, scratch, frame.size);
    } else {
        plan->out_of_memory = true;
    }
    plan->too_many |= frame.size / sample_size(shape->type) > INT_MAX;
    frame_finish(&frame);
    view.operand = scratch->operand;
    return view;
}

static unsigned add_table(struct stage_plan *plan, struct stage_table table)
{
    plan->too_large |= plan->n_tables == STAGE_TABLES_MAX; /* there are no more kinds of planes */
    if (!plan->too_large)
        plan->tables[plan->n_tables++] = table;
    else if (!table.is_lent)
        free(table.data);
    return OPERAND_TABLE + (plan->too_large ? 0 : plan->n_tables - 1);
}

unsigned stage_plan_give(struct stage_plan *plan, void *data, size_t size)
{
    for (unsigned i = 0; i < plan->n_tables; i++) {
        const struct stage_table *table = &plan->tables[i];
        if (table->size == size && table->data && !table->is_lent && memcmp(table->data, data, size) == 0) {
            free(data);
            return OPERAND_TABLE + i;
        }
    }
    return add_table(plan, (struct stage_table){.data = data, .size = size});
}

unsigned stage_plan_table(struct stage_plan *plan, const void *data, size_t size)
{
    void *copy = malloc(size);
    if (!copy) {
        plan->out_of_memory = true;
        return OPERAND_TABLE;
    }
    return stage_plan_give(plan, memcpy(copy, data, size), size);
}

unsigned stage_plan_lend(struct stage_plan *plan, const void *data, size_t size, bool is_held)
{
    for (unsigned i = 0; i < plan->n_tables; i++)
        if (plan->tables[i].is_lent && plan->tables[i].data == data)
            return OPERAND_TABLE + i;
    return add_table(plan, (struct stage_table){(void *)data, size, true, is_held});
}

unsigned stage_plan_take_table(struct stage_plan *plan, const struct stage_table *table)
{
    return table->is_lent ? stage_plan_lend(plan, table->data, table->size, table->is_held)
                          : stage_plan_table(plan, table->data, table->size);
}

/* Kernels access vectors of at most 16 bytes, but of at least 4 samples. */
bool pass_is_aligned(const struct plane *plane)
{
    size_t size = sample_size(plane->type), bytes = size > 4 ? 4 * size : 16;
    return plane->offset % bytes == 0 && plane->stride % bytes == 0;
}

enum kernel_form pass_form_for(const struct device_profile *profile, const struct plane *in,
                               const struct plane *out)
{
    if (profile->form != FORM_VECTOR)
        return profile->form;
    return pass_is_aligned(in) && pass_is_aligned(out) ? FORM_VECTOR : FORM_SCALAR;
}

unsigned pass_vector_length(const struct device_profile *profile, enum sample_type in,
                            enum sample_type out)
{
    size_t larger = sample_size(in) > sample_size(out) ? sample_size(in) : sample_size(out);
    size_t length = profile->vector_bytes / larger;
    return length < 4 ? 4 : (unsigned)length;
}

void pixel_parameters(const struct pixel_function *function, char text[PIXEL_TEXT_MAX])
{
    static const char *const types[] = {[PASS_BUFFER] = "__global const int *restrict",
                                        [PASS_TABLE] = "__global const uchar *restrict",
                                        [PASS_INT] = "int",
                                        [PASS_UINT] = "uint",
                                        [PASS_FLOAT] = "float",
                                        [PASS_LONG] = "long",
                                        [PASS_DOUBLE] = "double"};
    text[0] = '\0';
    for (unsigned i = 0, used = 0; i < function->needs.n_args; i++)
        used += (unsigned)snprintf(text + used, PIXEL_TEXT_MAX - used, ", %s arg%u",
                                   types[function->needs.args[i].kind], i);
}

void pixel_arguments(const struct pixel_function *function, unsigned first,
                     char text[PIXEL_TEXT_MAX])
{
    text[0] = '\0';
    for (unsigned i = 0, used = 0; i < function->needs.n_args; i++)
        used += (unsigned)snprintf(text + used, PIXEL_TEXT_MAX - used, ", arg%u%s", first + i,
                                   function->needs.args[i].kind == PASS_BUFFER ? "[0]" : "");
}

static void define_pixel_call(struct pass *pass, const char *stage,
                              const struct pixel_function *function)
{
    char parameters[PIXEL_TEXT_MAX], call[PIXEL_TEXT_MAX];
    pixel_parameters(function, parameters);
    pixel_arguments(function, 0, call);
    pass_define(pass, "PIXEL_PARAMETERS", "%s", parameters);
    if (function->call[0]) {
        pass_define(pass, "PIXEL(v)", "%s", function->call);
        return;
    }
    pass_define(pass, "PIXEL(v)", "FN(%s_pixel)((v)%s)", stage, call);
    pass_define(pass, "PIXEL_SOURCE", "%s", stage);
}

/* Chooses the form, and how many samples a work-item takes: on a GPU a whole vector, if a row has
 * one. */
static enum kernel_form choose_pixel_form(const struct device_profile *profile,
                                          const struct plane *in, const struct plane *out,
                                          const struct pixel_function *function, unsigned *span)
{
    enum kernel_form form = pass_form_for(profile, in, out);
    *span = 0;
    if (form != FORM_VECTOR)
        return form;
    /* without a window, 16 bytes need few registers on any device */
    struct device_profile wide = *profile;
    wide.vector_bytes = 16;
    *span = pass_vector_length(&wide, in->type, out->type);
    if (!function->scalar && in->width * in->channels >= *span)
        return form;
    *span = 1;
    return FORM_SCALAR;
}

void pass_define_words(struct pass *pass, enum sample_type in, enum sample_type out)
{
    bool words = pass->form == FORM_VECTOR && pass->lanes >= 8 && in == SAMPLE_U8 && out == in;
    pass_define(pass, words ? "FORM_WORDS" : "FORM_SAMPLES", "1");
    if (words)
        pass_define(pass, "IN_WORDS", "%u", pass->lanes / 4);
}

void pass_pixel(struct stage_plan *plan, unsigned plane, const struct pixel_function *function)
{
    const struct plane *in = &plan->in->planes[plane], *out = &plan->out->planes[plane];
    unsigned span;
    enum kernel_form form = choose_pixel_form(plan->profile, in, out, function, &span);
    bool keep_alpha = function->keep_alpha && plane_has_alpha(in) && in->type == out->type;
    struct pass *pass =
        pass_begin(plan, "point", "", form, span, in->width * in->channels, in->height);
    pass_set_rows(pass, 1, 0, 0, BORDER_EDGE, 0);
    bool wide = function->wide && in->type == SAMPLE_U8 && plan->profile->prebuilt;
    if (form == FORM_ROWS && !function->scalar)
        pass->lanes = wide ? 32 : 16;
    snprintf(pass->name, sizeof pass->name, "%s", plan->stage);
    if (function->variant[0])
        pass_name(pass, function->variant);
    pass_define_type_bits(pass, "SRC", in->type);
    pass_define_type_bits(pass, "DST", out->type);
    pass_define(pass, "ALPHA", "%u", keep_alpha ? in->channels : 0);
    if (keep_alpha)
        pass_name(pass, in->channels == 2 ? "c2" : "c4");
    pass_name(pass, kernel_form_name(form));
    pass_define_words(pass, in->type, out->type);
    define_pixel_call(pass, plan->stage, function);
    pass_define_lines(pass, function->needs.defines);
    pass->too_large |= function->needs.too_large;
    pass->work = function->needs.work;
    pass_planes(pass, plan, plane);
    for (unsigned i = 0; i < function->needs.n_args; i++)
        add_arg(pass, function->needs.args[i]);
}
