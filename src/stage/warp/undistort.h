/* The stage undistort: its parameters. */
#ifndef SLUICE_STAGE_UNDISTORT_H
#define SLUICE_STAGE_UNDISTORT_H

#include "stage/warp/warp.h"

struct undistort_config {
    char camera[PARAM_WORD_MAX]; /* "@NAME", or "" */
    struct param_matrix matrix, distortion;
    int fisheye;
    double zoom;
    struct warp_look look;
    bool known; /* the camera is defined */
    struct definition_camera calibration;
};

#endif
