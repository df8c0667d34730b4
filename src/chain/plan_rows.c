/* How much of each frame a run holds. A picture need not exist as a whole: on native, a step that
 * computes rows from a few rows of its input takes these while they are in the cache, and hands its
 * own on. Between two such steps, and between them and a source or sink of rows, there is a window
 * (image/window.h). A step that needs all of its input has it in whole, and so is what it gives. */
#include "chain/plan_internal.h"

#define BAND_BYTES (128u << 10) /* a few bands fit a core's own cache */
#define BANDS_MIN  8            /* smaller pictures are held as a whole */

/* A JPEG's decoder makes 8 or 16 rows at a time. */
#define BAND_ROWS     16
#define BAND_ROWS_MIN 4

uint32_t plan_rows_of_band(const struct plan *plan, const struct frame *frame)
{
    uint32_t rows = (uint32_t)(plan->band_bytes / frame->planes[0].stride);
    return rows >= BAND_ROWS       ? rows / BAND_ROWS * BAND_ROWS
           : rows >= BAND_ROWS_MIN ? rows
                                   : BAND_ROWS_MIN;
}

bool plan_is_large(const struct frame *in)
{
    return frame_bytes(in) >= (uint64_t)BANDS_MIN * BAND_BYTES;
}

uint32_t plan_band_bytes(const struct plan_options *options, const struct chain *chain,
                         const struct frame *in)
{
    const struct device_profile *profile = options->profile;
    uint32_t bytes = options->band_bytes ? options->band_bytes : BAND_BYTES;
    bool has_kernels = profile ? profile->prebuilt : chain->n_steps == 0;
    return (options->rows_in || options->rows_out) && has_kernels &&
                   chain_count_results(chain) == 1 && frame_bytes(in) >= (uint64_t)BANDS_MIN * bytes
               ? bytes
               : 0;
}

static uint32_t clamp(int64_t value, uint32_t least, uint32_t most)
{
    return value < least ? least : value > most ? most : (uint32_t)value;
}

void plan_rows_needed(const struct plan_step *step, uint32_t first, uint32_t end, uint32_t *from,
                      uint32_t *to)
{
    const struct pass *pass = &step->work.passes[0];
    uint32_t height = step->source->planes[0].height, rows = step->out.planes[0].height;
    int64_t begin = (int64_t)first * pass->band, behind = (int64_t)end * pass->band;
    behind = behind < rows ? behind : rows;
    if (pass->scaled) {
        begin = begin * height / rows;
        behind = (behind * height + rows - 1) / rows;
    }
    uint32_t top = plane_first_row(&step->source->planes[0]);
    *from = top + clamp(begin - pass->above, 0, height - 1);
    *to = top + clamp(behind + pass->below, 1, height);
}

/* The most rows of its input that a step needs for so many rows of its grid. */
static uint32_t need(const struct plan_step *step, uint32_t count)
{
    const struct pass *pass = &step->work.passes[0];
    int64_t rows = (int64_t)count * pass->band;
    if (pass->scaled)
        rows = rows * step->source->planes[0].height / step->out.planes[0].height + 2;
    rows += pass->above + pass->below;
    return clamp(rows, 1, step->source->planes[0].height);
}

/* Whether the step's kernel takes rows as they come; sets step->at_once. */
static bool takes_rows(const struct plan *plan, struct plan_step *step)
{
    struct pass *pass = step->work.passes;
    const struct frame *in = step->source, *out = &step->out;
    bool line = stage_is_per_pixel(step->stage, step->config) || step->stage->reach;
    if (step->work.n_passes != 1 || pass->form != FORM_ROWS || in->n_planes != 1 ||
        out->n_planes != 1 || out->planes[0].offset)
        return false;
    if (pass->band == 0 && !pass->fused && line && pass->grid_height == out->planes[0].height) {
        struct stage_reach reach = {.rows = 1};
        if (!stage_is_per_pixel(step->stage, step->config))
            reach = step->stage->reach(step->config);
        pass_set_rows(pass, 1, (int32_t)reach.top, (int32_t)(reach.rows - 1 - reach.top),
                      reach.border, 0);
    }
    bool has_own = step->work.n_scratch == 0 || (step->work.n_scratch == 1 && pass->item > 0);
    /* of a picture that becomes much smaller, one band has enough rows */
    bool many = pass->scaled && in->planes[0].height > 2 * (uint64_t)out->planes[0].height;
    step->at_once = pass->band == 1 ? plan_rows_of_band(plan, out)
                    : many          ? 1
                                    : plan->profile->units;
    return pass->band > 0 && has_own;
}

/* Chooses how much is held between what writes rows, NULL for the source, and what reads them, NULL
 * for the sink; returns whether that is a part. */
static bool hold(const struct plan *plan, const struct plan_step *writer,
                 const struct plan_step *reader, const struct frame *frame,
                 struct window_size *held)
{
    uint32_t band = plan_rows_of_band(plan, frame);
    uint32_t written = writer && writer->work.passes[0].band > 1
                           ? writer->work.passes[0].band * writer->at_once
                           : band;
    uint32_t read = reader ? need(reader, reader->at_once) : band;
    uint32_t tail = reader ? need(reader, 1) - 1 : 0;
    uint64_t rows = (uint64_t)written + read + (writer && reader ? 0 : band);
    rows = rows > tail ? rows : tail;
    if (writer && writer->work.passes[0].band > 1) /* what it writes at a time lies together */
        rows = (rows + written - 1) / written * written;
    if (rows + tail >= frame->planes[0].height)
        return false;
    *held = (struct window_size){(uint32_t)rows, tail};
    return true;
}

void plan_hold_rows(struct plan *plan, const struct plan_options *options)
{
    struct window_size *held = &plan->held;
    struct plan_step *writer = NULL; /* the last step that has taken rows; NULL: the source */
    const struct frame *frame = &plan->in;
    bool comes = options->rows_in && frame->n_planes == 1 && frame->planes[0].offset == 0;
    bool was_part = false; /* what the writer reads is held in part */
    if (plan->band_bytes == 0)
        return;
    for (size_t i = 0; i < plan->n_steps; i++) {
        struct plan_step *step = &plan->steps[i];
        if (step->work.n_passes == 0)
            continue;
        bool takes = takes_rows(plan, step);
        bool part = comes && takes && hold(plan, writer, step, frame, held);
        if (writer && !part && !was_part)
            writer->at_once = 0;
        plan->by_rows |= part;
        if (!takes)
            step->at_once = 0;
        held = &step->held;
        frame = &step->out;
        comes = takes;
        writer = takes ? step : NULL;
        was_part = part;
    }
    bool part = comes && options->rows_out && hold(plan, writer, NULL, frame, held);
    if (writer && !part && !was_part)
        writer->at_once = 0;
    plan->by_rows |= part;
}
