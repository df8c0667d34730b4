#include "stage/count.h"

#include "stage/common.h"

/* Ints at the beginning of the state of a whole plane: what was found, and sums of 256 bins each.
 * Then come a table of as many ints as bins, and the counts. */
#define HEAD 16
#define SUMS 256

/* Where its items work together a work-group counts so many samples, or pixels, of each row; of a
 * mirrored tile all; and about so many in all. */
#define STRIP       (16 * COUNT_ITEMS)
#define OF_ONE_TILE 16384

/* Ints that a plane's regions may have: the limit of stages is no higher. */
#define REGIONS_ROOM (1u << 24)

static uint32_t parts_of(uint32_t whole, uint32_t part)
{
    return (whole + part - 1) / part;
}

bool count_together(const struct stage_plan *plan)
{
    return plan->profile->local_memory >= COUNT_ITEMS / 32 * 256 * sizeof(int32_t);
}

static uint32_t rows_of(const struct count *count, uint32_t samples)
{
    uint32_t rows = samples / count->tile_width;
    return rows < 1 ? 1 : rows > count->tile_height ? count->tile_height : rows;
}

/* A row's samples, or pixels where these count once. */
static uint32_t width_of(const struct plane *plane, uint32_t pixel)
{
    return pixel > 1 ? plane->width : plane->width * plane->channels;
}

void count_plane(const struct stage_plan *plan, const struct plane *plane, bool luma, uint32_t bins,
                 struct count *count)
{
    size_t size = sample_size(plane->type);
    bool on_cpu = plan->profile->form == FORM_ROWS;
    *count = (struct count){
        .pixel = luma || plane->channels == 2 ? plane->channels : 1,
        .bins = bins,
        .colours = 1,
        .levels = size == 1 || (size == 2 && (bins > 256 || on_cpu)),
        .tiles = 1,
        .across = 1,
        .tile_height = plane->height,
        .strip = STRIP,
        .together = size == 1 && count_together(plan) && pass_is_aligned(plane),
    };
    if (count->levels)
        count->bins = size == 1 ? 256 : 65536;
    count->tile_width = width_of(plane, count->pixel);
    /* A CPU's parts of 65536 counts are too large for its caches: no more than it needs. */
    uint32_t most = count->bins > 4096 && plan->profile->units < 8 ? 2 * plan->profile->units : 16;
    count->rows = on_cpu ? parts_of(plane->height, most) : count->together ? (luma ? 4 : 16) : 32;
    count->bands = parts_of(plane->height, count->rows);
    count->parts = on_cpu ? count->bands : 65536 / count->bins < 16 ? 65536 / count->bins : 16;
    if (count->together)
        count->parts = 1;
    count->counts_at = HEAD + SUMS + count->bins;
    count->apart = count->bins;
}

void count_tiles(const struct stage_plan *plan, const struct plane *plane, uint32_t across,
                 uint32_t down, uint32_t width, uint32_t height, uint32_t apart,
                 struct count *count)
{
    bool on_cpu = plan->profile->form == FORM_ROWS;
    *count = (struct count){
        .pixel = plane->channels,
        .bins = (uint32_t)sample_max(plane->type) + 1,
        .colours = 1,
        .levels = true,
        .tiled = true,
        .tiles = across * down,
        .across = across,
        .tile_width = width,
        .tile_height = height,
        .strip = width,
        .parts = 1,
        .apart = apart,
        .together = plane->type == SAMPLE_U8 && count_together(plan),
    };
    count->rows = on_cpu            ? height
                  : count->together ? rows_of(count, OF_ONE_TILE)
                                    : rows_of(count, 32 * width);
    count->bands = parts_of(height, count->rows);
    if (count->together) {
        count->parts = count->bands;
        count->apart = 256;
    }
}

