/* The internal stage video: the first step of a plan for video frames. It makes the picture that a
 * frame's planes mean.
 *
 * RGB of YCbCr is by Rec. ITU-R BT.601-7 §2.5 (BT.709-6 §3, BT.2020-2 table 4 alike), with the
 * matrix's shares of red and blue Kr and Kb, for 8 bits:
 *
 *     y = a · (Y − Y0)              limited range: Y0 = 16, a = 255/219, b = 255/224
 *     R = y + b · 2·(1 − Kr)                  · (Cr − 128)         full range: Y0 = 0, a = b = 1
 *     G = y − b · 2·(1 − Kb)·Kb/(1 − Kr − Kb) · (Cb − 128)
 *           − b · 2·(1 − Kr)·Kr/(1 − Kr − Kb) · (Cr − 128)
 *     B = y + b · 2·(1 − Kb)                  · (Cb − 128)
 *
 * in integers with factors of 16 fractional bits, rounded to nearest, limited to 0…255. Pixels that
 * share a chroma sample all use its value; there is no interpolation.
 *
 * P010 has numbers of 10 bits, the upper ones of 16: Y0 = 64, a = 65535/876, b = 65535/896 and 512 in
 * place of 128, or of full range 0, 65535/1023 for both, and 512; factors have 13 fractional bits, and
 * the picture is RGB of u16, limited to 0…65535.
 *
 * RAW10 and RAW12 are packed as CSI-2 has them (MIPI; V4L2's pixel formats that end in 10P and 12P): the
 * upper 8 bits of four or of two pixels, a byte each, then a byte with what is left of them, the first
 * pixel's in its lowest bits. The picture is those numbers, 0…1023 or 0…4095, as grey of u16.
 *
 * The luminance of a frame whose matrix is the one that the stage luminance asks for is y alone,
 * computed from Y: of full range it is Y itself, so that plane Y is taken where it lies. */
#ifndef SLUICE_STAGE_VIDEO_H
#define SLUICE_STAGE_VIDEO_H

#include "image/video.h"
#include "stage/stage.h"

struct video_config {
    struct video video;
    bool luma; /* y alone comes out, as one channel */
};

/* The factors above, times 65536, or of 10 bits times 8192. */
struct video_factors {
    int32_t y_zero, y, cr_to_r, cb_to_g, cr_to_g, cb_to_b;
};

/* Made into plans, not written in chains. */
extern const struct stage stage_video;

struct video_factors video_factors(const struct video *video);

stage_at video_at;

#endif
