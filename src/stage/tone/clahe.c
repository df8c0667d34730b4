/* clahe counts each tile's tones, limits the counts and makes a table of each, and looks every
 * pixel up in the four tables around it, all on the device. cl/tone/clahe.cl says how. */
#include "stage/tone/tone.h"

#include <math.h>

#include "stage/common.h"
#include "stage/count.h"

#define GROUP 256 /* bins of which sums are kept */

/* Columns and rows of which a work-group makes the result, where its items work together. */
#define STRIP 256
#define BAND  64

static const struct param params[] = {
    PARAM(WORD, "tiles", offsetof(struct clahe_config, tiles),
          "tiles across x down, each with a table of its own, up to 64x64", DEFAULT("8x8")),
    PARAM(REAL, "clip", offsetof(struct clahe_config, clip),
          "how often a value may be in a tile, as a multiple of the mean; 0: without limit",
          RANGE(0, 1e6), DEFAULT("2")),
    {0},
};

static bool parse_tiles(const struct clahe_config *config, struct plane *size)
{
    return plane_parse_size(config->tiles, size) && size->channels == 1 &&
           size->width <= CLAHE_TILES_MAX && size->height <= CLAHE_TILES_MAX;
}

static int complete(void *config_, param_given *given, struct fault *fault)
{
    const struct clahe_config *config = config_;
    struct plane size;
    if (parse_tiles(config, &size))
        return 0;
    return fault_set(fault, FAULT_CHAIN,
                     "clahe: tiles=%s: give how many across and how many down, from 1x1 to %dx%d",
                     config->tiles, CLAHE_TILES_MAX, CLAHE_TILES_MAX);
}

void clahe_cut(const struct clahe_config *config, const struct plane *plane,
               struct clahe_tiles *tiles)
{
    struct plane size = {.width = 1, .height = 1};
    double bins = sample_max(plane->type) + 1;
    parse_tiles(config, &size);
    *tiles = (struct clahe_tiles){.across = size.width, .down = size.height, .limit = INT32_MAX};
    bool divides = plane->width % tiles->across == 0 && plane->height % tiles->down == 0;
    tiles->width = plane->width / tiles->across + !divides;
    tiles->height = plane->height / tiles->down + !divides;
    double area = (double)tiles->width * tiles->height;
    tiles->scale = (float)sample_max(plane->type) / (float)area;
    if (config->clip > 0)
        tiles->limit = (int32_t)fmin(fmax(floor(config->clip * area / bins), 1), INT32_MAX);
}

static uint32_t bins_of(const struct plane *plane)
{
    return (uint32_t)sample_max(plane->type) + 1;
}

/* Whether each region, the pixels between the same four tiles, has a table that joins theirs: bytes
 * on CPUs and on Mali. */
static bool joins(const struct stage_plan *plan, const struct plane *plane)
{
    return plane->type == SAMPLE_U8 &&
           (plan->profile->form == FORM_ROWS || plan->profile->takes_columns);
}

/* Of a tile: counts, two sums of each group of them, and a table. */
static uint32_t table_at(const struct plane *plane)
{
    return bins_of(plane) + 2 * (bins_of(plane) / GROUP);
}

static uint32_t ints_of_tile(const struct plane *plane)
{
    return table_at(plane) + bins_of(plane) * (uint32_t)sample_size(plane->type) / 4;
}

/* Where the regions' tables begin: behind all tiles. */
static uint64_t joined_at(const struct plane *plane, const struct clahe_tiles *tiles)
{
    return (uint64_t)ints_of_tile(plane) * tiles->across * tiles->down;
}

/* `reads`: the kernel looks at pixels. */
static struct pass *begin(struct stage_plan *plan, const char *part, bool reads,
                          enum kernel_form form, unsigned index, unsigned state, uint32_t width,
                          uint32_t height)
{
    const struct plane *plane = &plan->in->planes[index];
    bool four = reads && joins(plan, plane) && plane->channels != 2 && pass_is_aligned(plane);
    struct pass *pass = pass_begin(plan, "clahe", part, form,
                                   form == FORM_ROWS ? 0
                                   : four            ? 4
                                                     : 1,
                                   width, height);
    pass_define_type(pass, "SRC", plane->type);
    if (reads)
        pass_channels(pass, plane->channels, plane->channels);
    pass_name(pass, kernel_form_name(form));
    pass_buffer(pass, state);
    return pass;
}

static void add_tables(struct stage_plan *plan, unsigned index, unsigned state,
                       const struct clahe_tiles *tiles, const struct count *count)
{
    const struct plane *plane = &plan->in->planes[index];
    uint32_t groups = bins_of(plane) / GROUP, apart = count->together ? GROUP : count->apart;
    uint32_t bands = count->together ? count->bands : 1;
    if (groups > 1) {
        struct pass *clip =
            begin(plan, "clip", false, FORM_SCALAR, index, state, groups, count->tiles);
        clip->work = 4.0 * GROUP;
        pass_int(clip, tiles->limit);
    }
    struct pass *table = begin(plan, "table", false, FORM_SCALAR, index, state,
                               groups * (count->together ? COUNT_ITEMS : 1), count->tiles);
    count_work(table, count->together);
    table->work = count->together ? 2.0 * bands + 60 : 24.0 * GROUP;
    pass_int(table, tiles->limit);
    pass_float(table, tiles->scale);
    pass_ints(table, bands, apart, count->together ? count->tiles * bands * apart : table_at(plane),
              count->together ? GROUP / 4 : apart);
}

