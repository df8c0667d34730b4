#include "stage/packed.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

/* Rows that a work-item of cl/columns.cl computes: it loads 10 for 8. */
enum {
    COLUMNS_ROWS = 8
};

bool packed_suits(const struct device_profile *profile, const struct plane *in,
                  const struct plane *out, const struct stage_window *window)
{
    unsigned beside = window->left > window->right ? window->left : window->right;
    bool narrow = profile->packs_bytes ? in->channels == 1 && beside <= 8
                                       : profile->takes_columns && !plane_has_alpha(in) &&
                                             beside * in->channels <= 4;
    bool floats = out->type == SAMPLE_F32 && !profile->packs_bytes;
    return narrow && !profile->generic && sample_size(in->type) == 1 &&
           (sample_size(out->type) == 1 || floats) && in->channels == out->channels &&
           in->width == out->width && in->height == out->height &&
           pass_form_for(profile, in, out) == FORM_VECTOR;
}

struct plane packed_samples(const struct plane *plane)
{
    struct plane samples = *plane;
    samples.width *= samples.channels;
    samples.channels = 1;
    return samples;
}

static void set_rows(struct pass *pass, uint32_t rows, const struct stage_window *window)
{
    pass_set_rows(pass, rows, (int32_t)window->top, (int32_t)window->bottom, window->border, 0);
}

static struct pass *begin_columns(struct stage_plan *plan, const struct packed_stage *stage,
                                  const struct plane *in, const struct stage_window *window)
{
    struct pass *pass =
        pass_begin(plan, stage->columns, "", FORM_VECTOR, 4, in->width * in->channels,
                   (in->height + COLUMNS_ROWS - 1) / COLUMNS_ROWS);
    snprintf(pass->name, sizeof pass->name, "columns_%s", stage->name);
    pass_define_type(pass, "SRC", in->type);
    pass_channels(pass, in->channels, in->channels);
    pass_define(pass, "ROWS", "%d", COLUMNS_ROWS);
    pass_define(pass, "TOP", "%u", window->top);
    pass_define(pass, "BOTTOM", "%u", window->bottom);
    pass->work = COLUMNS_ROWS;
    pass->takes_colours = in->type == SAMPLE_U8 && in->channels == 1 && window->left <= 2 &&
                          window->right <= 2;
    set_rows(pass, COLUMNS_ROWS, window);
    return pass;
}

struct pass *packed_begin(struct stage_plan *plan, const struct packed_stage *stage,
                          const struct plane *in, const struct stage_window *window, unsigned words)
{
    if (!plan->profile->packs_bytes)
        return begin_columns(plan, stage, in, window);
    struct pass *pass = pass_begin(plan, stage->words, "", FORM_VECTOR, 4 * words, in->width,
                                   (in->height + PACKED_ROWS - 1) / PACKED_ROWS);
    snprintf(pass->name, sizeof pass->name, "packed_%s", stage->name);
    pass_define(pass, "WORDS", "%u", words);
    pass_define(pass, "SIDE", "%d", window->left > 4 || window->right > 4 ? 2 : 1);
    pass_define(pass, "ROWS", "%d", PACKED_ROWS);
    pass_define(pass, "LINES", "%u", PACKED_ROWS + window->top + window->bottom);
    pass_define(pass, "TOP", "%u", window->top);
    pass->work = PACKED_ROWS;
    set_rows(pass, PACKED_ROWS, window);
    return pass;
}

void packed_outputs(struct pass *pass, unsigned planes)
{
    pass_define(pass, "PLANES", "%u", planes);
    pass_define(pass, "OUTPUTS", "PLANE_OUT(OUT, dst)%s",
                planes == 2 ? ", PLANE_OUT(DST, dst2)" : "");
    pass_define(pass, "LAST_OUTPUT(y)", "ROW(%s, y)", planes == 2 ? "dst2" : "dst");
}

const char *packed_word(int place)
{
    static const char *const names[] = {"AT_m2", "AT_m1", "AT_0", "AT_1", "AT_2"};
    return names[place + 2];
}

void packed_lane(int offset, bool odd, const char **vector, const char **words)
{
    int sample = offset + odd + 16; /* from the first of four words in front of the result's */
    int lane = sample / 2 - 8, is_odd = sample % 2;
    int word = (lane + 8) / 2 - 4, half = (lane + 8) % 2;
    static const char *const vectors[] = {"e", "o", "p", "q"};
    *vector = vectors[2 * half + is_odd];
    *words = packed_word(word);
}

void packed_add_tap(struct text *text, const struct device_profile *profile, unsigned channels,
                    unsigned row, int offset, int64_t k)
{
    const char *even, *even_words, *odd, *odd_words;
    if (k == 0)
        return;
    if (!profile->packs_bytes) {
        int at = offset * (int)channels;
        text_printf(text, " T(%u,AT_%s%d,%" PRId64 ")", row, at < 0 ? "m" : "", abs(at), k);
        return;
    }
    packed_lane(offset, false, &even, &even_words);
    packed_lane(offset, true, &odd, &odd_words);
    text_printf(text, " T(%u,%s,%s,%s,%s,%" PRId64 ")", row, even, even_words, odd, odd_words, k);
}
