/* NPZ: a ZIP archive of NPY arrays, a plane each, with meta.json beside them. Shared by the files
 * of this format alone. docs/formats.md describes meta.json. */
#ifndef SLUICE_CODEC_NPZ_H
#define SLUICE_CODEC_NPZ_H

#include "base/text.h"
#include "codec/codec.h"

#define NPZ_META         "meta.json"
#define NPZ_META_VERSION 1
#define NPZ_META_MAX     (1 << 20) /* bytes of it that are read */
#define NPZ_PLANES_MAX   FRAME_PLANES_MAX
#define NPZ_MEMBER_MAX   (PLANE_NAME_MAX + 8)

struct npz_config {
    int64_t level; /* 0 stores, 1 to 9 deflate */
};

int npz_encode(const void *config, const struct picture *picture, struct output *output,
               struct fault *fault);

/* The member that holds a plane: NAME.npy, "image" standing for no name. */
void npz_member_name(const char *plane, char member[NPZ_MEMBER_MAX]);

/* True for what planes may be called: letters, digits and `. _ -`, no dot in front, because files
 * are called after them. "" is no name. */
bool npz_is_name(const char *name, size_t length);

/* Appends meta.json for the frame; false when memory is out. */
bool npz_print_meta(const struct frame *frame, struct text *text);

/* Adds to the empty `frame` the planes and origins that meta.json tells of, each plane and each
 * origin's within max_pixels. */
int npz_parse_meta(const char *text, size_t size, uint64_t max_pixels, struct frame *frame,
                   struct fault *fault);

#endif
