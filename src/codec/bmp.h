/* Shared by the files bmp*.c alone: what the header says, and the palette. */
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
    uint32_t max;       /* the channel's largest value; 0: the picture has no such channel */
    uint8_t scale[256]; /* value to 0…255, where max is at most 255 */
};

struct bmp_state {
    size_t pixels; /* where they begin, in bytes from the file's beginning */
    unsigned bits; /* of one pixel */
    uint32_t compression;
    bool top_down;
    bool grey;               /* colour i of the palette is grey i */
    unsigned n_colours;      /* of the palette */
    uint8_t palette[256][3]; /* RGB */
    struct bmp_field fields[4];
};

/* The picture's row for row `y` of the file, whose rows may go from the bottom up. */
uint8_t *bmp_row(const struct bmp_state *state, const struct picture *into, uint32_t y);

/* Stores colour `index` of the palette as pixel `x` of the row. If the palette has no such colour,
 * stores black and returns false: then the caller warns by bmp_bad_colour. */
bool bmp_put_colour(const struct bmp_state *state, uint8_t *row, uint32_t x, unsigned index);
int bmp_bad_colour(struct decoder *decoder, struct fault *fault);

int bmp_truncated(struct fault *fault);

/* Reads the pixels of RLE4 and RLE8. */
int bmp_read_rle(struct decoder *decoder, const struct picture *into, struct fault *fault);

int bmp_fit(const void *config, struct plane *plane, struct fault *fault);
int bmp_encode(const void *config, const struct picture *picture, size_t plane,
               struct output *output, struct fault *fault);

#endif
