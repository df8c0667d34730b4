/* From the result to the picture: maps, and their nodes. */
#include "stage/warp/warp.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define SHIFT_MAX 4
#define NODES_MAX (1u << 22)
#define LOOKED_AT 32 /* cells each way at which a choice of the shift is looked at */
#define WRONG_MAX 2  /* 2^-8ths of a pixel by which a place may be wrong there */

/* Through a lens, by OpenCV's models ("Camera Calibration and 3D Reconstruction" and "Fisheye
 * camera model" in its documentation). */
static bool place_by_lens(const struct warp_lens *lens, double x, double y, double *u, double *v)
{
    const double *k = lens->k;
    x = (x - lens->cx) / (lens->fx * lens->zoom);
    y = (y - lens->cy) / (lens->fy * lens->zoom);
    double r2 = x * x + y * y, r4 = r2 * r2, r6 = r4 * r2;
    if (lens->fisheye) {
        double r = sqrt(r2), t = atan(r), t2 = t * t;
        double bent = t * (1 + t2 * (k[0] + t2 * (k[1] + t2 * (k[2] + t2 * k[3]))));
        double scale = r > 0 ? bent / r : 1;
        *u = lens->fx * x * scale + lens->cx;
        *v = lens->fy * y * scale + lens->cy;
        return true;
    }
    double below = 1 + k[5] * r2 + k[6] * r4 + k[7] * r6;
    double radial = (1 + k[0] * r2 + k[1] * r4 + k[4] * r6) / below;
    double xy = 2 * x * y;
    *u = lens->fx * (x * radial + k[2] * xy + k[3] * (r2 + 2 * x * x) + k[8] * r2 + k[9] * r4) +
         lens->cx;
    *v = lens->fy * (y * radial + k[2] * (r2 + 2 * y * y) + k[3] * xy + k[10] * r2 + k[11] * r4) +
         lens->cy;
    return below > 0;
}

bool warp_place(const struct warp_map *map, double x, double y, double *u, double *v)
{
    const double *m = map->m;
    if (map->has_lens)
        return place_by_lens(&map->lens, x, y, u, v) && isfinite(*u) && isfinite(*v);
    double w = m[6] * x + m[7] * y + m[8];
    *u = (m[0] * x + m[1] * y + m[2]) / w;
    *v = (m[3] * x + m[4] * y + m[5]) / w;
    return w > 0 && isfinite(*u) && isfinite(*v);
}

bool warp_invert(const double m[9], uint32_t width, uint32_t height, struct warp_map *map)
{
    double *out = map->m;
    *map = (struct warp_map){0};
    for (int i = 0; i < 9; i++) { /* row r and column c of the matrix of cofactors, transposed */
        int r = i % 3, c = i / 3, r1 = (r + 1) % 3, r2 = (r + 2) % 3, c1 = (c + 1) % 3,
            c2 = (c + 2) % 3;
        out[i] = m[3 * r1 + c1] * m[3 * r2 + c2] - m[3 * r1 + c2] * m[3 * r2 + c1];
    }
    double parts[3] = {m[0] * out[0], m[1] * out[3], m[2] * out[6]};
    double determinant = parts[0] + parts[1] + parts[2];
    double size = fabs(parts[0]) + fabs(parts[1]) + fabs(parts[2]);
    if (!isfinite(determinant) || fabs(determinant) <= 1e-12 * size || determinant == 0)
        return false;
    /* What is in front of the camera has a positive last coordinate there: as the picture's middle,
     * whatever the matrix's sign. */
    double middle = m[6] * (width - 1) / 2 + m[7] * (height - 1) / 2 + m[8];
    double sign = (middle != 0 ? middle : m[8]) < 0 ? -determinant : determinant;
    for (int i = 0; i < 9; i++) {
        out[i] /= sign;
        if (!isfinite(out[i]))
            return false;
    }
    return true;
}

bool warp_solve(const double from[8], const double to[8], double m[9])
{
    double rows[8][9];
    for (int i = 0; i < 4; i++) {
        double x = from[2 * i], y = from[2 * i + 1], u = to[2 * i], v = to[2 * i + 1];
        memcpy(rows[i], (double[]){x, y, 1, 0, 0, 0, -x * u, -y * u, u}, sizeof rows[i]);
        memcpy(rows[i + 4], (double[]){0, 0, 0, x, y, 1, -x * v, -y * v, v}, sizeof rows[i]);
    }
    for (int i = 0; i < 8; i++) { /* by Gauss and Jordan, the largest of each column first */
        int best = i;
        for (int r = i; r < 8; r++)
            best = fabs(rows[r][i]) > fabs(rows[best][i]) ? r : best;
        double largest = 0;
        for (int c = i; c < 9; c++) {
            double kept = rows[i][c];
            rows[i][c] = rows[best][c];
            rows[best][c] = kept;
            largest = c < 8 ? fmax(largest, fabs(rows[i][c])) : largest;
        }
        if (fabs(rows[i][i]) <= 1e-12 * largest || rows[i][i] == 0)
            return false;
        for (int c = 8; c >= i; c--)
            rows[i][c] /= rows[i][i];
        for (int r = 0; r < 8; r++)
            for (int c = 8; r != i && c >= i; c--)
                rows[r][c] -= rows[r][i] * rows[i][c];
    }
    for (int i = 0; i < 8; i++)
        m[i] = rows[i][8];
    m[8] = 1;
    return true;
}

