/* box of 8-bit samples and small windows: two samples in a word (cl/box/box_packed.cl), or, where
 * registers are few, as a fir with coefficients of 1 (cl/fir/fir_columns.cl). */
#include <math.h>

#include "base/text.h"
#include "stage/box/box_internal.h"
#include "stage/packed.h"

enum {
    HEIGHT_MAX = 9 /* more lines do not fit into registers */
};

static void add_term(struct text *text, const char *vector, const char *word)
{
    text_printf(text, "%s%s(%s)", text_string(text)[0] ? " + " : "", word, vector);
}

/* Adds the sum of samples first…last, counted from a pair's first sample, in the parts of
 * cl/packed.cl: a single o, pairs (t, or th if they begin in a word's upper lane), two pairs from a
 * lower lane on (s), and a single e. */
static void add_window(struct pass *pass, const char *name, int first, int last)
{
    struct text sum = {0};
    const char *vector, *words;
    int at = first;
    for (; at <= last; at++) {
        bool pair = at % 2 == 0 && at < last;
        int lane = (at + 16) / 2 - 8, word = (lane + 8) / 2 - 4;
        if (!pair) {
            packed_lane(at, false, &vector, &words);
            add_term(&sum, vector, words);
        } else if (lane % 2 == 0 && at + 3 <= last) {
            add_term(&sum, "s", packed_word(word));
            at += 3;
        } else {
            add_term(&sum, lane % 2 == 0 ? "t" : "th", packed_word(word));
            at++;
        }
    }
    pass_define(pass, name, "(%s)", text_string(&sum));
    text_finish(&sum);
}

static void add_planes(struct pass *pass, const struct box_task *task)
{
    const struct plane *in = &task->in.plane;
    pass_views(pass, &task->in, &task->out);
    pass_ints(pass, in->width, in->height, stage_border(task->border));
}

/* As a fir. With an even area there are ties, which are rounded up by a reciprocal that is a little
 * too large. */
bool box_suits_fir(const struct box_task *task)
{
    const struct stage_window window = box_reach_of(task);
    bool ties = task->width * task->height % 2 == 0;
    return task->plan->profile->takes_columns && task->border != BORDER_CROP && task->height <= 7 &&
           !(ties && sample_min(task->in.plane.type) < 0) &&
           packed_suits(task->plan->profile, &task->in.plane, &task->out.plane, &window);
}

void box_add_fir(const struct box_task *task)
{
    const struct plane *in = &task->in.plane, *out = &task->out.plane;
    const struct stage_window reach = box_reach_of(task), *window = &reach;
    uint32_t area = task->width * task->height;
    struct text across = {0}, downs = {0};
    struct pass *pass = packed_begin(task->plan, &fir_packed_stage, in, window, 1);
    pass_name(pass, "box");
    packed_outputs(pass, 1);
    pass_define_type(pass, "DST", out->type);
    for (int i = -(int)window->left; i <= (int)window->right; i++)
        packed_add_tap(&across, task->plan->profile, in->channels, 0, i, 1);
    for (unsigned j = 0; j < task->height; j++)
        text_printf(&downs, " D(%u,1)", j);
    pass_define(pass, "ACROSS", "%s", text_string(&across));
    pass_define(pass, "DOWNS", "%s", text_string(&downs));
    text_finish(&across);
    text_finish(&downs);
    pass_define(pass, "LAST", "%u", (unsigned)task->height - 1);
    pass_define(pass, "START", "0");
    pass_define(pass, "RECIPROCAL", "%af",
                (double)nextafterf((float)(1.0 / area), area % 2 ? 0 : INFINITY));
    pass->work *= 4.0 + 2.0 * (task->width + task->height);
    add_planes(pass, task);
}

bool box_suits_packed(const struct box_task *task)
{
    const struct stage_window window = box_reach_of(task);
    uint32_t area = task->width * task->height, multiplier;
    return task->plan->profile->packs_bytes && task->border != BORDER_CROP &&
           task->height <= HEIGHT_MAX && area * 255 + area / 2 <= 65535 &&
           box_divide_by_byte(area, &multiplier) &&
           packed_suits(task->plan->profile, &task->in.plane, &task->out.plane, &window);
}

void box_add_packed(const struct box_task *task)
{
    const struct plane *in = &task->in.plane;
    const struct stage_window window = box_reach_of(task);
    uint32_t area = task->width * task->height, multiplier = 0;
    box_divide_by_byte(area, &multiplier);
    static const struct packed_stage stage = {"box", "box_packed", NULL};
    struct pass *pass = packed_begin(task->plan, &stage, in, &window, task->height > 3 ? 2 : 4);
    pass_define_type(pass, "DST", in->type);
    packed_outputs(pass, 1);
    pass_define(pass, "FLIP", "%d", box_lowest(in->type) > 0);
    pass_define(pass, "MULTIPLIER", "%uu", multiplier);
    pass_define(pass, "START", "%uu", area / 2);
    pass_define(pass, "WINDOW", "%u", (unsigned)task->height);
    add_window(pass, "WINDOW_0", -(int)window.left, (int)window.right);
    add_window(pass, "WINDOW_1", 1 - (int)window.left, 1 + (int)window.right);
    pass->work = 8.0 * (PACKED_ROWS + task->height);
    add_planes(pass, task);
}
