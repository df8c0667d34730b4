/* Shared by the files npz*.c alone. An NPZ is a ZIP archive of NPY arrays, one for each plane, and
 * of meta.json, which docs/formats.md describes. */
#ifndef SLUICE_CODEC_ARRAY_NPZ_H
#define SLUICE_CODEC_ARRAY_NPZ_H

#include "base/text.h"
#include "codec/codec.h"

#define NPZ_META         "meta.json"
#define NPZ_META_VERSION 1
#define NPZ_META_MAX     (1 << 20) /* bytes; a larger meta.json is refused */
#define NPZ_PLANES_MAX   FRAME_PLANES_MAX
#define NPZ_MEMBER_MAX   (PLANE_NAME_MAX + 8) /* bytes of a member's name with its NUL */

struct npz_config {
    int64_t level; /* 0 stores, 1 to 9 deflate */
};

struct npz_writer {
    struct zip_writer *zip; /* owned; NULL: the archive has not begun */
};

/* Writes rows (codec.h, encode and encode_close). */
int npz_encode(struct encoder *encoder, const struct picture *picture, uint32_t end,
               struct fault *fault);
void npz_encode_close(struct encoder *encoder);

/* The name of the member that holds a plane: NAME.npy, or image.npy for a plane without a name. */
void npz_member_name(const char *plane, char member[NPZ_MEMBER_MAX]);

/* Appends meta.json for the frame; false when memory is out. */
bool npz_print_meta(const struct frame *frame, struct text *text);

/* Adds the planes and origins that meta.json describes to the empty `frame`. FAULT_LIMIT for a
 * plane of more than max_pixels. */
int npz_parse_meta(const char *text, size_t size, uint64_t max_pixels, struct frame *frame,
                   struct fault *fault);

#endif
