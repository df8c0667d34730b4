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

/* Writes the encoder's plane, or with picture.pages all of them. */
int tiff_encode(struct encoder *encoder, const struct picture *picture, uint32_t end,
                struct fault *fault);

#endif
