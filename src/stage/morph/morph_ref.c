/* Erosion and dilation by their definition: each sample from all of its window. */
#include "stage/common.h"
#include "stage/morph/morph.h"

static void compute_plane(const struct morph_config *config, enum morph_kind kind,
                          const struct picture *in, size_t i, struct picture *out)
{
    const struct plane *to = &out->frame.planes[i];
    bool crop = config->border == BORDER_CROP;
    enum border border = crop ? BORDER_EDGE : (enum border)config->border;
    int64_t w = config->width, h = config->height;
    /* The first pixel of the window that belongs to (0, 0), and the source's pixel that does. */
    int64_t left = kind == MORPH_LEAST ? w / 2 : w - 1 - w / 2;
    int64_t top = kind == MORPH_LEAST ? h / 2 : h - 1 - h / 2;
    int64_t shift_x = crop ? left : 0, shift_y = crop ? top : 0;
    for (struct sample_at s = {0}; plane_each(to, &s);) {
        int64_t px = s.x + shift_x, py = s.y + shift_y;
        double best = picture_sample(in, i, px, py, s.c, border);
        for (int64_t j = 0; j < h && !s.alpha; j++)
            for (int64_t k = 0; k < w; k++) {
                double v = picture_sample(in, i, px - left + k, py - top + j, s.c, border);
                if (kind == MORPH_LEAST ? v < best : v > best)
                    best = v;
            }
        picture_set(out, i, &s, best);
    }
}

int morph_reference(const void *config_, const struct picture *in, struct picture *out,
                    struct fault *fault)
{
    const struct morph_config *config = config_;
    enum morph_kind kind = (enum morph_kind)(config->stage % 2);
    bool twice = config->stage >= MORPH_OPEN;
    struct picture half = {0};
    struct frame frame = {0};
    int result = 0;
    if (twice) {
        for (size_t i = 0; i < in->frame.n_planes && result == 0; i++) {
            struct plane plane = in->frame.planes[i];
            stage_window_size("", (enum border)config->border, (uint32_t)config->width,
                              (uint32_t)config->height, &plane, NULL);
            result = stage_add_plane(&frame, &plane, FRAME_ALIGNMENT, fault);
        }
        if (result == 0 && !picture_create(&half, &frame))
            result = fault_set(fault, FAULT_MEMORY, "no memory for a picture");
        frame_finish(&frame);
    }
    const struct picture *from = twice ? &half : in;
    for (size_t i = 0; i < in->frame.n_planes && result == 0; i++) {
        if (twice)
            compute_plane(config, kind, in, i, &half);
        compute_plane(config, twice ? !kind : kind, from, i, out);
    }
    if (twice)
        picture_destroy(&half);
    return result;
}
