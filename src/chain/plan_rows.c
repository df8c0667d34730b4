/* How much of each frame a run holds. A picture need not exist as a whole: a step that computes
 * rows from a few rows of its input takes these while they are in the cache, and hands its own on.
 * Between two such steps, two passes of such a step, and between them and a source or sink of rows,
 * there is a window (image/window.h). A step that needs all of its input has it in whole, and so is
 * what it gives. OpenCL, whose devices have memory of their own, goes so where they have no room
 * for whole planes, by larger bands. */
#include "chain/plan_internal.h"
#include "chain/source.h"

#include <string.h>

#define BAND_BYTES (128u << 10) /* a few bands fit a core's own cache */
#define BANDS_MIN  8            /* smaller pictures are held as a whole */

/* Of OpenCL, where what is launched should take longer than launching it, but not much of the room
 * that the picture itself does not have. */
#define STRIP_BYTES_MOST (1u << 20)
#define STRIPS           64

/* A JPEG's decoder makes 8 or 16 rows at a time. */
#define BAND_ROWS     16
#define BAND_ROWS_MIN 4

static uint32_t clamp(int64_t value, uint32_t least, uint32_t most)
{
    return value < least ? least : value > most ? most : (uint32_t)value;
}

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
    bool is_native = profile ? profile->prebuilt : chain->n_steps == 0;
    bool has_kernels = is_native || (profile && options->strips);
    uint32_t bytes = options->band_bytes ? options->band_bytes : BAND_BYTES;
    if (!options->band_bytes && !is_native)
        bytes = clamp((int64_t)(frame_bytes(in) / STRIPS), BAND_BYTES, STRIP_BYTES_MOST);
    return (options->rows_in || options->rows_out) && has_kernels &&
                   frame_bytes(in) >= (uint64_t)BANDS_MIN * bytes
               ? bytes
               : 0;
}

bool plan_takes_rows(const struct plan_step *step)
{
    return step->work.n_passes > 0 && step->work.passes[0].at_once > 0;
}

/* The only pass that writes rows of the operand; NULL: there is none, or several. */
static const struct pass *writer_of(const struct plan_step *step, unsigned operand)
{
    const struct pass *writer = NULL;
    for (unsigned p = 0; p < step->work.n_passes; p++) {
        const struct pass *pass = &step->work.passes[p];
        if (pass->writes == operand && writer)
            return NULL;
        if (pass->writes == operand)
            writer = pass;
    }
    return writer;
}

static bool is_frame(const struct pass_arg *arg)
{
    return arg->kind == PASS_PLANE || arg->kind == PASS_BUFFER || arg->kind == PASS_TABLE;
}

void plan_rows_needed(const struct plan_step *step, const struct pass *pass, unsigned operand,
                      uint32_t first, uint32_t end, uint32_t *from, uint32_t *to)
{
    const struct plane *in = &plan_operand_frame(step, operand)->planes[0];
    uint32_t rows = plan_operand_frame(step, pass->writes)->planes[0].height;
    int64_t begin = (int64_t)first * pass->band, behind = (int64_t)end * pass->band;
    behind = behind < rows ? behind : rows;
    if (pass->scaled) {
        begin = begin * in->height / rows;
        behind = (behind * in->height + rows - 1) / rows;
    }
    uint32_t top = plane_first_row(in);
    *from = top + clamp(begin - pass->above, 0, in->height - 1);
    *to = top + clamp(behind + pass->below, 1, in->height);
}

/* The most rows of an operand that a pass needs for so many rows of its grid. */
static uint32_t need(const struct plan_step *step, const struct pass *pass, unsigned operand,
                     uint32_t count)
{
    uint32_t height = plan_operand_frame(step, operand)->planes[0].height;
    int64_t rows = (int64_t)count * pass->band;
    if (pass->scaled)
        rows = rows * height / plan_operand_frame(step, pass->writes)->planes[0].height + 2;
    rows += pass->above + pass->below;
    return clamp(rows, 1, height);
}

void plan_set_rows(const struct plan_step *step, struct pass *pass)
{
    struct stage_reach reach = stage_find_reach(step->stage, step->config);
    if (pass->band == 0 && reach.rows > 0 && pass->grid_height == step->out.planes[0].height)
        pass_set_rows(pass, 1, (int32_t)reach.top, (int32_t)(reach.rows - 1 - reach.top),
                      (int)reach.border, 0);
}

/* Whether an argument of a pass is no memory, or such that rows can come and go: a frame's only
 * plane, which is added to pass->reads, or memory that each row of the grid has for itself. */
