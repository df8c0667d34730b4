#include "vectors.h"

#include <stdio.h>

static void draw(const struct vector *v, double *at)
{
    for (unsigned y = 0; y < v->height; y++)
        for (unsigned x = 0; x < v->width; x++)
            for (unsigned c = 0; c < v->channels; c++)
                *at++ =
                    (int)((37 * x + 91 * y + 13 * x * y + 57 * c) % v->modulus * v->gain % 65536) +
                    v->offset;
}

void vectors_check(const char *stage, const struct vector *vectors, size_t n)
{
    static double in[24 * 18];
    for (const struct vector *v = vectors; v < vectors + n; v++) {
        char chain[200];
        assert_true((size_t)v->width * v->height * v->channels <= sizeof in / sizeof *in);
        snprintf(chain, sizeof chain, "%s:%s", stage, v->arguments);
        draw(v, in);
        harness_vector(chain, v->type, v->width, v->height, v->channels, in, v->type, v->out_width,
                       v->out_height, v->channels, v->expected, v->type == SAMPLE_F32 ? 1e-3 : 0);
    }
}