void count_regions(const struct stage_plan *plan, const struct plane *plane, uint32_t across,
                   uint32_t down, uint32_t bins, struct count *count)
{
    bool on_cpu = plan->profile->form == FORM_ROWS;
    size_t size = sample_size(plane->type);
    *count = (struct count){
        .pixel = plane->channels,
        .bins = plane->type == SAMPLE_F32  ? bins
                : size == 1 || bins <= 256 ? 256
                                           : 65536,
        .colours = plane->channels - plane_has_alpha(plane),
        .levels = true,
        .scaled = plane->type == SAMPLE_F32,
        .tiled = true,
        .regions = true,
        .tiles = across * down,
        .across = across,
        .tile_width = parts_of(plane->width, across),
        .tile_height = parts_of(plane->height, down),
        .strip = STRIP,
    };
    uint32_t sets = count->tiles * count->colours * count->bins;
    uint32_t strip = count->tile_width < STRIP ? count->tile_width : STRIP;
    count->shift = plane->type != SAMPLE_F32 && size == 2 && count->bins == 256 ? 8 : 0;
    count->together = count->bins <= COUNT_ITEMS / 32 * 256 && count_together(plan);
    count->apart = count->colours * count->bins;
    if (on_cpu) {
        count->rows =
            parts_of(count->tile_height, parts_of(2 * plan->profile->units, count->tiles));
        if (parts_of(count->tile_height, count->rows) > REGIONS_ROOM / sets)
            count->rows = parts_of(count->tile_height, REGIONS_ROOM / sets);
    } else if (count->together) {
        uint32_t least = count->colours > 1 ? 4 : 16;
        count->rows =
            rows_of(count, strip * least > OF_ONE_TILE ? count->tile_width * least : OF_ONE_TILE);
    } else {
        count->rows = rows_of(count, 32 * count->tile_width);
    }
    count->bands = parts_of(count->tile_height, count->rows);
    count->parts = on_cpu                            ? count->bands
                   : count->together || sets > 32768 ? 1
                   : sets < 4096                     ? 16
                                                     : 65536 / sets;
}

uint64_t count_bytes(const struct count *count)
{
    return sizeof(int32_t) *
           (count->counts_at + (uint64_t)count->apart * count->parts * count->tiles);
}

struct scratch count_state(struct stage_plan *plan, bool luma, uint32_t bins)
{
    struct scratch state = {0};
    for (size_t i = 0; i < plan->in->n_planes; i++) {
        const struct plane *plane = &plan->in->planes[i];
        struct count count;
        count_plane(plan, plane, luma && plane->channels > 2, bins, &count);
        stage_plan_memory(plan, &state, count_bytes(&count));
    }
    return state;
}

static struct pass *begin(struct stage_plan *plan, const char *source, const char *part,
                          enum kernel_form form, uint32_t span, const struct plane *plane,
                          unsigned state, const struct count *count, uint32_t grid_width,
                          uint32_t grid_height)
{
    struct pass *pass = pass_begin(plan, source, part, form, span, grid_width, grid_height);
    pass_define_type(pass, "SRC", plane->type);
    bool values = count->levels && !count->scaled;
    pass_define(pass, "BINS", "%u", count->scaled ? 1 : count->bins);
    pass_define(pass, "LEVELS", "%d", count->levels);
    pass_define(pass, "LEVEL_MIN", "%d", values ? (int)sample_min(plane->type) : 0);
    pass_name(pass, kernel_form_name(form));
    pass_buffer(pass, state);
    return pass;
}

void count_work(struct pass *pass, bool together)
{
    pass_define(pass, together ? "FORM_TOGETHER" : "FORM_ALONE", "1");
    pass_define(pass, "ITEMS", "%d", together ? COUNT_ITEMS : 1);
    if (together)
        pass->group[0] = COUNT_ITEMS;
}

struct pass *count_pass(struct stage_plan *plan, const char *source, const char *part,
                        const struct plane *plane, unsigned state, const struct count *count,
                        uint32_t groups)
{
    bool together = count_together(plan);
    struct pass *pass = begin(plan, source, part, FORM_SCALAR, 1, plane, state, count,
                              groups * (together ? COUNT_ITEMS : 1), 1);
    count_work(pass, together);
    return pass;
}