static bool suits_rows(const struct plan_step *step, struct pass *pass, unsigned index)
{
    const struct pass_arg *arg = &pass->args[index];
    if (!is_frame(arg) || arg->operand >= OPERAND_TABLE)
        return true;
    if (arg->operand >= OPERAND_SCRATCH && pass->item > 0 && !writer_of(step, arg->operand) &&
        pass->writes != arg->operand)
        return true;
    const struct frame *frame = plan_operand_frame(step, arg->operand);
    const struct plane *plane = &frame->planes[0];
    bool is_own = arg->operand != OPERAND_IN;
    if (frame->n_planes != 1 || (is_own && (plane->offset || !writer_of(step, arg->operand))))
        return false;
    if (arg->operand != pass->writes)
        pass->reads |= 1u << arg->operand;
    return arg->kind == PASS_PLANE ||
           (arg->unit > 0 && (size_t)arg[1].i * arg->unit == plane->offset &&
            (size_t)arg[2].i * arg->unit == plane->stride);
}

static void take_none(struct plan_step *step)
{
    for (unsigned p = 0; p < step->work.n_passes; p++)
        step->work.passes[p].at_once = 0;
    memset(step->held_scratch, 0, sizeof step->held_scratch);
}

static uint32_t rows_at_once(const struct plan *plan, const struct plan_step *step,
                             const struct pass *pass)
{
    const struct frame *out = plan_operand_frame(step, pass->writes);
    uint64_t rows = plan_rows_of_band(plan, out), height = out->planes[0].height;
    uint64_t from = pass->scaled ? step->source->planes[0].height : 0;
    if (plan->profile->form == FORM_ROWS && pass->band > 1) /* a row of the grid is a work-item */
        /* of a picture that becomes much smaller, one band has enough rows, and is enough unless
         * others need them, too */
        return from > 2 * height && plan->n_results == 1 ? 1 : plan->profile->units;
    if (from > height)
        rows = plan_rows_of_band(plan, step->source) * height / from;
    return rows > pass->band ? (uint32_t)(rows / pass->band) : 1;
}

/* Whether the step's kernels take rows as they come; sets their at_once. */
static bool takes_rows(const struct plan *plan, struct plan_step *step)
{
    bool takes = step->source->n_planes == 1 && step->out.n_planes == 1;
    if (step->work.n_passes == 1 && !stage_is_per_pixel(step->stage, step->config) &&
        !step->work.passes[0].fused)
        plan_set_rows(step, &step->work.passes[0]);
    for (unsigned p = 0; p < step->work.n_passes && takes; p++) {
        struct pass *pass = &step->work.passes[p];
        takes = pass->band > 0 && pass->writes > 0;
        for (unsigned i = 0; i < pass->n_args && takes; i++)
            takes = suits_rows(step, pass, i);
        if (!takes)
            break;
        pass->at_once = rows_at_once(plan, step, pass);
    }
    return takes;
}

size_t plan_writer(const struct plan *plan, size_t step)
{
    while (step > 0 && plan->steps[step - 1].work.n_passes == 0)
        step = plan->steps[step - 1].before;
    return step;
}

/* Rows of a frame that one who reads it needs to be held: so many in all, of which so many may lie
 * on both sides of a turn. */
struct need {
    uint64_t rows;
    uint32_t tail;
};

/* Of a step that reads it as `operand`. Where several passes read, those in between are behind the
 * first by what they take. */
static struct need need_of(const struct plan_step *step, unsigned operand)
{
    struct need all = {0, 0};
    uint32_t read = 0;
    uint64_t behind = 0, between = 0;
    for (unsigned p = 0; p < step->work.n_passes; p++) {
        const struct pass *pass = &step->work.passes[p];
        if (pass->reads & 1u << operand) {
            uint32_t most = need(step, pass, operand, pass->at_once);
            uint32_t least = need(step, pass, operand, 1) - 1;
            behind += read > 0 ? between + most : 0;
            between = 0;
            read = most > read ? most : read;
            all.tail = least > all.tail ? least : all.tail;
        } else if (read > 0) {
            between += pass->above + pass->below + (uint64_t)pass->band * pass->at_once;
        }
    }
    all.rows = read + behind;
    return all;
}

/* Chooses how much is held of a frame that the pass writes, NULL for the source; `slack` for whom
 * rows come and go on a thread of their own. Returns whether that is a part. */
static bool hold(const struct plan *plan, const struct pass *writer, const struct need *readers,
                 bool slack, const struct frame *frame, struct window_size *held)
{
    uint32_t band = plan_rows_of_band(plan, frame), tail = readers->tail;
    uint32_t written = writer && writer->band > 1 ? writer->band * writer->at_once : band;
    uint64_t rows = written + readers->rows + (slack ? band : 0);
    rows = rows > tail ? rows : tail;
    if (writer && writer->band > 1) /* what it writes at a time lies together */
        rows = (rows + written - 1) / written * written;
    if (rows + tail >= frame->planes[0].height)
        return false;
    *held = (struct window_size){(uint32_t)rows, tail};
    return true;
}

