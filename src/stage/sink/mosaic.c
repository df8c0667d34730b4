/* Finds the planes that are bands of one transform, and their places in the mosaic. Frames can come
 * from files, so planes that are not a complete transform are left as they are. */
#include "stage/sink/mosaic.h"

#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "stage/common.h"

#define LEVELS_MAX 30

/* Finds a parameter's value in ":name=value:…"; false: there is none. */
static bool find_parameter(const char *parameters, const char *name, char *value, size_t size)
{
    size_t length = strlen(name);
    for (const char *at = strchr(parameters, ':'); at; at = strchr(at + 1, ':')) {
        if (strncmp(at + 1, name, length) != 0 || at[1 + length] != '=')
            continue;
        const char *begin = at + length + 2;
        size_t n = strcspn(begin, ":");
        if (n >= size)
            return false;
        memcpy(value, begin, n);
        value[n] = '\0';
        return true;
    }
    return false;
}

/* The gain of LL for a constant picture: 1, or for orthonormal wavelets √2 for each direction of a
 * level. Returns false for transforms without a mosaic. */
static bool gain_of_level(const struct frame_origin *origin, double *gain)
{
    char mode[24], all[4];
    if (strcmp(origin->stage, "dwt") != 0 ||
        !find_parameter(origin->parameters, "mode", mode, sizeof mode) ||
        (find_parameter(origin->parameters, "stationary", all, sizeof all) && all[0] == '1'))
        return false;
    *gain = strcmp(mode, "jpeg2000") == 0 ? 1 : 2;
    return *gain == 1 || strcmp(mode, "periodization") == 0;
}

/* True for a name that ends in, for instance, "LL3". */
static bool is_band(const struct plane *plane, const char band[2], unsigned level)
{
    size_t length = strlen(plane->name), digits = 0;
    unsigned value = 0, unit = 1;
    for (; digits < length && isdigit((unsigned char)plane->name[length - 1 - digits]); digits++) {
        if (digits == 2)
            return false;
        value += unit * (unsigned)(plane->name[length - 1 - digits] - '0');
        unit *= 10;
    }
    return digits > 0 && length >= digits + 2 && value == level &&
           memcmp(plane->name + length - digits - 2, band, 2) == 0;
}

/* A walk through the planes of one origin. */
struct walk {
    const struct frame *in;
    const struct frame_origin *origin;
    size_t at, end;
    uint32_t width, height;   /* of the part that is arranged so far */
    struct mosaic_cell *cell; /* for the frame's first plane; NULL: cells are not wanted */
    struct mosaic_cell low, detail;
};

static void set_cell(struct walk *w, size_t plane, const struct mosaic_cell *kind, uint32_t x,
                     uint32_t y, uint32_t width, uint32_t height)
{
    if (!w->cell)
        return;
    struct mosaic_cell *cell = &w->cell[plane];
    *cell = *kind;
    cell->x = x;
    cell->y = y;
    cell->width = width;
    cell->height = height;
}

/* Takes the next plane if it is that band, and like the others. */
static const struct plane *take_band(struct walk *w, const char *band, unsigned level)
{
    const struct plane *first = &w->in->planes[w->origin->first];
    const struct plane *plane = &w->in->planes[w->at];
    if (w->at == w->end || !is_band(plane, band, level) || plane->channels != first->channels ||
        plane->type != first->type)
        return NULL;
    w->at++;
    return plane;
}

/* Adds a level around the present part. Bands that are empty because a side has one sample do not
 * exist. */
static bool add_level(struct walk *w, unsigned level)
{
    const struct plane *hl = take_band(w, "HL", level), *lh = take_band(w, "LH", level);
    const struct plane *hh = hl && lh ? take_band(w, "HH", level) : NULL;
    uint32_t right = hl ? hl->width : 0, below = lh ? lh->height : 0;
    if ((hl && hl->height > w->height) || (lh && lh->width > w->width) ||
        (hl && lh && (!hh || hh->width != right || hh->height != below)) ||
        right > INT32_MAX - w->width || below > INT32_MAX - w->height)
        return false;
    if (hl)
        set_cell(w, (size_t)(hl - w->in->planes), &w->detail, w->width, 0, right, w->height);
    if (lh)
        set_cell(w, (size_t)(lh - w->in->planes), &w->detail, 0, w->height, w->width, below);
    if (hh)
        set_cell(w, (size_t)(hh - w->in->planes), &w->detail, w->width, w->height, right, below);
    w->width += right;
    w->height += below;
    return true;
}

/* The type of the mosaic, for planes of `type` that came from the plane `from`. */
static enum sample_type target_type(enum sample_type type, const struct plane *from)
{
    if (type == SAMPLE_U8 || type == SAMPLE_U16)
        return type; /* the chain has turned the planes into pictures already */
    bool wide = from->type == SAMPLE_U16 || from->type == SAMPLE_I16;
    return wide || (!sample_is_integer(from->type) && plane_white(from) > 255) ? SAMPLE_U16
                                                                               : SAMPLE_U8;
}

static void choose_values(struct walk *w, enum sample_type type, double low, double gain)
{
    const struct plane *from = &w->origin->plane;
    enum sample_type target = target_type(type, from);
    bool is_signed = from->type == SAMPLE_I8 || from->type == SAMPLE_I16;
    double scale = sample_is_integer(from->type) ? 1 : sample_max(target) / plane_white(from);
    struct mosaic_cell centred = {.copy = type == target,
                                  .factor = (float)(gain * scale),
                                  .range = target == SAMPLE_U16 ? SAMPLE_I16 : SAMPLE_I8,
                                  .middle = target == SAMPLE_U16 ? 32768 : 128};
    w->detail = w->low = centred;
    w->low.factor = (float)(scale / low);
    if (!is_signed) {
        w->low.range = target;
        w->low.middle = 0;
    }
}

