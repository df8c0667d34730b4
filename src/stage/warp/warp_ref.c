/* warp, and rotate by angles, by their definition: a pixel at a time, from all that take part. */
#include <math.h>
#include <stdlib.h>

#include "stage/move/move.h"
#include "stage/warp/warp.h"

struct around {
    const struct picture *in;
    size_t plane;
    const struct warp_look *look;
    double background[PLANE_CHANNELS_MAX];
};

static double sample(const struct around *a, int64_t x, int64_t y, uint32_t c)
{
    const struct plane *plane = &a->in->frame.planes[a->plane];
    bool inside = x >= 0 && y >= 0 && x < plane->width && y < plane->height;
    if (inside || a->look->border != MOVE_BACKGROUND)
        return picture_sample(a->in, a->plane, x, y, c, (enum border)a->look->border);
    return a->background[c];
}

/* Weights of the 2 or 4 pixels in a direction: in 2^-8ths, or the cubic's in 2^-14ths, where
 * the second is what is left of 2^14. For f32 they are not rounded, but 2^-26ths. */
static int weights(const struct warp_look *look, int f, int64_t fixed[4], double real[4])
{
    if (look->filter == WARP_BILINEAR) {
        fixed[0] = 256 - f;
        fixed[1] = f;
        real[0] = (double)fixed[0];
        real[1] = (double)fixed[1];
        return 2;
    }
    int64_t n = f,
            parts[4] = {-3 * (n * n * n - 512 * n * n + 65536 * n),
                        5 * n * n * n - 2304 * n * n + 67108864,
                        -5 * n * n * n + 1536 * n * n + 196608 * n, 3 * (n * n * n - 256 * n * n)};
    for (int k = 0; k < 4; k++) {
        fixed[k] = (parts[k] + 2048) >> 12;
        real[k] = (double)parts[k];
    }
    fixed[1] = 16384 - fixed[0] - fixed[2] - fixed[3];
    return 4;
}

static void pixel(const struct around *a, int32_t u, int32_t v, double out[])
{
    const struct plane *plane = &a->in->frame.planes[a->plane];
    bool whole = sample_is_integer(plane->type), bytes = plane->type == SAMPLE_U8;
    int64_t fx[4], fy[4], most = whole ? (int64_t)sample_max(plane->type) : 0;
    double rx[4], ry[4];
    int n = weights(a->look, u & 255, fx, rx);
    double one = n == 2 ? 256 : 67108864;
    weights(a->look, v & 255, fy, ry);
    int64_t x = (u >> 8) - (n / 2 - 1), y = (v >> 8) - (n / 2 - 1);
    uint32_t last = plane->channels - 1;
    bool even = true;
    for (int k = 1; k < n * n && plane_has_alpha(plane); k++)
        even &= sample(a, x + k % n, y + k / n, last) == sample(a, x, y, last);
    int middle = n == 2 ? 0 : bytes ? 8 : 14, end = n == 2 ? 16 : bytes ? 20 : 14;
    for (uint32_t c = 0; c <= last; c++) {
        bool weighted = !even && c < last;
        int64_t sum = (int64_t)1 << (end - 1), share = 0;
        double real = 0;
        float sum_f = 0, share_f = 0; /* in the order of rows, each operation rounded */
        for (int j = 0; j < n; j++) {
            int64_t row = middle ? 1 << (middle - 1) : 0;
            for (int i = 0; i < n; i++) {
                double s = sample(a, x + i, y + j, c);
                double alpha = weighted ? sample(a, x + i, y + j, last) : 1;
                row += whole ? fx[i] * (int64_t)s : 0;
                real += ry[j] * rx[i] * s / (one * one);
                float w = (float)ry[j] * (float)rx[i] * (float)alpha;
                sum_f += w * (float)s;
                share_f += w;
                if (weighted && whole) {
                    share += fy[j] * fx[i] * (int64_t)alpha;
                    if (i + j == 0)
                        sum = 0;
                    sum += fy[j] * fx[i] * (int64_t)alpha * (int64_t)s;
                }
            }
            if (!weighted)
                sum += fy[j] * (row >> middle);
        }
        if (!whole) {
            out[c] = !weighted ? real : share_f > 0 ? sum_f / share_f : 0;
            continue;
        }
        if (weighted)
            sum = share <= 0 || sum <= 0 ? 0 : (sum + share / 2) / share;
        else
            sum >>= end;
        out[c] = (double)(sum < 0 ? 0 : sum > most ? most : sum);
    }
}

int warp_reference(const void *config, const struct picture *in, struct picture *out,
                   struct fault *fault)
{
    const struct warp_look *look = config;
    const struct warp_stage *stage = warp_stage_of(config);
    for (size_t i = 0; i < in->frame.n_planes; i++) {
        const struct plane *from = &in->frame.planes[i], *to = &out->frame.planes[i];
        struct around around = {.in = in, .plane = i, .look = look};
        struct warp_map map;
        struct warp_grid grid;
        uint32_t width, height;
        stage->find(config, from, &map, &width, &height, NULL);
        stage_background(stage->name, &look->background, from, around.background, NULL);
        size_t n = warp_grid_choose(&grid, &map, width, height, from->width, from->height);
        grid.nodes = malloc(n * sizeof *grid.nodes);
        if (!grid.nodes)
            return fault_set(fault, FAULT_MEMORY, "no memory for nodes");
        warp_grid_fill(&grid, &map);
        double samples[PLANE_CHANNELS_MAX] = {0};
        for (struct sample_at s = {0}; plane_each(to, &s);) {
            int32_t u, v;
            warp_grid_place(&grid, s.x, s.y, &u, &v);
            if (s.c == 0)
                pixel(&around, u, v, samples);
            picture_set(out, i, &s, samples[s.c]);
        }
        free(grid.nodes);
    }
    return 0;
}

/* By quarters pixels are moved only. */
static void turned(const void *config_, const struct plane *in, uint32_t *x, uint32_t *y)
{
    const struct rotate_config *config = config_;
    const int quarters = config->quarters;
    const uint32_t right = *x, down = *y;
    *x = quarters == 0   ? right
         : quarters == 1 ? down
                         : in->width - 1 - (quarters == 3 ? down : right);
    *y = quarters == 0   ? down
         : quarters == 3 ? right
                         : in->height - 1 - (quarters == 1 ? right : down);
}

int rotate_reference(const void *config_, const struct picture *in, struct picture *out,
                     struct fault *fault)
{
    const struct rotate_config *config = config_;
    if (config->quarters < 0 || (config->same && config->quarters % 2))
        return warp_reference(config, in, out, fault);
    return move_pixels(config, in, out, turned);
}