/* The same for the frame that step `writer` writes, counted from 1, or the input. It is held as a
 * whole unless all who read it take rows. */
static bool hold_frame(struct plan *plan, const struct plan_options *options, size_t writer)
{
    struct plan_step *step = writer > 0 ? &plan->steps[writer - 1] : NULL;
    const struct frame *frame = step ? &step->out : &plan->in;
    uint32_t band = plan_rows_of_band(plan, frame);
    struct need all = {0, 0};
    bool slack = !step;
    if (step ? !plan_takes_rows(step)
             : !options->rows_in || frame->n_planes != 1 || frame->planes[0].offset != 0)
        return false;
    for (size_t i = writer; i < plan->n_steps; i++) {
        const struct plan_step *reader = &plan->steps[i];
        if (reader->work.n_passes == 0 || plan_writer(plan, reader->before) != writer)
            continue;
        struct need its = need_of(reader, OPERAND_IN);
        if (!plan_takes_rows(reader))
            return false;
        all.rows = its.rows > all.rows ? its.rows : all.rows;
        all.tail = its.tail > all.tail ? its.tail : all.tail;
    }
    for (size_t r = 0; r < plan->n_results; r++) {
        if (plan_writer(plan, plan->results[r].step) != writer)
            continue;
        if (!(options->rows_out & 1u << r))
            return false;
        slack = true;
        all.rows = band > all.rows ? band : all.rows;
    }
    return hold(plan, step ? writer_of(step, OPERAND_OUT) : NULL, &all, slack, frame,
                step ? &step->held : &plan->held);
}

static bool is_part(const struct plan *plan, size_t writer)
{
    return (writer > 0 ? plan->steps[writer - 1].held : plan->held).rows > 0;
}

/* A step runs with the one in front of it if it gets a part of a frame from that; and with the
 * source, whose rows come to it as they are decoded, whatever is held of them. */
static void group_steps(struct plan *plan)
{
    for (size_t i = 0; i < plan->n_steps; i++) {
        struct plan_step *step = &plan->steps[i];
        size_t writer = plan_writer(plan, step->before);
        bool joins = step->work.n_passes == 0 || is_part(plan, writer) ||
                     (writer == 0 && plan_takes_rows(step));
        step->group = !joins ? ++plan->n_groups : writer > 0 ? plan->steps[writer - 1].group : 0;
    }
    plan->n_groups++;
}

/* Chooses how much is held of what the passes of a step hand to each other. */
static void hold_scratch(const struct plan *plan, struct plan_step *step)
{
    for (unsigned s = 0; s < step->work.n_scratch; s++) {
        const struct pass *makes = writer_of(step, OPERAND_SCRATCH + s);
        struct need need = need_of(step, OPERAND_SCRATCH + s);
        if (makes)
            hold(plan, makes, &need, false, &step->work.scratch[s], &step->held_scratch[s]);
    }
}

/* Whether rows can come and go: on OpenCL the memory of input and results is the host's in turns,
 * so it is not that of both. */
static bool lets_rows_pass(const struct plan *plan)
{
    bool lets = true;
    for (size_t r = 0; r < plan->n_results && plan->profile && !plan->profile->prebuilt; r++)
        lets &= plan_writer(plan, plan->results[r].step) > 0 || plan_count_passes(plan) == 0;
    return lets;
}

void plan_hold_rows(struct plan *plan, const struct plan_options *options)
{
    plan->band_bytes = lets_rows_pass(plan) ? plan->band_bytes : 0;
    for (size_t i = 0; i < plan->n_steps && plan->band_bytes > 0; i++)
        if (!takes_rows(plan, &plan->steps[i]))
            take_none(&plan->steps[i]);
    for (size_t w = 0; w <= plan->n_steps && plan->band_bytes > 0; w++)
        if (w == 0 || plan->steps[w - 1].work.n_passes > 0)
            plan->by_rows |= hold_frame(plan, options, w);
    for (size_t i = 0; i < plan->n_steps && plan->band_bytes > 0; i++) {
        struct plan_step *step = &plan->steps[i];
        if (!is_part(plan, plan_writer(plan, step->before)) && step->held.rows == 0)
            take_none(step); /* nothing is won by it */
        else if (plan_takes_rows(step))
            hold_scratch(plan, step);
    }
    group_steps(plan);
}
