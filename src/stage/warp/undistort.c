/* The stage undistort: the picture as a camera without a lens' distortion would have it. */
#include <stdio.h>
#include <string.h>

#include "stage/move/move.h"
#include "stage/warp/warp.h"

#define NUMBER_MAX 1e9

static const struct param params[] = {
    PARAM(WORD, "camera", offsetof(struct undistort_config, camera),
          "@NAME, a calibration of the configuration"),
    PARAM(MATRIX, "matrix", offsetof(struct undistort_config, matrix),
          "in place of it, the camera's matrix: fx_0_cx/0_fy_cy/0_0_1",
          RANGE(-NUMBER_MAX, NUMBER_MAX)),
    PARAM(REALS, "distortion", offsetof(struct undistort_config, distortion),
          "with it, the lens: k1_k2_p1_p2, and k3, k4 to k6, s1 to s4; of a fisheye "
          "k1_k2_k3_k4",
          RANGE(-NUMBER_MAX, NUMBER_MAX)),
    PARAM(CHOICE, "model", offsetof(struct undistort_config, fisheye), "how these are meant",
          CHOICES({"pinhole", 0}, {"fisheye", 1}), DEFAULT("pinhole")),
    PARAM(REAL, "zoom", offsetof(struct undistort_config, zoom),
          "how much larger the result shows things: below 1, more of the picture's edges "
          "is in it",
          RANGE(0.01, 100), DEFAULT("1")),
    WARP_LOOK_PARAMS(undistort_config),
    {0},
};

static void define(void *config_, const struct definitions *definitions)
{
    struct undistort_config *config = config_;
    const struct definition_camera *camera =
        config->camera[0] == '@' ? definitions_camera(definitions, config->camera + 1) : NULL;
    config->known = camera != NULL;
    if (camera)
        config->calibration = *camera;
}

/* The numbers in the chain as a calibration. */
static int calibrate(struct undistort_config *config, struct fault *fault)
{
    const struct param_matrix *m = &config->matrix, *d = &config->distortion;
    struct definition_camera *camera = &config->calibration;
    *camera = (struct definition_camera){.fisheye = config->fisheye};
    if (m->choice != PARAM_IS_NUMBER || m->columns != 3 || m->rows != 3)
        return fault_set(fault, FAULT_CHAIN,
                         "undistort: matrix: expected three rows, fx_0_cx/0_fy_cy/0_0_1");
    if (d->choice != PARAM_IS_NUMBER || d->columns < 1 || d->columns > CAMERA_DISTORTION_MAX)
        return fault_set(fault, FAULT_CHAIN,
                         "undistort: distortion: expected up to %d numbers, k1_k2_p1_p2_k3 …",
                         CAMERA_DISTORTION_MAX);
    memcpy(camera->matrix, m->v, sizeof camera->matrix);
    camera->n_distortion = d->columns;
    memcpy(camera->distortion, d->v, d->columns * sizeof *d->v);
    return definitions_check_camera(camera, "undistort", fault);
}

static int complete(void *config_, param_given *given, struct fault *fault)
{
    struct undistort_config *config = config_;
    bool camera = *given & param_bit(params, "camera"),
         matrix = *given & param_bit(params, "matrix");
    bool distortion = *given & param_bit(params, "distortion");
    int result = warp_look_complete(&config->look, *given & param_bit(params, "border"), fault);
    if (result != 0)
        return result;
    if (camera == matrix || matrix != distortion)
        return fault_set(fault, FAULT_CHAIN,
                         "undistort: give either @CAMERA, or both matrix and distortion");
    if (camera && config->camera[0] != '@')
        return fault_set(fault, FAULT_CHAIN, "undistort: '%s': a camera is named @%s",
                         config->camera, config->camera);
    if (camera && !config->known)
        return fault_set(fault, FAULT_CHAIN,
                         "undistort: no camera '%s' is defined (--config FILE defines them under "
                         "cameras)",
                         config->camera + 1);
    return camera ? 0 : calibrate(config, fault);
}

int undistort_find_map(const void *config_, const struct plane *plane, struct warp_map *map,
                       uint32_t *width, uint32_t *height, struct fault *fault)
{
    const struct undistort_config *config = config_;
    const struct definition_camera *camera = &config->calibration;
    if (camera->width && (camera->width != plane->width || camera->height != plane->height))
        return fault_set(fault, FAULT_SHAPE,
                         "undistort: camera '%s' was calibrated with pictures of %u×%u, and this "
                         "one is %u×%u",
                         camera->name, camera->width, camera->height, plane->width, plane->height);
    *map = (struct warp_map){.has_lens = true,
                             .lens = {.fx = camera->matrix[0],
                                      .fy = camera->matrix[4],
                                      .cx = camera->matrix[2],
                                      .cy = camera->matrix[5],
                                      .zoom = config->zoom,
                                      .fisheye = camera->fisheye}};
    memcpy(map->lens.k, camera->distortion, sizeof map->lens.k);
    *width = plane->width;
    *height = plane->height;
    return 0;
}

const struct stage stage_undistort = {
    .name = "undistort",
    .kind = WARP_UNDISTORT,
    .chains = (const char *const[]){NULL}, /* its kernels are those of warp */
    .summary = "the picture without its lens' distortion",
    .params = params,
    .config_size = sizeof(struct undistort_config),
    .define = define,
    .complete = complete,
    .change = warp_change,
    .passes = warp_passes,
    .reference = warp_reference,
    .floats = &warp_floats,
    .bench = "undistort:matrix=3000_0_2048/0_3000_2048/0_0_1:distortion=-0.2_0.05_0.001_0_0",
};