static int32_t rounded(double place)
{
    double v = floor(place * (1 << WARP_FRACTION) + 0.5);
    return (int32_t)fmin(fmax(v, -WARP_PLACE_MAX), WARP_PLACE_MAX);
}

static void set_node(const struct warp_map *map, double x, double y, int32_t node[2])
{
    double u, v;
    if (warp_place(map, x, y, &u, &v)) {
        node[0] = rounded(u);
        node[1] = rounded(v);
    } else {
        node[0] = node[1] = WARP_NOWHERE;
    }
}

/* Of a cell whose corners are t0 t1 above and b0 b1 below. */
static void place_in_cell(const int32_t *t0, const int32_t *t1, const int32_t *b0,
                          const int32_t *b1, uint32_t shift, int32_t i, int32_t j, int32_t place[2])
{
    int32_t half = (1 << shift) >> 1;
    bool nowhere = t0[0] == WARP_NOWHERE || t1[0] == WARP_NOWHERE || b0[0] == WARP_NOWHERE ||
                   b1[0] == WARP_NOWHERE;
    for (int k = 0; k < 2; k++) {
        place[k] = -WARP_PLACE_MAX;
        if (nowhere)
            continue;
        int32_t left = t0[k] + (((b0[k] - t0[k]) * j + half) >> shift);
        int32_t right = t1[k] + (((b1[k] - t1[k]) * j + half) >> shift);
        place[k] = left + (((right - left) * i + half) >> shift);
    }
}

/* Whether places in the middle of a cell, of its upper and of its left side are as the map has
 * them, as far as they lie in the picture or next to it. */
static bool is_close(const struct warp_map *map, uint32_t shift, uint32_t x, uint32_t y,
                     uint32_t from_width, uint32_t from_height)
{
    int32_t side = 1 << shift, node[4][2];
    for (int i = 0; i < 4; i++)
        set_node(map, x + (double)(i % 2 * side), y + (double)(i / 2 * side), node[i]);
    for (int at = 1; at < 4; at++) {
        int32_t i = at & 1 ? side / 2 : 0, j = at & 2 ? side / 2 : 0, place[2];
        double u, v;
        if (!warp_place(map, x + (double)i, y + (double)j, &u, &v) || u < -2 || v < -2 ||
            u > from_width + 1.0 || v > from_height + 1.0)
            continue;
        place_in_cell(node[0], node[1], node[2], node[3], shift, i, j, place);
        if (fabs(place[0] - u * (1 << WARP_FRACTION)) > WRONG_MAX ||
            fabs(place[1] - v * (1 << WARP_FRACTION)) > WRONG_MAX)
            return false;
    }
    return true;
}

static uint32_t cells(uint32_t side, uint32_t shift)
{
    return ((side - 1) >> shift) + 1;
}

static uint32_t choose_shift(const struct warp_map *map, uint32_t width, uint32_t height,
                             uint32_t from_width, uint32_t from_height)
{
    uint32_t shift = SHIFT_MAX;
    for (; shift > 0; shift--) {
        uint32_t columns = cells(width, shift), rows = cells(height, shift);
        if ((uint64_t)cells(width, shift - 1) * cells(height, shift - 1) > NODES_MAX)
            break;
        uint32_t step_x = 1 + (columns - 1) / LOOKED_AT, step_y = 1 + (rows - 1) / LOOKED_AT;
        bool close = true;
        for (uint32_t j = 0; j < rows && close; j += step_y)
            for (uint32_t i = 0; i < columns && close; i += step_x)
                close = is_close(map, shift, i << shift, j << shift, from_width, from_height) &&
                        is_close(map, shift, (columns - 1 - i) << shift, (rows - 1 - j) << shift,
                                 from_width, from_height);
        if (close)
            break;
    }
    return shift;
}

size_t warp_grid_choose(struct warp_grid *grid, const struct warp_map *map, uint32_t width,
                        uint32_t height, uint32_t from_width, uint32_t from_height)
{
    grid->shift = choose_shift(map, width, height, from_width, from_height);
    grid->columns = cells(width, grid->shift);
    grid->rows = cells(height, grid->shift);
    return 2 * ((size_t)grid->columns + 1) * (grid->rows + 1);
}

void warp_grid_fill(const struct warp_grid *grid, const struct warp_map *map)
{
    int32_t *node = grid->nodes;
    for (uint32_t j = 0; j <= grid->rows; j++)
        for (uint32_t i = 0; i <= grid->columns; i++, node += 2)
            set_node(map, (double)((uint64_t)i << grid->shift),
                     (double)((uint64_t)j << grid->shift), node);
}

void warp_grid_place(const struct warp_grid *grid, uint32_t x, uint32_t y, int32_t *u, int32_t *v)
{
    size_t pitch = 2 * ((size_t)grid->columns + 1);
    const int32_t *top = grid->nodes + (y >> grid->shift) * pitch + 2 * (x >> grid->shift);
    int32_t mask = (1 << grid->shift) - 1, place[2];
    place_in_cell(top, top + 2, top + pitch, top + pitch + 2, grid->shift, (int32_t)x & mask,
                  (int32_t)y & mask, place);
    *u = place[0];
    *v = place[1];
}