static void add_apply(struct stage_plan *plan, unsigned index, unsigned state,
                      const struct clahe_tiles *tiles)
{
    const struct plane *plane = &plan->in->planes[index];
    enum kernel_form form = plan->profile->form == FORM_ROWS ? FORM_ROWS : FORM_SCALAR;
    struct pass *pass = begin(plan, "apply", true, form, index, state, plane->width, plane->height);
    pass->work = joins(plan, plane) ? 20 : 40;
    pass_planes(pass, plan, index);
    pass_ints(pass, tiles->across, tiles->down);
    pass_floats(pass, 1.0f / (float)tiles->width, 1.0f / (float)tiles->height);
    if (!joins(plan, plane)) {
        pass_define(pass, "KERNEL_u16", "1");
        return;
    }
    pass_ints(pass, tiles->width, joined_at(plane, tiles));
    pass_define(pass, form == FORM_ROWS ? "KERNEL_bytes" : "KERNEL_joined", "1");
    if (form == FORM_ROWS)
        pass_define(pass, plane->channels > 2 ? "KERNEL_colours" : "KERNEL_grey", "1");
    else
        pass_name(pass, "joined");
}

static void add_join(struct stage_plan *plan, unsigned index, unsigned state,
                     const struct clahe_tiles *tiles)
{
    const struct plane *plane = &plan->in->planes[index];
    struct pass *join = begin(plan, "join", false, FORM_SCALAR, index, state, tiles->across + 1,
                              tiles->down + 1);
    join->work = 2.0 * bins_of(plane);
    pass_ints(join, tiles->across, tiles->down, joined_at(plane, tiles));
}

static uint32_t parts(uint32_t whole, uint32_t part)
{
    return (whole + part - 1) / part;
}

static void add_blend(struct stage_plan *plan, unsigned index, unsigned state,
                      const struct clahe_tiles *tiles, uint32_t tables_at)
{
    const struct plane *plane = &plan->in->planes[index];
    /* Regions between tiles are as large as tiles but for the rounding of f32, and begin within
     * eight pixels that one item takes. */
    uint32_t strips = parts(tiles->width + 9, STRIP), bands = parts(tiles->height + 2, BAND);
    struct pass *pass = begin(plan, "blend", true, FORM_SCALAR, index, state,
                              (tiles->across + 1) * strips * COUNT_ITEMS, (tiles->down + 1) * bands);
    count_work(pass, true);
    pass_define(pass, "ALIGNED", "%d",
                pass_is_aligned(plane) && pass_is_aligned(&plan->out->planes[index]));
    pass->work = 32.0 * STRIP * BAND / COUNT_ITEMS;
    pass_planes(pass, plan, index);
    pass_ints(pass, plane->width, plane->height, tiles->across, tiles->down, tiles->width,
              tiles->height);
    pass_floats(pass, 1.0f / (float)tiles->width, 1.0f / (float)tiles->height);
    pass_ints(pass, tables_at, strips, BAND, bands);
}

static int passes(const void *config, struct stage_plan *plan, struct fault *fault)
{
    struct scratch state = {0};
    struct clahe_tiles tiles;
    struct count count;
    for (unsigned i = 0; i < plan->in->n_planes; i++) {
        const struct plane *plane = &plan->in->planes[i];
        clahe_cut(config, plane, &tiles);
        count_tiles(plan, plane, tiles.across, tiles.down, tiles.width, tiles.height,
                    ints_of_tile(plane), &count);
        uint64_t regions = joins(plan, plane) ? (tiles.across + 1) * (tiles.down + 1) : 0;
        uint64_t tables = count.together ? 256 / sizeof(int32_t) * count.tiles : 256 * regions;
        stage_plan_memory(plan, &state, count_bytes(&count) + sizeof(int32_t) * tables);
        count_add(plan, i, state.operand, &count);
        add_tables(plan, i, state.operand, &tiles, &count);
        if (count.together) {
            add_blend(plan, i, state.operand, &tiles, count.tiles * count.bands * GROUP);
            continue;
        }
        if (joins(plan, plane))
            add_join(plan, i, state.operand, &tiles);
        add_apply(plan, i, state.operand, &tiles);
    }
    return 0;
}

const struct stage stage_clahe = {
    .name = "clahe",
    .summary = "equalize by tiles, with limited contrast: details come out of shadows and of haze",
    .params = params,
    .config_size = sizeof(struct clahe_config),
    .complete = complete,
    .types = 1u << SAMPLE_U8 | 1u << SAMPLE_U16,
    .passes = passes,
    .reference = clahe_reference,
};
