#include "stage/strips.h"

#include <limits.h>

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

    /* A few items for each core, but no more bands than a tenth of work done twice allows, and none
     * so long that a launch takes too long. */
    uint32_t least = (profile->units + strips.count - 1) / strips.count;
    uint32_t bands = (4 * profile->units + strips.count - 1) / strips.count;
    double largest = LAUNCH_SECONDS_MAX * profile->work_per_second / profile->units /
                     (need->work * strips.width);
    while (bands > least && out->height < 10 * need->start_rows * bands)
        bands--;
    if (bands > (out->height + 15) / 16)
        bands = (out->height + 15) / 16;
    strips.band = (out->height + bands - 1) / bands;
    if (strips.band > largest)
        strips.band = largest < 1 ? 1 : (uint32_t)largest;
    strips.bands = (out->height + strips.band - 1) / strips.band;
    return strips;
}

uint32_t strips_line(const struct strips *strips, const struct strips_window *window,
                     uint32_t channels)
{
    uint32_t seen = (window->left + window->right + 1) * channels;
    return (strips->width + seen + VECTOR_MAX + 63) / 64 * 64;
}

int strips_border(enum border border)
{
    return border == BORDER_CROP ? BORDER_EDGE : (int)border;
}

struct pass *strips_begin(struct stage_plan *plan, const char *source, const char *variant,
                          const struct strips *strips, const struct strips_view *in,
                          const struct strips_view *out, const struct strips_window *window,
                          unsigned *scratch, uint64_t item_bytes)
{
    bool crop = window->border == BORDER_CROP;
    item_bytes = (item_bytes + 127) / 128 * 128;
    stage_plan_memory(plan, scratch, item_bytes * strips->count * strips->bands);
    struct pass *pass =
        pass_begin(plan, source, variant, FORM_ROWS, 1, strips->count, strips->bands);
    pass_define_type(pass, "SRC", in->plane.type);
    pass->bytes_read = plane_bytes(&in->plane);
    pass->bytes_written = plane_bytes(&out->plane);
    pass_plane_at(pass, in->operand, &in->plane);
    pass_plane_at(pass, out->operand, &out->plane);
    pass_buffer(pass, *scratch);
    pass_ints(pass, item_bytes / 128, strips->width,
              strips_line(strips, window, in->plane.channels), strips->band, in->plane.channels,
              in->plane.width, in->plane.height, out->plane.width * out->plane.channels,
              out->plane.height, window->left, window->right, window->top, window->bottom,
              strips_border(window->border), crop ? (int32_t)window->left : 0,
              crop ? (int32_t)window->top : 0);
    return pass;
}

bool strips_scratch(struct stage_plan *plan, unsigned *memory, const struct plane *shape,
                    struct strips_view *view)
{
    struct frame frame = {0};
    *view = (struct strips_view){.plane = *shape};
    if (frame_add_plane(&frame, shape, FRAME_ALIGNMENT)) {
        view->plane = frame.planes[0];
        stage_plan_memory(plan, memory, frame.size);
    } else {
        plan->out_of_memory = true;
    }
    bool fits = frame.size / sample_size(shape->type) <= INT_MAX;
    frame_finish(&frame);
    view->operand = *memory;
    return fits;
}
