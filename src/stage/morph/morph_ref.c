/* Erosion and dilation by their definition: each sample from all of its window. */
#include "stage/morph/morph.h"

static void compute_plane(const struct morph_config *config, const struct picture *in, size_t i,
                          struct picture *out)
{
    enum morph_kind kind = (enum morph_kind)config->stage;
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
    if (config->stage >= MORPH_OPEN) {
        struct morph_config first = *config, second = *config;
        struct picture half = {0};
        first.stage = config->stage % 2;
        second.stage = !first.stage;
        int result = stage_compute_new(&stage_erode, &first, in, &half, fault);
        if (result == 0)
            result = morph_reference(&second, &half, out, fault);
        picture_destroy(&half);
        return result;
    }
    for (size_t i = 0; i < in->frame.n_planes; i++)
        compute_plane(config, in, i, out);
    return 0;
}
