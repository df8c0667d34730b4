/* The stages warp and undistort, and rotate by angles that are no quarter turns: each pixel of the
 * result is computed from those around a place in the picture. docs/stages/warp.md has the
 * definition.
 *
 * Places are numbers of pixels from the middle of the first one, in whole 2^-8ths. They are known
 * exactly at nodes, every 2^shift pixels of the result both ways, and lie on lines in between
 * (warp_grid). So kernels need no division and no double, whatever the mapping is. */
#ifndef SLUICE_STAGE_WARP_H
#define SLUICE_STAGE_WARP_H

#include "stage/common.h"
#include "stage/stage.h"

enum warp_filter {
    WARP_BILINEAR,
    WARP_CUBIC,
};

/* The stages. */
enum {
    WARP_MATRIX,
    WARP_ROTATE,
    WARP_UNDISTORT,
};

/* What the stages' configs begin with. */
struct warp_look {
    int stage;
    int filter; /* enum warp_filter */
    struct param_matrix background;
    int border; /* enum border, or MOVE_BACKGROUND */
};

/* Rows of a table of parameters for it. */
#define WARP_LOOK_PARAMS(type)                                                                     \
    PARAM(CHOICE, "filter", offsetof(struct type, look.filter),                                    \
          "how the pixels around a place are weighted", .choices = warp_filter_choices,            \
          DEFAULT("bilinear")),                                                                    \
        PARAM(REALS, "background", offsetof(struct type, look.background),                         \
              "what lies outside the picture: one value, or one for each channel", DEFAULT("0")),  \
        PARAM(CHOICE, "border", offsetof(struct type, look.border),                                \
              "how the picture goes on there, in place of the background",                         \
              .choices = stage_border_choices_but_crop)
extern const struct param_choice warp_filter_choices[];

/* For complete(): `given_border` says whether border was. */
int warp_look_complete(struct warp_look *look, bool given_border, struct fault *fault);

struct warp_config {
    struct warp_look look;
    struct param_matrix matrix, from, to;
    int64_t w, h; /* 0: the picture's */
};

/* A lens: OpenCV's models. */
struct warp_lens {
    double fx, fy, cx, cy;
    double zoom; /* of the result: its focal lengths are so many times those */
    bool fisheye;
    double k[12]; /* k1 k2 p1 p2 k3 k4 k5 k6 s1 s2 s3 s4; of a fisheye k1 k2 k3 k4 */
};

struct rotate_config {
    struct warp_look look;
    struct param_scalar angle; /* clockwise, in degrees: a choice is 90, 180 or 270 */
    int same;                  /* the result has the picture's size */
    int quarters; /* turns, 0 to 3; -1: the angle is none of these */
};

struct undistort_config {
    struct warp_look look;
    char camera[PARAM_WORD_MAX]; /* "@NAME", or "" */
    struct param_matrix matrix, distortion;
    int fisheye;
    double zoom;
    bool known; /* the camera is defined */
    struct definition_camera calibration;
};

/* From places of the result to places of the picture. */
struct warp_map {
    bool has_lens;
    double m[9]; /* row by row, of homogeneous coordinates; unless it has a lens */
    struct warp_lens lens;
};

/* False: nothing of the picture is seen at (x, y). */
bool warp_place(const struct warp_map *map, double x, double y, double *u, double *v);

/* The map whose inverse is `m`, a matrix of 3 rows as cv2.warpPerspective takes it, for a picture
 * of that size. False: it has no inverse. */
bool warp_invert(const double m[9], uint32_t width, uint32_t height, struct warp_map *map);

/* The matrix that takes four points to four others. False: there is none. */
bool warp_solve(const double from[8], const double to[8], double m[9]);

#define WARP_FRACTION  8 /* bits of a place */
#define WARP_PLACE_MAX ((1 << 26) - 1)
#define WARP_NOWHERE   INT32_MIN /* a node from which nothing is seen, and so it is in its cells */
#define WARP_SIDE_MAX  131072    /* of pictures, so that WARP_PLACE_MAX is outside of all */

struct warp_grid {
    uint32_t shift;
    uint32_t columns, rows; /* of cells; there is one node more each way */
    int32_t *nodes;         /* u and v of each, row by row */
};

/* Chooses the shift for a result of that size of a picture of that size, and returns how many words
 * the nodes are. */
size_t warp_grid_choose(struct warp_grid *grid, const struct warp_map *map, uint32_t width,
                        uint32_t height, uint32_t from_width, uint32_t from_height);

/* Computes grid->nodes, for which there is room. */
void warp_grid_fill(const struct warp_grid *grid, const struct warp_map *map);

/* The place of pixel (x, y) of the result. */
void warp_grid_place(const struct warp_grid *grid, uint32_t x, uint32_t y, int32_t *u, int32_t *v);

/* The map for a plane of the stage's input, and the size of the result. */
typedef int warp_find(const void *config, const struct plane *plane, struct warp_map *map,
                      uint32_t *width, uint32_t *height, struct fault *fault);
warp_find warp_find_map, undistort_find_map, rotate_find_map;

/* A stage's name, and what finds its map. */
struct warp_stage {
    const char *name;
    warp_find *find;
};
const struct warp_stage *warp_stage_of(const void *config);

/* What the stages do with their configs. */
int warp_change(const void *config, struct plane *plane, struct fault *fault);
int warp_passes(const void *config, struct stage_plan *plan, struct fault *fault);

extern const struct tolerance warp_floats;

stage_reference warp_reference;
stage_reference rotate_reference;

#endif
