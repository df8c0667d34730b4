/* Erosion and dilation of bytes on GPUs, which compare four of them at a time (cl/bytes.cl):
 * windows of up to 9 rows in one kernel (cl/packed.cl), larger ones as far as that reaches, and
 * from there by steps (cl/morph/morph_far.cl). */
#include <stdio.h>

#include "base/text.h"
#include "stage/morph/morph_internal.h"
#include "stage/packed.h"

/* Adds the words `offset` bytes behind those of t that begin with `word`, a name for each word. */
static void add_words(struct text *text, const char *(*word)(int), int offset)
{
    int at = offset < 0 ? -((3 - offset) / 4) : offset / 4, rest = offset - 4 * at;
    if (rest == 0)
        text_printf(text, "%s(t)", word(at));
    else
        text_printf(text, "BEHIND(%s(t),%s(t),%d)", word(at), word(at + 1), 8 * rest);
}

static const char *word_from(int place)
{
    static const char *const names[] = {"FROM_0", "FROM_1", "FROM_2"};
    return names[place];
}

/* Along rows: t becomes the best of 1, 2, 4 … pixels from each on, and two of such make a window.
 */
static void define_across(struct pass *pass, const struct packed_reach *reach, int channels)
{
    struct text across = {0}, result = {0};
    int left = (int)reach->left, right = (int)reach->right;
    int seen = channels, window = left + right + channels;
    for (; 2 * seen <= window; seen *= 2) {
        text_append(&across, "t=BETTER_8(t,");
        add_words(&across, word_from, seen);
        text_append(&across, ");");
    }
    if (seen < window) {
        text_append(&result, "BETTER_OWN(");
        add_words(&result, packed_word, right + channels - seen);
        text_append(&result, ",");
    }
    add_words(&result, packed_word, -left);
    text_append(&result, seen < window ? ")" : "");
    pass_define(pass, "ACROSS", "%s", text_string(&across));
    pass_define(pass, "RESULT", "%s", text_string(&result));
    text_finish(&across);
    text_finish(&result);
}

/* Down columns: a0 … are the best of a line and those behind it in the first row's window, b3 … of
 * the lines behind that window and in front of this one. */
static void define_down(struct pass *pass, unsigned rows)
{
    struct text downs = {0};
    text_printf(&downs, "uint8 a%x=w%x;", rows - 1, rows - 1);
    for (unsigned i = rows - 1; i-- > 0;)
        text_printf(&downs, "uint8 a%x=BETTER_8(w%x,a%x);", i, i, i + 1);
    for (unsigned i = rows; i < rows + PACKED_ROWS - 1; i++)
        if (i % rows == 0)
            text_printf(&downs, "uint8 b%x=w%x;", i, i);
        else
            text_printf(&downs, "uint8 b%x=BETTER_8(b%x,w%x);", i, i - 1, i);
    for (unsigned i = 0; i < PACKED_ROWS; i++)
        if (i % rows == 0)
            text_printf(&downs, "uint8 r%u=%c%x;", i, i == 0 ? 'a' : 'b',
                        i == 0 ? 0 : i + rows - 1);
        else if (i < rows)
            text_printf(&downs, "uint8 r%u=BETTER_8(a%x,b%x);", i, i, i + rows - 1);
        else
            text_printf(&downs, "uint8 r%u=BETTER_8(w%x,b%x);", i, i, i + rows - 1);
    pass_define(pass, "DOWNS", "%s", text_string(&downs));
    text_finish(&downs);
}

/* A plane whose pixels are single samples. */
static struct plane of_samples(const struct plane *plane)
{
    struct plane samples = *plane;
    samples.width *= samples.channels;
    samples.channels = 1;
    return samples;
}

static void add_near(struct morph_task *task, const struct strips_view *out,
                     const struct packed_reach *reach)
{
    const struct plane *in = &task->in.plane;
    struct plane samples = of_samples(in);
    unsigned rows = reach->top + reach->bottom + 1;
    struct pass *pass = packed_begin(task->plan, "morph", &samples, reach, rows > 3 ? 2 : 4);
    pass_define(pass, "PIXEL_SOURCE", "bytes");
    pass_define_type(pass, "DST", in->type);
    pass_channels(pass, in->channels, in->channels);
    morph_describe(pass, task->kind);
    define_across(pass, reach, (int)in->channels);
    define_down(pass, rows);
    for (unsigned i = 0; i < PACKED_ROWS; i++) {
        char name[24];
        snprintf(name, sizeof name, "MIDDLE_%u", i);
        pass_define(pass, name, "%x", i + reach->top);
    }
    pass->goes_on = in->channels == 1 && out->operand == OPERAND_OUT;
    pass->work *= 8.0 + 2.0 * (rows + reach->left + reach->right);
    pass->bytes_read = pass->bytes_written = plane_bytes(in);
    pass_plane_at(pass, task->in.operand, in);
    pass_plane_at(pass, out->operand, &out->plane);
    pass_int(pass, (int32_t)samples.width);
    pass_int(pass, (int32_t)in->height);
    pass_int(pass, (int32_t)task->border);
}

