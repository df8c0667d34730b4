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

/* Where libtiff writes. */
struct tiff_sink {
    struct output *output;
    bool direct;     /* to the output, else to … */
    uint8_t *memory; /* … owned */
    size_t room;
    uint64_t at, end;
    bool no_memory;
    struct fault fault; /* what libtiff said first; code 0: nothing */
};

struct tiff_writer {
    struct tiff_sink sink;
    struct tiff *tiff; /* libtiff's; NULL: the file has not begun */
    uint8_t *row;      /* owned */
};

/* Writes rows of the encoder's plane, or with picture.pages and several planes all of them
 * (codec.h, encode and encode_close). */
int tiff_encode(struct encoder *encoder, const struct picture *picture, uint32_t end,
                struct fault *fault);
void tiff_encode_close(struct encoder *encoder);

#endif
