/* Video frames: how cameras and decoders lay out a picture's samples. The planes of such a frame
 * hold bytes as the format has them; the picture that they mean follows from them by the source
 * step of a plan (stage/video.h). */
#ifndef SLUICE_IMAGE_VIDEO_H
#define SLUICE_IMAGE_VIDEO_H

#include "image/frame.h"

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
    VIDEO_LIMITED, /* Y 16…235, Cb and Cr 16…240 about 128 */
    VIDEO_FULL,    /* 0…255, about 128 */
    VIDEO_RANGES
};

#define VIDEO_PLANES_MAX 3

struct video {
    enum video_format format;
    uint32_t width, height; /* of the picture, in pixels */
    enum video_matrix matrix;
    enum video_range range;
};

/* The planes that hold such a frame, without a layout; returns how many. Of formats in which pixels
 * share their chroma the last column and row of an odd size have a chroma sample of their own. A
 * plane of pairs (CbCr) has 2 channels, one of YUY2 and UYVY 4 for two pixels. */
unsigned video_planes(const struct video *video, struct plane planes[VIDEO_PLANES_MAX]);

/* The picture that a chain sees, without a layout. */
struct plane video_picture(const struct video *video);

/* Whether the format has luma and chroma. */
bool video_is_ycbcr(enum video_format format);

/* Whether the frame's plane is the picture as it is. */
bool video_is_picture(enum video_format format);

#endif
