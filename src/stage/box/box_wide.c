/* box of integers on GPUs with local memory: see cl/box/box_wide.cl. */
#include <stdio.h>

#include "stage/box/box_internal.h"

enum {
    CHUNK_BYTES = 16, /* samples of a work-item */
    ITEMS_MIN = 64,
    ITEMS_MAX = 256,
    LOCAL_MEMORY = 32768 /* bytes */
};

/* How a plane is divided. */
struct cut {
    uint32_t size, chunk, channels; /* bytes of a sample, samples of a chunk */
    uint32_t head, tail, chunks;    /* as the kernel says */
    uint32_t items, strips, band;
    bool narrow;   /* sums of columns fit 16 bits */
    uint32_t rows; /* whose sums are in local memory at once */
};

/* Local memory of a work-group: sums of `rows` rows of its columns, and three values for each
 * channel of a chunk. */
static uint32_t local_bytes(const struct cut *cut, uint32_t items, uint32_t rows)
{
    return items * rows * ((cut->narrow ? 2 : 4) * cut->chunk + 3 * 4 * cut->channels);
}

/* Chooses work-groups in which most work-items have results. */
static void choose_items(struct cut *cut, uint32_t samples)
{
    uint32_t chunks = (samples + cut->chunk - 1) / cut->chunk;
    double best = 0;
    for (uint32_t items = ITEMS_MIN; items <= ITEMS_MAX; items += 32) {
        if (items <= cut->chunks + 1 || local_bytes(cut, items, 2) > LOCAL_MEMORY)
            continue;
        uint32_t strips = (chunks + items - cut->chunks - 2) / (items - cut->chunks - 1);
        double share = (double)chunks / strips / items;
        if (share > best * 1.02) {
            best = share;
            cut->items = items;
            cut->strips = strips;
        }
    }
}

static bool cut_plane(const struct box_task *task, struct cut *cut)
{
    const struct plane *in = &task->in.plane, *out = &task->out.plane;
    uint32_t left = box_reach_of(task).left * in->channels, window = task->width * in->channels;
    *cut = (struct cut){.size = (uint32_t)sample_size(in->type), .channels = in->channels};
    cut->chunk = CHUNK_BYTES / cut->size;
    cut->head = (cut->chunk - left % cut->chunk) % cut->chunk;
    cut->chunks = (cut->head + window) / cut->chunk;
    cut->tail = (cut->head + window) % cut->chunk;
    cut->narrow = cut->size == 1 && task->height * 255 <= UINT16_MAX;
    choose_items(cut, out->width * out->channels);
    /* A column outside is found among the group's. */
    if (cut->items == 0 || cut->chunk * cut->items <= 2 * left + 2 * cut->chunk)
        return false;
    cut->rows = in->channels == 1 && local_bytes(cut, cut->items, 4) <= LOCAL_MEMORY ? 4 : 2;
    /* Bands so long that the first sums of a window are a small part of the work. Tall windows
     * would have few bands, so theirs are shorter. */
    uint64_t groups = (uint64_t)task->plan->profile->units * 24 * 128 / cut->items;
    uint64_t band = (uint64_t)cut->strips * out->height / groups;
    uint32_t part = task->height / (task->height > 300 ? 8 : 4), least = part > 16 ? part : 16;
    band = band < least ? least : band > 512 ? 512 : band;
    cut->band = (uint32_t)(band + cut->rows - 1) / cut->rows * cut->rows;
    return true;
}

/* Adds the numbers by which sums are divided, and says how the kernel declares them; `more` behind
 * them. */
