/* median by its definition: the window's samples in order, and the middle one of them. */
#include "stage/median.h"

#include <stdlib.h>

#include "stage/stage.h"

static int compare(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

int median_reference(const void *config_, const struct picture *in, struct picture *out,
                     struct fault *fault)
{
    const struct median_config *config = config_;
    enum border border = (enum border)config->border;
    int64_t r = config->radius, shift = border == BORDER_CROP ? r : 0;
    border = border == BORDER_CROP ? BORDER_EDGE : border;
    for (size_t i = 0; i < in->frame.n_planes; i++) {
        const struct plane *to = &out->frame.planes[i];
        for (uint32_t n = 0; n < to->height * to->width * to->channels; n++) {
            uint32_t c = n % to->channels, x = n / to->channels % to->width;
            uint32_t y = n / to->channels / to->width;
            double v[(2 * MEDIAN_RADIUS_MAX + 1) * (2 * MEDIAN_RADIUS_MAX + 1)];
            size_t count = 0;
            for (int64_t j = -r; j <= r; j++)
                for (int64_t k = -r; k <= r; k++)
                    v[count++] = picture_sample(in, i, x + shift + k, y + shift + j, c, border);
            qsort(v, count, sizeof *v, compare);
            double result = v[count / 2];
            if (plane_has_alpha(to) && c == to->channels - 1)
                result = picture_sample(in, i, x + shift, y + shift, c, border);
            uint8_t *row = picture_row(out, i, y);
            sample_store(to->type, row + (x * to->channels + c) * sample_size(to->type), result);
        }
    }
    return 0;
}
