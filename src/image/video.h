/* Video frames: how cameras and decoders lay out a picture's samples. The planes of such a frame
 * hold bytes as the format has them; the picture that they mean follows from them by the source
 * step of a plan (stage/video.h). */
#ifndef SLUICE_IMAGE_VIDEO_H
#define SLUICE_IMAGE_VIDEO_H

#include "image/frame.h"

#define VIDEO_PLANES_MAX 3

/* The planes that hold such a frame, without a layout; returns how many. Of formats in which pixels
 * share their chroma the last column and row of an odd size have a chroma sample of their own. A
 * plane of pairs (CbCr) has 2 channels, one of YUY2 and UYVY 4 for two pixels. Rows of RAW10 and RAW12
 * are bytes, whole groups of 5 for four pixels and of 3 for two. */
unsigned video_planes(const struct video *video, struct plane planes[VIDEO_PLANES_MAX]);

/* The picture that a chain sees, without a layout. */
struct plane video_picture(const struct video *video);

/* Whether the format has luma and chroma; and whether these are numbers of 10 bits. */
bool video_is_ycbcr(enum video_format format);
bool video_has_10_bits(enum video_format format);

/* Whether the frame's plane is the picture as it is. */
bool video_is_picture(enum video_format format);

#endif
