/* The stage warp: an affine or a perspective matrix, or four points and where they go. */
#include "stage/warp/warp.h"
#include "stage/move/move.h"

#define NUMBER_MAX 1e9
#define SIDE_MAX   1000000

static const struct param params[] = {
    PARAM(MATRIX, "matrix", offsetof(struct warp_config, matrix),
          "takes pixels of the picture to their places in the result: two rows of three "
          "numbers, or three rows for perspective",
          RANGE(-NUMBER_MAX, NUMBER_MAX)),
    PARAM(MATRIX, "from", offsetof(struct warp_config, from),
          "in place of a matrix, four points of the picture, x_y/x_y/x_y/x_y",
          RANGE(-NUMBER_MAX, NUMBER_MAX)),
    PARAM(MATRIX, "to", offsetof(struct warp_config, to),
          "where these four lie in the result; without it in its corners, clockwise from "
          "the upper left",
          RANGE(-NUMBER_MAX, NUMBER_MAX)),
    PARAM(INTEGER, "w", offsetof(struct warp_config, w),
          "width of the result in pixels; without it the picture's", RANGE(1, SIDE_MAX)),
    PARAM(INTEGER, "h", offsetof(struct warp_config, h),
          "height of the result; without it the picture's", RANGE(1, SIDE_MAX)),
    WARP_LOOK_PARAMS(warp_config),
    {0},
};

static int check_points(const char *name, const struct param_matrix *points, struct fault *fault)
{
    if (points->choice == PARAM_IS_NUMBER && points->rows == 4 && points->columns == 2)
        return 0;
    return fault_set(fault, FAULT_CHAIN,
                     "warp: %s: expected four points x_y/x_y/x_y/x_y, as 0_0/639_0/639_479/0_479",
                     name);
}

/* The three rows of a matrix that may have two. */
static void whole_matrix(const struct param_matrix *matrix, double m[9])
{
    for (int i = 0; i < 9; i++)
        m[i] = i < (int)(matrix->rows * 3) ? matrix->v[i] : i == 8;
}

static int complete(void *config_, param_given *given, struct fault *fault)
{
    struct warp_config *config = config_;
    bool matrix = *given & param_bit(params, "matrix"), from = *given & param_bit(params, "from");
    bool to = *given & param_bit(params, "to");
    int result = warp_look_complete(&config->look, *given & param_bit(params, "border"), fault);
    if (result == 0 && matrix == from)
        result = fault_set(fault, FAULT_CHAIN,
                           "warp: give either matrix=a_b_c/d_e_f or from=x_y/x_y/x_y/x_y");
    if (result == 0 && !from && to)
        result = fault_set(fault, FAULT_CHAIN, "warp: to needs from, four points of the picture");
    if (result == 0 && from)
        result = check_points("from", &config->from, fault);
    if (result == 0 && to)
        result = check_points("to", &config->to, fault);
    if (!matrix || result != 0)
        return result;
    if (config->matrix.choice != PARAM_IS_NUMBER || config->matrix.columns != 3 ||
        config->matrix.rows < 2 || config->matrix.rows > 3)
        return fault_set(fault, FAULT_CHAIN,
                         "warp: matrix: expected two rows of three numbers, as 1_0_10/0_1_20, or "
                         "three for perspective");
    double m[9];
    struct warp_map map;
    whole_matrix(&config->matrix, m);
    if (!warp_invert(m, 1, 1, &map))
        return fault_set(fault, FAULT_CHAIN,
                         "warp: matrix: its determinant is 0, so it would take the picture to a "
                         "line or a point");
    return 0;
}

int warp_find_map(const void *config_, const struct plane *plane, struct warp_map *map,
                  uint32_t *width, uint32_t *height, struct fault *fault)
{
    const struct warp_config *config = config_;
    double m[9];
    *width = config->w ? (uint32_t)config->w : plane->width;
    *height = config->h ? (uint32_t)config->h : plane->height;
    if (config->from.rows) {
        double right = *width - 1.0, below = *height - 1.0;
        double corners[8] = {0, 0, right, 0, right, below, 0, below};
        const double *to = config->to.rows ? config->to.v : corners;
        if (!warp_solve(config->from.v, to, m) || !warp_invert(m, plane->width, plane->height, map))
            return fault_set(fault, FAULT_SHAPE,
                             "warp: three of the four points of from or to%s lie on a line, or two "
                             "are the same",
                             config->to.rows ? "" : " (the result's corners)");
        return 0;
    }
    whole_matrix(&config->matrix, m);
    if (!warp_invert(m, plane->width, plane->height, map))
        return fault_set(fault, FAULT_SHAPE, "warp: the matrix has no inverse");
    return 0;
}

const struct stage stage_warp = {
    .name = "warp",
    .chains = (const char *const[]){"warp:1_0_0/0_1_0", "warp:1_0_0/0_1_0:filter=cubic", NULL},
    .summary = "the picture under an affine or perspective matrix: shifted, turned, sheared, "
               "straightened",
    .params = params,
    .config_size = sizeof(struct warp_config),
    .complete = complete,
    .change = warp_change,
    .passes = warp_passes,
    .reference = warp_reference,
    .floats = &warp_floats,
    .bench = "warp:0.9_-0.3_200/0.3_0.9_-100",
};