/* A step of cl/morph/morph_far.cl: positions up to `distance` apart, from `before` in front of each
 * to `last` behind that. */
struct far {
    bool down;
    uint32_t distance, before, last;
};

static void add_far(struct morph_task *task, const struct far *far, const struct strips_view *in,
                    const struct strips_view *out, bool ends)
{
    const struct plane *plane = &in->plane;
    int32_t unit = far->down ? 1 : (int32_t)plane->channels;
    bool zeros_are_least = task->border == BORDER_ZERO && task->kind == MORPH_LARGEST;
    struct pass *pass =
        pass_begin(task->plan, "morph_far", far->down ? "down" : "across", FORM_SCALAR,
                   far->down ? 16 : 4, plane->width * plane->channels, plane->height);
    unsigned places = (far->last + far->distance - 1) / far->distance + 1;
    pass_define(pass, "PIXEL_SOURCE", "bytes");
    pass_define(pass, "PLACES", "%u", places);
    pass_channels(pass, plane->channels, plane->channels);
    morph_describe(pass, task->kind);
    pass->work = 3.0 * places;
    pass->bytes_read = pass->bytes_written = plane_bytes(plane);
    pass_plane_at(pass, in->operand, plane);
    pass_plane_at(pass, out->operand, &out->plane);
    pass_plane_at(pass, task->in.operand, &task->in.plane);
    pass_int(pass, (int32_t)(plane->width * plane->channels));
    pass_int(pass, (int32_t)plane->height);
    pass_int(pass, -(int32_t)far->before * unit);
    pass_int(pass, (int32_t)far->distance * unit);
    pass_int(pass, (int32_t)far->last * unit);
    pass_int(pass, zeros_are_least ? BORDER_EDGE : (int32_t)task->border);
    pass_int(pass, ends);
}

/* The steps from a window of `covered` to one that reaches so much further on both sides. */
static unsigned list_far(struct far *list, unsigned n, bool down, uint32_t before, uint32_t behind,
                         uint32_t covered)
{
    while (before + behind > 0) {
        struct far far = {down, covered, before, before + behind};
        if (far.last > 3 * covered) { /* as far to both sides: see morph_add_bytes */
            far.last = 3 * covered & ~1u;
            far.before = far.last / 2;
        }
        list[n++] = far;
        before -= far.before;
        behind -= far.last - far.before;
        covered += far.last;
    }
    return n;
}

static uint32_t least(uint32_t a, uint32_t b)
{
    return a < b ? a : b;
}

/* All planes between are as large as the source, and bordered as it is: the best of what windows
 * have found is then the best of the large one; with a mirror, where each window is as large to
 * both sides. Zeros, to dilate, are the least and tell nothing: there the position outside stands
 * for the nearest one inside, whose window is part of the large one. */
bool morph_add_bytes(struct morph_task *task)
{
    const struct plane *in = &task->in.plane, *out = &task->out.plane;
    struct strips_window w = morph_window(task);
    uint32_t side = 8 / in->channels, above = 4;
    struct strips_window near = {least(w.left, side), least(w.right, side), least(w.top, above),
                                 least(w.bottom, above), w.border};
    struct plane in_samples = of_samples(in), out_samples = of_samples(out);
    const struct packed_reach reach = {near.left * in->channels, near.right * in->channels,
                                       near.top, near.bottom};
    bool mirrored = w.border == BORDER_REFLECT || w.border == BORDER_SYMMETRIC;
    bool uneven = (w.left > side && w.left != w.right) || (w.top > above && w.top != w.bottom);
    if (!task->plan->profile->packs_bytes || w.border == BORDER_CROP || (mirrored && uneven) ||
        !packed_suits(task->plan->profile, &in_samples, &out_samples, &reach))
        return false;
    struct far list[2 * 8]; /* windows grow by a factor of nearly four */
    unsigned n = list_far(list, 0, false, w.left - near.left, w.right - near.right,
                          near.left + near.right + 1);
    n = list_far(list, n, true, w.top - near.top, w.bottom - near.bottom,
                 near.top + near.bottom + 1);
    struct strips_view from = task->in;
    for (unsigned i = 0; i <= n; i++) {
        struct strips_view to = task->out;
        if (i < n)
            task->too_large |= !strips_scratch(task->plan, &task->half[task->turn ^= 1], out, &to);
        if (i == 0)
            add_near(task, &to, &reach);
        else
            add_far(task, &list[i - 1], &from, &to, i == n);
        from = to;
    }
    return true;
}
