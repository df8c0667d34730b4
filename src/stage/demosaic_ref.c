/* demosaic by its definition: a window of 5 by 5 for each colour that a pixel lacks, in 16ths. */
#include "stage/common.h"
#include "stage/demosaic.h"

enum {
    CROSS,
    ALONG,
    ACROSS,
    DIAGONAL
};

/* Malvar, He, Cutler: High-quality linear interpolation for demosaicing of Bayer-patterned color
 * images (ICASSP 2004), figure 2, whose eighths are doubled. */
static const int windows[2][4][5][5] = {
    [DEMOSAIC_MHC] = {[CROSS] = {{0, 0, -2, 0, 0},
                                 {0, 0, 4, 0, 0},
                                 {-2, 4, 8, 4, -2},
                                 {0, 0, 4, 0, 0},
                                 {0, 0, -2, 0, 0}},
                      [ALONG] = {{0, 0, 1, 0, 0},
                                 {0, -2, 0, -2, 0},
                                 {-2, 8, 10, 8, -2},
                                 {0, -2, 0, -2, 0},
                                 {0, 0, 1, 0, 0}},
                      [ACROSS] = {{0, 0, -2, 0, 0},
                                  {0, -2, 8, -2, 0},
                                  {1, 0, 10, 0, 1},
                                  {0, -2, 8, -2, 0},
                                  {0, 0, -2, 0, 0}},
                      [DIAGONAL] = {{0, 0, -3, 0, 0},
                                    {0, 4, 0, 4, 0},
                                    {-3, 0, 12, 0, -3},
                                    {0, 4, 0, 4, 0},
                                    {0, 0, -3, 0, 0}}},
    [DEMOSAIC_BILINEAR] = {[CROSS] = {{0}, {0, 0, 4, 0, 0}, {0, 4, 0, 4, 0}, {0, 0, 4, 0, 0}, {0}},
                           [ALONG] = {{0}, {0}, {0, 8, 0, 8, 0}, {0}, {0}},
                           [ACROSS] = {{0}, {0, 0, 8, 0, 0}, {0}, {0, 0, 8, 0, 0}, {0}},
                           [DIAGONAL] = {{0}, {0, 4, 0, 4, 0}, {0}, {0, 4, 0, 4, 0}, {0}}},
};

int demosaic_reference(const void *config_, const struct picture *in, struct picture *out,
                       struct fault *fault)
{
    const struct demosaic_config *config = config_;
    for (size_t i = 0; i < out->frame.n_planes; i++) {
        const struct plane *plane = &out->frame.planes[i];
        double most = sample_max(plane->type);
        for (struct sample_at s = {0}; plane_each(plane, &s);) {
            /* in a square of four: red 0 0, blue 1 1 */
            int column = (int)(s.x & 1) ^ (config->pattern & 1);
            int row = (int)(s.y & 1) ^ config->pattern >> 1;
            uint32_t here = column != row ? 1 : 2 * (uint32_t)column; /* the pixel's own colour */
            int which = s.c == 1                   ? CROSS
                        : here != 1                ? DIAGONAL
                        : (s.c == 0) == (row == 0) ? ALONG
                                                   : ACROSS;
            int64_t sum = 8;
            for (int j = -2; j <= 2; j++)
                for (int k = -2; k <= 2; k++)
                    sum += windows[config->method][which][j + 2][k + 2] *
                           (int64_t)picture_sample(in, i, (int64_t)s.x + k, (int64_t)s.y + j, 0,
                                                   BORDER_REFLECT);
            double v = s.c == here ? picture_sample(in, i, s.x, s.y, 0, BORDER_REFLECT)
                                   : (double)(sum >> 4);
            picture_set(out, i, &s, v < 0 ? 0 : v > most ? most : v);
        }
    }
    return 0;
}
