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

static double at(const struct stage_place *place, int right, int down)
{
    return picture_sample(place->in, place->plane, (int64_t)place->at.x + right,
                          (int64_t)place->at.y + down, 0, BORDER_REFLECT);
}

double demosaic_at(const void *config_, const struct stage_place *place)
{
    const struct demosaic_config *config = config_;
    /* in a square of four: red 0 0, blue 1 1 */
    int column = (int)(place->at.x & 1) ^ (config->pattern & 1);
    int row = (int)(place->at.y & 1) ^ config->pattern >> 1;
    uint32_t colour = place->at.c;
    uint32_t here = column != row ? 1 : 2 * (uint32_t)column; /* the pixel's own colour */
    int which = colour == 1                   ? CROSS
                : here != 1                   ? DIAGONAL
                : (colour == 0) == (row == 0) ? ALONG
                                              : ACROSS;
    int64_t sum = 8;
    for (int j = -2; j <= 2; j++)
        for (int k = -2; k <= 2; k++)
            sum += windows[config->method][which][j + 2][k + 2] * (int64_t)at(place, k, j);
    return colour == here ? at(place, 0, 0)
                          : (double)sample_saturate(place->to->type, (double)(sum >> 4));
}