/* True when the planes of w->origin form one mosaic; its size, and cells, are then set. */
static bool walk_origin(struct walk *w, double gain)
{
    double by_level;
    w->at = w->origin->first;
    w->end = w->at + w->origin->count;
    if (w->end > w->in->n_planes || !gain_of_level(w->origin, &by_level))
        return false;
    const struct plane *first = &w->in->planes[w->at];
    unsigned levels = LEVELS_MAX;
    while (levels > 0 && !is_band(first, "LL", levels))
        levels--;
    const struct plane *low = levels ? take_band(w, "LL", levels) : NULL;
    if (!low)
        return false;
    choose_values(w, low->type, pow(by_level, levels), gain);
    w->width = low->width;
    w->height = low->height;
    set_cell(w, w->origin->first, &w->low, 0, 0, low->width, low->height);
    for (unsigned level = levels; level > 0; level--)
        if (!add_level(w, level))
            return false;
    return w->at == w->end;
}

static const struct frame_origin *origin_at(const struct frame *in, size_t plane)
{
    for (size_t i = 0; i < in->n_origins; i++)
        if (in->origins[i].first == plane && in->origins[i].count > 0)
            return &in->origins[i];
    return NULL;
}

bool mosaic_applies(const struct frame *frame)
{
    for (size_t i = 0; i < frame->n_origins; i++) {
        struct walk walk = {.in = frame, .origin = &frame->origins[i]};
        if (walk_origin(&walk, 1))
            return true;
    }
    return false;
}

int mosaic_layout(const struct mosaic_config *config, const struct frame *in, size_t alignment,
                  struct mosaic_cell *cells, struct frame *out, struct fault *fault)
{
    size_t target = 0;
    int result = 0;
    for (size_t i = 0; i < in->n_planes && result == 0; target++) {
        struct plane plane = in->planes[i];
        struct walk walk = {.in = in, .origin = origin_at(in, i)};
        size_t next = i + 1;
        if (walk.origin && walk_origin(&walk, config->gain)) {
            walk.cell = cells;
            walk_origin(&walk, config->gain);
            next = walk.end;
            memcpy(plane.name, walk.origin->plane.name, sizeof plane.name);
            plane.width = walk.width;
            plane.height = walk.height;
            plane.type = target_type(plane.type, &walk.origin->plane);
            plane.zero_x = plane.zero_y = 0;
        } else if (cells) {
            cells[i] =
                (struct mosaic_cell){.width = plane.width, .height = plane.height, .copy = true};
        }
        for (; i < next; i++)
            if (cells)
                cells[i].target = target;
        if (out)
            result = stage_add_plane(out, &plane, alignment, fault);
    }
    return result;
}

static int shape(const void *config, const struct frame *in, size_t alignment, struct frame *out,
                 struct fault *fault)
{
    return mosaic_layout(config, in, alignment, NULL, out, fault);
}

static void add_pass(struct stage_plan *plan, unsigned index, const struct mosaic_cell *cell)
{
    const struct plane *in = &plan->in->planes[index], *out = &plan->out->planes[cell->target];
    enum kernel_form form = plan->profile->form == FORM_ROWS ? FORM_ROWS : FORM_SCALAR;
    uint32_t channels = in->channels;
    struct pass *pass =
        pass_begin(plan, "mosaic", "", form, 0, cell->width * channels, cell->height);
    pass_define_type_bits(pass, "SRC", in->type);
    pass_define(pass, "OF_DOUBLES", "%d", in->type == SAMPLE_F64);
    pass_define(pass, "COPY", "%d", cell->copy);
    pass_define(pass, "MIDDLE", "%d", cell->copy ? 0 : cell->middle);
    pass_define(pass, "DST", "%s", pass_type_bits_name(out->type));
    pass_define(pass, "RANGE", "%s", pass_type_name(cell->copy ? SAMPLE_U8 : cell->range));
    if (!cell->copy) {
        pass_name(pass, sample_name(out->type));
        pass_name(pass, cell->middle ? "centred" : "low");
    }
    pass_name(pass, kernel_form_name(form));
    pass->work = 4;
    pass->bytes_read = plane_bytes(in);
    pass->bytes_written = (uint64_t)cell->width * cell->height * channels * sample_size(out->type);
    pass_plane(pass, OPERAND_IN, index);
    pass_plane(pass, OPERAND_OUT, (unsigned)cell->target);
    pass_ints(pass, cell->x * channels, cell->y, in->width * channels, in->height);
    pass_float(pass, cell->factor);
}

static int passes(const void *config, struct stage_plan *plan, struct fault *fault)
{
    struct mosaic_cell *cells = calloc(plan->in->n_planes + 1, sizeof *cells);
    if (!cells)
        return fault_set(fault, FAULT_MEMORY, "no memory for a plan");
    int result = mosaic_layout(config, plan->in, FRAME_ALIGNMENT, cells, NULL, fault);
    for (unsigned i = 0; i < plan->in->n_planes && result == 0; i++)
        add_pass(plan, i, &cells[i]);
    free(cells);
    return result;
}

const struct stage stage_mosaic = {
    .name = "mosaic",
    .summary = "the planes of a wavelet transform as one picture",
    .config_size = sizeof(struct mosaic_config),
    .internal = true,
    .shape = shape,
    .passes = passes,
    .reference = mosaic_reference,
};
