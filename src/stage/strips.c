#include "stage/strips.h"

#include "stage/common.h"

#define WIDTH_STEP 192 /* whole pixels of 1 to 4 channels, and whole vectors */
#define WIDTH_MAX  16128
#define VECTOR_MAX 64 /* samples that a kernel may look at behind the last one that it needs */

struct strips strips_cut(const struct device_profile *profile, const struct plane *out,
                         const struct strips_need *need)
{
    uint32_t samples = out->width * out->channels;
    uint32_t most = (uint32_t)(need->cache / need->bytes) / WIDTH_STEP * WIDTH_STEP;
    most = most < 2 * WIDTH_STEP ? 2 * WIDTH_STEP : most > WIDTH_MAX ? WIDTH_MAX : most;
    struct strips strips = {.count = (samples + most - 1) / most};
    strips.width = (samples + strips.count - 1) / strips.count;
    strips.width = (strips.width + WIDTH_STEP - 1) / WIDTH_STEP * WIDTH_STEP;
    strips.count = (samples + strips.width - 1) / strips.width;
    strips.bands =
        bands_cut(profile, out, strips.count, need->work * strips.width, need->start_rows);
    return strips;
}

uint32_t strips_line(const struct strips *strips, const struct stage_window *window,
                     uint32_t channels)
{
    uint32_t seen = (window->left + window->right + 1) * channels;
    return (strips->width + seen + VECTOR_MAX + 63) / 64 * 64;
}

struct pass *strips_begin(struct stage_plan *plan, const char *source, const char *variant,
                          const struct strips *strips, const struct view *in,
                          const struct view *out, const struct stage_window *window,
                          struct scratch *scratch, uint64_t item_bytes)
{
    bool crop = window->border == BORDER_CROP;
    item_bytes = (item_bytes + 127) / 128 * 128;
    stage_plan_memory(plan, scratch, item_bytes * strips->count * strips->bands.count);
    struct pass *pass =
        pass_begin(plan, source, variant, FORM_ROWS, 1, strips->count, strips->bands.count);
    pass_define_type(pass, "SRC", in->plane.type);
    pass_views(pass, in, out);
    pass_buffer(pass, scratch->operand);
    pass_ints(pass, item_bytes / 128, strips->width,
              strips_line(strips, window, in->plane.channels), strips->bands.rows,
              in->plane.channels, in->plane.width, in->plane.height,
              out->plane.width * out->plane.channels, out->plane.height, window->left,
              window->right, window->top, window->bottom, stage_border(window->border),
              crop ? (int32_t)window->left : 0, crop ? (int32_t)window->top : 0);
    stage_set_rows(pass, strips->bands.rows, window, item_bytes * strips->count);
    return pass;
}
