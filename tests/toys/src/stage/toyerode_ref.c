/* toyerode by its definition: the least of nine samples of one channel. */
#include <math.h>

#include "stage/toyerode.h"

int toyerode_reference(const void *config_, const struct picture *in, struct picture *out,
                       struct fault *fault)
{
    const struct toyerode_config *config = config_;
    for (size_t p = 0; p < in->frame.n_planes; p++)
        for (struct sample_at s = {0}; plane_each(&in->frame.planes[p], &s);) {
            double least = INFINITY;
            for (int k = 0; k < 9; k++)
                least = fmin(least, picture_sample(in, p, (int64_t)s.x + k % 3 - 1,
                                                   (int64_t)s.y + k / 3 - 1, s.c,
                                                   (enum border)config->border));
            picture_set(out, p, &s, least);
        }
    return 0;
}
