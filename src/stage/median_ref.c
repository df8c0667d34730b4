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
        for (struct sample_at s = {0}; plane_each(to, &s);) {
            double v[(2 * MEDIAN_RADIUS_MAX + 1) * (2 * MEDIAN_RADIUS_MAX + 1)];
            size_t count = 0;
            for (int64_t j = -r; j <= r; j++)
                for (int64_t k = -r; k <= r; k++)
                    v[count++] =
                        picture_sample(in, i, s.x + shift + k, s.y + shift + j, s.c, border);
            qsort(v, count, sizeof *v, compare);
            double own = picture_sample(in, i, s.x + shift, s.y + shift, s.c, border);
            picture_set(out, i, &s, s.alpha ? own : v[count / 2]);
        }
    }
    return 0;
}
