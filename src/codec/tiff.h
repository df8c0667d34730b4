/* Shared by the files tiff*.c alone. */
#ifndef SLUICE_CODEC_TIFF_H
#define SLUICE_CODEC_TIFF_H

#include "codec/codec.h"

struct tiff_config {
    struct picture_config picture;
    int compression; /* of tiff.h: COMPRESSION_… */
    int64_t level;   /* of deflate */
    int bits;        /* 1: black and white; 0: as many as the samples have */
};

/* Writes plane `plane`, or with picture.pages all of them. */
int tiff_encode(const void *config, const struct picture *picture, size_t plane,
                struct output *output, struct fault *fault);
int tiff_encode_frame(const void *config, const struct picture *picture, struct output *output,
                      struct fault *fault);

#endif
