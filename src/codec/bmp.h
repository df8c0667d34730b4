/* Shared by the files bmp*.c alone. */
#ifndef SLUICE_CODEC_BMP_H
#define SLUICE_CODEC_BMP_H

#include "codec/codec.h"

enum bmp_compression {
    BMP_RGB = 0,
    BMP_RLE8 = 1,
    BMP_RLE4 = 2,
    BMP_BITFIELDS = 3,
    BMP_ALPHABITFIELDS = 6,
};

/* Where one channel's bits lie in a pixel of 16 or 32 bits. */
struct bmp_field {
    uint32_t mask;
    unsigned shift;
    uint32_t max;       /* the field with all bits set; 0: there is no such channel */
    uint8_t scale[256]; /* value to full range, where max is at most 255 */
};

struct bmp_state {
    size_t pixels; /* where they begin in the file */
    unsigned bits; /* of one pixel */
    uint32_t compression;
    bool top_down;
    bool grey;               /* the palette is index = grey */
    unsigned n_colours;      /* of the palette */
    uint8_t palette[256][3]; /* RGB */
    struct bmp_field fields[4];
};

/* Row `y` as the file counts them, in the picture. */
uint8_t *bmp_row(const struct bmp_state *state, const struct picture *into, uint32_t y);

/* Puts one pixel of a palette; false, and black, when the palette has no such colour. */
bool bmp_put_colour(const struct bmp_state *state, uint8_t *row, uint32_t x, unsigned index);

/* The warning that goes with that. */
int bmp_bad_colour(struct decoder *decoder, struct fault *fault);

int bmp_truncated(struct fault *fault);

/* Reads the pixels of RLE4 and RLE8. */
int bmp_read_rle(struct decoder *decoder, const struct picture *into, struct fault *fault);

int bmp_fit(const void *config, struct plane *plane, struct fault *fault);
int bmp_encode(const void *config, const struct picture *picture, size_t plane,
               struct output *output, struct fault *fault);

#endif
