#include "files.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <tiffio.h>

/* Sample `c` of pixel (x, y), of `bits` bits: the highest ones of noise_sample; of 32 and 64 bits a
 * number that floats hold. */
static void put_sample(uint8_t *row, const struct tiff_kind *k, uint32_t at, uint16_t noise)
{
    if (k->bits == 32 || k->bits == 64) {
        float narrow = noise;
        double wide = noise;
        if (k->format == SAMPLEFORMAT_IEEEFP && k->bits == 64)
            memcpy(row + 8 * at, &wide, 8);
        else if (k->format == SAMPLEFORMAT_IEEEFP)
            memcpy(row + 4 * at, &narrow, 4);
        else
            memcpy(row + 4 * at, &(int32_t){noise}, 4);
    } else if (k->bits == 16) {
        memcpy(row + 2 * at, &noise, 2);
    } else {
        for (unsigned i = 0; i < k->bits; i++) {
            uint32_t bit = at * k->bits + i;
            if (i < 16 && noise >> (15 - i) & 1)
                row[bit / 8] |= (uint8_t)(0x80 >> bit % 8);
        }
    }
}

static void set_fields(TIFF *tiff, const struct tiff_kind *k, unsigned page)
{
    static const uint16_t alpha = EXTRASAMPLE_UNASSALPHA;
    unsigned colours = k->photometric == PHOTOMETRIC_RGB || k->photometric == PHOTOMETRIC_CIELAB ? 3
                       : k->photometric == PHOTOMETRIC_SEPARATED                                 ? 4
                                                                 : 1;
    TIFFSetField(tiff, TIFFTAG_IMAGEWIDTH, k->width);
    TIFFSetField(tiff, TIFFTAG_IMAGELENGTH, k->height);
    TIFFSetField(tiff, TIFFTAG_BITSPERSAMPLE, (uint16_t)k->bits);
    TIFFSetField(tiff, TIFFTAG_SAMPLESPERPIXEL, (uint16_t)k->samples);
    TIFFSetField(tiff, TIFFTAG_SAMPLEFORMAT, (uint16_t)(k->format ? k->format : SAMPLEFORMAT_UINT));
    TIFFSetField(tiff, TIFFTAG_PHOTOMETRIC, (uint16_t)k->photometric);
    TIFFSetField(tiff, TIFFTAG_COMPRESSION,
                 (uint16_t)(k->compression ? k->compression : COMPRESSION_NONE));
    TIFFSetField(tiff, TIFFTAG_PLANARCONFIG,
                 k->apart ? PLANARCONFIG_SEPARATE : PLANARCONFIG_CONTIG);
    if (k->samples > colours)
        TIFFSetField(tiff, TIFFTAG_EXTRASAMPLES, 1, &alpha);
    if (k->tile) {
        TIFFSetField(tiff, TIFFTAG_TILEWIDTH, k->tile);
        TIFFSetField(tiff, TIFFTAG_TILELENGTH, k->tile);
    } else {
        TIFFSetField(tiff, TIFFTAG_ROWSPERSTRIP, k->rows ? k->rows : k->height);
    }
    if (k->predictor)
        TIFFSetField(tiff, TIFFTAG_PREDICTOR, (uint16_t)k->predictor);
    if (k->orientation)
        TIFFSetField(tiff, TIFFTAG_ORIENTATION, (uint16_t)k->orientation);
    if (k->photometric == PHOTOMETRIC_PALETTE) {
        uint16_t map[3][256];
        for (unsigned i = 0; i < 256; i++)
            for (unsigned c = 0; c < 3; c++)
                map[c][i] = (uint16_t)(257 * png_palette_colour(i, c));
        TIFFSetField(tiff, TIFFTAG_COLORMAP, map[0], map[1], map[2]);
    }
    if (k->metadata) {
        uint8_t profile[PROFILE_SIZE];
        make_profile(profile);
        TIFFSetField(tiff, TIFFTAG_ICCPROFILE, (uint32_t)PROFILE_SIZE, profile);
        TIFFSetField(tiff, TIFFTAG_XMLPACKET, 6U, "<xmp/>");
        TIFFSetField(tiff, TIFFTAG_XRESOLUTION, 300.0);
        TIFFSetField(tiff, TIFFTAG_YRESOLUTION, 200.0);
        TIFFSetField(tiff, TIFFTAG_MAKE, "a maker");
    }
    if (k->pages > 1)
        TIFFSetField(tiff, TIFFTAG_PAGENAME, page == 0 ? "first" : "../x");
}

/* Writes rows, or tiles of them, of all samples or of one. */
static void put_samples(TIFF *tiff, const struct tiff_kind *k, unsigned page)
{
    uint32_t width = k->tile ? k->tile : k->width, height = k->tile ? k->tile : 1;
    uint32_t samples = k->apart ? 1 : k->samples;
    size_t stride = ((size_t)width * samples * k->bits + 7) / 8;
    uint8_t *chunk = malloc(stride * height);
    for (uint32_t s = 0; s < (k->apart ? k->samples : 1); s++)
        for (uint32_t y = 0; y < k->height; y += height)
            for (uint32_t x = 0; x < k->width; x += width) {
                memset(chunk, 0, stride * height);
                for (uint32_t i = 0; i < height; i++)
                    for (uint32_t j = 0; j < width; j++)
                        for (uint32_t c = 0; c < samples; c++)
                            put_sample(chunk + i * stride, k, j * samples + c,
                                       noise_sample(x + j, y + i, s + c + page));
                if (k->tile)
                    TIFFWriteTile(tiff, chunk, x, y, 0, (uint16_t)s);
                else
                    TIFFWriteScanline(tiff, chunk, y, (uint16_t)s);
            }
    free(chunk);
}

void make_tiff(struct file *file, const struct tiff_kind *k)
{
    char mode[] = {'w', k->big_endian ? 'b' : 'l', k->big ? '8' : '4', 0};
    int fd = memfd_create("tiff", MFD_CLOEXEC), keep = dup(fd);
    uint8_t bytes[4096];
    TIFF *tiff = TIFFFdOpen(fd, "", mode);
    for (unsigned page = 0; page < (k->pages ? k->pages : 1); page++) {
        set_fields(tiff, k, page);
        put_samples(tiff, k, page);
        TIFFWriteDirectory(tiff);
    }
    TIFFClose(tiff);
    lseek(keep, 0, SEEK_SET);
    for (ssize_t n; (n = read(keep, bytes, sizeof bytes)) > 0;)
        file_put(file, bytes, (size_t)n);
    close(keep);
}
