/* The stage undistort: its parameters. */
#ifndef SLUICE_STAGE_UNDISTORT_H
#define SLUICE_STAGE_UNDISTORT_H

#include "stage/warp/warp.h"

struct undistort_config {
    struct warp_look look;
    char camera[PARAM_WORD_MAX]; /* "@NAME", or "" */
    struct param_matrix matrix, distortion;
    int fisheye;
    double zoom;
    bool known; /* the camera is defined */
    struct definition_camera calibration;
};

#endif
