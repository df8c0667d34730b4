/* What a video frame is: its format, and how its colours are coded (image/video.h). */
#ifndef SLUICE_IMAGE_VIDEO_FORMAT_H
#define SLUICE_IMAGE_VIDEO_FORMAT_H

#include <stdint.h>

/* Numbered as enum sluice_format. */
enum video_format {
    VIDEO_NONE, /* planes that are what they are */
    VIDEO_NV12,
    VIDEO_NV21,
    VIDEO_I420,
    VIDEO_YUY2,
    VIDEO_UYVY,
    VIDEO_GRAY8,
    VIDEO_GRAY16_LE,
    VIDEO_RGB,
    VIDEO_BGR,
    VIDEO_RGBX,
    VIDEO_BGRX,
    VIDEO_RGBA,
    VIDEO_BGRA,
    VIDEO_NV16,
    VIDEO_P010,
    VIDEO_RAW10,
    VIDEO_RAW12,
    VIDEO_FORMATS
};

/* Shares of red and blue in luma: Rec. ITU-R BT.601-7, BT.709-6, BT.2020-2 (not its constant
 * luminance). Numbered as enum sluice_matrix. */
enum video_matrix {
    VIDEO_BT601,
    VIDEO_BT709,
    VIDEO_BT2020,
    VIDEO_MATRICES
};

/* Numbered as enum sluice_range. */
enum video_range {
    VIDEO_LIMITED, /* Y 16…235, Cb and Cr 16…240 about 128; of 10 bits four times that */
    VIDEO_FULL,    /* 0…255, about 128; of 10 bits 0…1023, about 512 */
    VIDEO_RANGES
};

struct video {
    enum video_format format;
    uint32_t width, height; /* of the picture, in pixels */
    enum video_matrix matrix;
    enum video_range range;
};

#endif