/* Adds a pass over all samples, band by band. */
static void add_scan(struct stage_plan *plan, const char *part, unsigned index, unsigned state,
                     const struct count *count)
{
    const struct plane *plane = &plan->in->planes[index];
    bool on_cpu = plan->profile->form == FORM_ROWS;
    uint32_t strips = parts_of(count->tile_width, count->strip);
    uint32_t alpha = count->pixel == 1 && plane_has_alpha(plane) ? plane->channels : 0;
    bool words = !on_cpu && !count->together && count->pixel != 2 && !alpha &&
                 plan->profile->takes_columns && sample_size(plane->type) == 1 &&
                 pass_is_aligned(plane);
    uint32_t columns = on_cpu                  ? 1
                       : count->together       ? count->across * strips * COUNT_ITEMS
                       : words && count->tiled ? count->across * (count->tile_width / 16 + 2) * 16
                                               : count->across * count->tile_width;
    uint32_t down = on_cpu ? count->tiles : count->tiles / count->across;
    struct pass *pass =
        begin(plan, "count", count->together ? "tally" : part, on_cpu ? FORM_ROWS : FORM_SCALAR,
              words ? 16 : 1, plane, state, count, columns, down * count->bands);
    pass_define(pass, "PIXEL", "%u", count->pixel);
    pass_define(pass, "ALPHA", "%u", alpha);
    pass_define(pass, "UNIT", "%s",
                pass_type_name(sample_size(plane->type) == 1 ? SAMPLE_U8 : plane->type));
    pass_define(pass, "COLOURS", "%u", count->colours);
    pass_define(pass, "SHIFT", "%u", count->shift);
    pass_define(pass, "TILED", "%d", count->tiled);
    pass_define(pass, "REGIONS", "%d", count->regions);
    if (count->tiled)
        pass_name(pass, count->regions ? "regions" : "tiled");
    if (count->shift)
        pass_name(pass, "256");
    if (!count->levels && sample_is_integer(plane->type))
        pass_name(pass, "bins");
    if (count->together) {
        count_work(pass, true);
        pass_define(pass, "ALIGNED", "%d", pass_is_aligned(plane));
    }
    if (count->pixel > 2 && count->colours == 1)
        pass_name(pass, "luma");
    if (count->pixel > 1 || alpha)
        pass_name(pass, (const char *const[]){"c2", "c3", "c4"}[plane->channels - 2]);
    double samples =
        (double)count->rows * count->colours *
        (on_cpu || count->strip > count->tile_width ? count->tile_width : count->strip);
    pass->work = 8.0 * (on_cpu            ? samples
                        : count->together ? samples / COUNT_ITEMS
                                          : (double)count->rows * count->colours);
    pass->bytes_read = plane_bytes(plane);
    pass_plane(pass, OPERAND_IN, index);
    pass_ints(pass, count->counts_at, count->apart, count->parts, width_of(plane, count->pixel),
              plane->height, count->across, count->tiles / count->across, count->tile_width,
              count->tile_height, count->rows, count->bands, count->strip, strips);
    if (count->scaled) {
        pass_numbers(pass, "int values, float low, float scale", "values, low, scale");
        pass_int(pass, (int32_t)count->bins);
        pass_float(pass, count->low);
        pass_float(pass, count->scale);
    }
}

void count_add(struct stage_plan *plan, unsigned index, unsigned state, const struct count *count)
{
    const struct plane *plane = &plan->in->planes[index];
    bool on_cpu = plan->profile->form == FORM_ROWS;
    enum kernel_form form = on_cpu ? FORM_ROWS : FORM_SCALAR;
    if (count->regions || !count->tiled || !count->together) {
        struct pass *clear =
            begin(plan, "count", "clear", form, on_cpu ? PASS_WHOLE_ROW : 1, plane, state, count,
                  count->counts_at + count->colours * count->bins, count->parts * count->tiles);
        clear->bytes_written = count_bytes(count);
        pass_ints(clear, count->counts_at, count->apart);
    }
    if (!count->levels)
        add_scan(plan, "range", index, state, count);
    add_scan(plan, "count", index, state, count);
    if (count->tiled)
        return;
    struct pass *merge =
        begin(plan, "count", "merge", form, on_cpu ? 256 : 1, plane, state, count, count->bins, 1);
    merge->work = 2.0 * count->parts;
    merge->bytes_read = count_bytes(count);
    pass_int(merge, (int32_t)count->parts);
}
