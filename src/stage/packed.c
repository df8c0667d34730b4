#include "stage/packed.h"

bool packed_suits(const struct device_profile *profile, const struct plane *in,
                  const struct plane *out, const struct packed_reach *reach)
{
    return profile->packs_bytes && !profile->generic && sample_size(in->type) == 1 &&
           sample_size(out->type) == 1 && in->channels == 1 && in->width == out->width &&
           in->height == out->height && pass_form_for(profile, in, out) == FORM_VECTOR &&
           reach->left <= 8 && reach->right <= 8;
}

struct pass *packed_begin(struct stage_plan *plan, const char *variant, const struct plane *in,
                          const struct packed_reach *reach, unsigned words)
{
    unsigned lines = PACKED_ROWS + reach->top + reach->bottom;
    struct pass *pass = pass_begin(plan, "packed", variant, FORM_VECTOR, 4 * words, in->width,
                                   (in->height + PACKED_ROWS - 1) / PACKED_ROWS);
    pass_define(pass, "WORDS", "%u", words);
    pass_define(pass, "SIDE", "%d", reach->left > 4 || reach->right > 4 ? 2 : 1);
    pass_define(pass, "ROWS", "%d", PACKED_ROWS);
    pass_define(pass, "LINES", "%u", lines);
    pass_define(pass, "EACH_LINE", "EACH_%u", lines);
    pass_define(pass, "TOP", "%u", reach->top);
    return pass;
}

const char *packed_word(int place)
{
    static const char *const names[] = {"AT_m2", "AT_m1", "AT_0", "AT_1", "AT_2"};
    return names[place + 2];
}

void packed_lane(int offset, bool odd, const char **vector, const char **words)
{
    int sample = offset + odd + 16; /* from the first of four words before the result's */
    int lane = sample / 2 - 8, is_odd = sample % 2;
    int word = (lane + 8) / 2 - 4, half = (lane + 8) % 2;
    static const char *const vectors[] = {"e", "o", "p", "q"};
    *vector = vectors[2 * half + is_odd];
    *words = packed_word(word);
}