static void add_divider(struct pass *pass, uint32_t area, uint32_t size, bool compares)
{
    struct box_divider divider = box_divider_choose(8 * size, area);
    const char *numbers = "uint area, float factor", *names = "area, factor";
    uint32_t multiplier, drop = 0; /* whole bytes, which need not be shifted */
    char parameters[80], arguments[60];
    pass_uint(pass, area / 2);
    while (drop <= 24 && !box_divide_by(8 * size, area, 32 + drop, &multiplier))
        drop += 8;
    if (drop <= 24) {
        pass_define(pass, "DROP", "%u", drop);
        pass_uint(pass, multiplier);
        numbers = "uint multiplier", names = "multiplier";
    } else if (divider.kind == BOX_DIVIDE_HIGH) {
        pass_define(pass, "DIVIDE_HIGH", "1");
        pass_uint(pass, divider.multiplier);
        pass_int(pass, divider.drop);
        numbers = "uint multiplier, int drop", names = "multiplier, drop";
    } else {
        divider = box_divider_general(8 * size, area);
        pass_uint(pass, divider.area);
        pass_float(pass, divider.factor);
    }
    snprintf(parameters, sizeof parameters, "%s%s", numbers,
             compares ? ", uint begin, uint low, uint other" : "");
    snprintf(arguments, sizeof arguments, "%s%s", names, compares ? ", begin, low, other" : "");
    pass_numbers(pass, parameters, arguments);
}

/* What cl/box/box_wide.cl compares with, four bytes in a word: `least` within the range of
 * differences and taken from what their lanes begin with, and the two values. */
static void add_compare(struct pass *pass, const struct box_compare *compare)
{
    int32_t least = compare->least < -255 ? -255 : compare->least > 256 ? 256 : compare->least;
    uint32_t low = (uint8_t)compare->low, high = (uint8_t)compare->high;
    pass_define(pass, "COMPARES", "1");
    pass_name(pass, "compared");
    pass_uint(pass, (uint32_t)(0x4000 - least) * 0x00010001u);
    pass_uint(pass, low * 0x01010101u);
    pass_uint(pass, (low ^ high) * 0x01010101u);
}

bool box_suits_wide(const struct box_task *task)
{
    const struct plane *in = &task->in.plane;
    const struct device_profile *profile = task->plan->profile;
    struct cut cut;
    return !profile->generic && profile->local_memory >= LOCAL_MEMORY &&
           sample_is_integer(in->type) && pass_is_aligned(in) &&
           pass_is_aligned(&task->out.plane) && box_divider_of(task).sum_bits < 64 &&
           cut_plane(task, &cut);
}

void box_add_wide(const struct box_task *task)
{
    const struct plane *in = &task->in.plane, *out = &task->out.plane;
    uint32_t area = task->width * task->height, size = (uint32_t)sample_size(in->type);
    struct cut cut;
    cut_plane(task, &cut);
    struct pass *pass = pass_begin(task->plan, "box_wide", "", FORM_SCALAR, 1,
                                   cut.strips * cut.items, (out->height + cut.band - 1) / cut.band);
    pass->group[0] = cut.items;
    pass_define_type(pass, "SRC", in->type);
    pass_channels(pass, in->channels, out->channels);
    pass_define(pass, "SAMPLE_BITS", "%u", 8 * size);
    pass_define(pass, "ITEMS", "%u", cut.items);
    pass_define(pass, "ROWS", "%u", cut.rows);
    pass_define(pass, "NARROW", "%d", cut.narrow);
    pass_define(pass, "FLIP", "%du", box_lowest(in->type) > 0);
    pass_define(pass, "HEAD", "%u", cut.head);
    pass_define(pass, "TAIL", "%u", cut.tail);
    pass_define(pass, "CHUNKS", "%u", cut.chunks);
    pass_define(pass, "WRAPS", "%d", task->border == BORDER_WRAP);
    pass->work = 16.0 * (2 * cut.band + task->height);
    pass_views(pass, &task->in, &task->out);
    box_add_window(pass, task, cut.band);
    add_divider(pass, area, size, task->compare != NULL);
    if (task->compare)
        add_compare(pass, task->compare);
}

bool box_add_compare(struct stage_plan *plan, unsigned plane, const struct box_config *config,
                     const struct box_compare *compare)
{
    const struct box_task task = {.plan = plan,
                                  .in = {OPERAND_IN, plan->in->planes[plane]},
                                  .out = {OPERAND_OUT, plan->out->planes[plane]},
                                  .width = (uint32_t)config->width.v[0],
                                  .height = (uint32_t)config->height,
                                  .border = (enum border)config->border,
                                  .compare = compare};
    const struct plane *in = &task.in.plane;
    bool suits = plan->profile->packs_bytes && sample_size(in->type) == 1 && in->channels == 1 &&
                 task.border != BORDER_CROP && box_suits_wide(&task);
    if (suits)
        box_add_wide(&task);
    return suits;
}
