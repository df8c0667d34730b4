/* Caps and layouts: which frames a chain takes, and what it makes of them, in GStreamer's terms. */
#ifndef SLUICE_GST_CAPS_H
#define SLUICE_GST_CAPS_H

#include <gst/video/video.h>
#include <sluice/sluice.h>

/* What is taken, and what comes out. A chain without a stage passes all that is taken on. */
#define CAPS_INPUTS                                                                                \
    "{ NV12, NV21, I420, YUY2, UYVY, GRAY8, GRAY16_LE, RGB, BGR, RGBx, BGRx, RGBA, BGRA, " \
    "NV16, P010_10LE }"
#define CAPS_RESULTS                                                                               \
    "{ GRAY8, RGB, RGBA, GRAY16_LE, RGBA64_LE, NV12, NV21, I420, YUY2, UYVY, BGR, RGBx, BGRx, "    \
    "BGRA, NV16, P010_10LE }"

/* The mosaics of cameras, by their orders and widest first; samples of 16 bits may have fewer in
 * use. A result is none. */
#define CAPS_MOSAICS                                                                               \
    "{ rggb, grbg, gbrg, bggr, rggb16le, grbg16le, gbrg16le, bggr16le, rggb14le, grbg14le, "       \
    "gbrg14le, bggr14le, rggb12le, grbg12le, gbrg12le, bggr12le, rggb10le, grbg10le, gbrg10le, "   \
    "bggr10le }"

/* The DRM formats of linear dma-bufs that are the same bytes (caps of GStreamer 1.24 and later). */
#define CAPS_DRM                                                                                   \
    "{ NV12, NV21, YU12, YUYV, UYVY, R8, BG24, RG24, XB24, XR24, AB24, AR24, NV12:0x0, NV21:0x0, " \
    "YU12:0x0, YUYV:0x0, UYVY:0x0, R8:0x0, BG24:0x0, RG24:0x0, XB24:0x0, XR24:0x0, AB24:0x0, "     \
    "AR24:0x0, NV16, NV16:0x0, P010, P010:0x0 }"

/* What a chain does with caps; immutable and counted, for any thread. */
struct rules;

/* The order of a mosaic; MOSAIC_NONE: pixels have all colours, or one for all. */
enum mosaic {
    MOSAIC_NONE,
    MOSAIC_RGGB,
    MOSAIC_GRBG,
    MOSAIC_GBRG,
    MOSAIC_BGGR,
    MOSAICS
};

/* The rules of a chain. For each order `demosaic` without one has that of the caps, and a chain
 * with another one is refused. NULL: the text is wrong for all frames. */
struct rules *rules_create(const char *text, struct sluice_definitions *definitions,
                           struct sluice_error *error);
struct rules *rules_ref(struct rules *rules);
void rules_unref(struct rules *rules); /* takes NULL */
const char *rules_text(const struct rules *rules); /* the chain's short form */
struct sluice_chain *rules_chain(const struct rules *rules, enum mosaic mosaic); /* may be NULL */
gboolean rules_is_empty(const struct rules *rules); /* no stage: everything is passed on */

/* False, with the reason, where no format at all gives a video. */
gboolean rules_check(const struct rules *rules, struct sluice_error *error);

/* What comes out for frames as `in`: the format and the size of `out`, in GStreamer's default
 * layout. SLUICE_E_SHAPE: the chain does not take such frames, or what comes out is no video, and
 * then the message has the stages to append. */
int rules_result(const struct rules *rules, enum mosaic mosaic, const GstVideoInfo *in,
                 GstVideoInfo *out, struct sluice_error *error);

/* The caps at the other pad: of results for those of inputs (direction GST_PAD_SINK), exact where
 * sizes are known; of inputs for those of results as far as the chain tells. */
GstCaps *rules_transform(const struct rules *rules, GstPadDirection direction, const GstCaps *caps);

/* As gst_video_info_from_caps, and for DRM formats of linear dma-bufs; and for mosaics, which lie
 * like grey of 8 or 16 bits. */
gboolean caps_info(const GstCaps *caps, GstVideoInfo *info);
enum mosaic caps_mosaic(const GstCaps *caps);

/* The layout of a frame as `info` says; SLUICE_E_SHAPE: chains do not take it. Of `planes` one is
 * used, for formats that are only results. */
int caps_layout(const GstVideoInfo *info, struct sluice_layout *layout, struct sluice_plane *plane,
                struct sluice_error *error);

#endif
