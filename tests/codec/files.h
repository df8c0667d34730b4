/* Small picture files of every kind, made by hand or by the codec libraries. Tests of the codecs
 * know their pixels; the fuzzer starts from them. */
#ifndef SLUICE_TESTS_CODEC_FILES_H
#define SLUICE_TESTS_CODEC_FILES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Bytes that grow. */
struct file {
    uint8_t *data; /* owned */
    size_t size;
};

void file_finish(struct file *file);
void file_put(struct file *file, const void *data, size_t size);
void file_put_text(struct file *file, const char *text);
void file_put_zeros(struct file *file, size_t count);
void file_put_u8(struct file *file, unsigned value);
void file_put_le16(struct file *file, unsigned value);
void file_put_le32(struct file *file, uint32_t value);
void file_put_be16(struct file *file, unsigned value);
void file_put_be32(struct file *file, uint32_t value);

/* Samples of the pictures: slow ramps, for formats that lose a little; and noise. */
uint8_t ramp_sample(uint32_t x, uint32_t y, uint32_t channel);
uint16_t noise_sample(uint32_t x, uint32_t y, uint32_t channel);

/* The Exif block of a picture with this orientation, as APP1 and eXIf hold it ("Exif\0\0" in front
 * where `prefix`). */
void make_exif(struct file *file, unsigned orientation, bool big_endian, bool prefix);

/* The smallest bytes that pass for a profile of RGB: its header. */
#define PROFILE_SIZE 128
void make_profile(uint8_t profile[PROFILE_SIZE]);

enum jpeg_colours {
    JPEG_GREY,
    JPEG_YCC,
    JPEG_RGB,
    JPEG_CMYK,
    JPEG_YCCK,
};

struct jpeg_kind {
    enum jpeg_colours colours;
    uint32_t width, height;
    int quality;  /* 0: 100 */
    int sampling; /* of Y in both directions, where there is one; 0: 1 */
    bool progressive, arithmetic, separate_scans, restarts, no_adobe;
    unsigned orientation; /* 0: no Exif */
    bool metadata;        /* a profile in two parts, and XMP */
    bool flat;            /* every sample is 128 */
    unsigned extra_scans; /* of a grey file: it is progressive, its last scan repeated so often */
};

/* ramp_sample, encoded by libjpeg. */
void make_jpeg(struct file *file, const struct jpeg_kind *kind);

struct png_kind {
    int colour_type, depth; /* as IHDR has them */
    bool interlaced, transparent;
    uint32_t width, height;
    unsigned orientation;     /* 0: no eXIf */
    bool exif_behind;         /* it stands behind the pixels */
    bool metadata;            /* a profile, density and XMP */
    unsigned palette_colours; /* 0: as many as the depth can tell apart */
};

/* noise_sample, its highest bits, encoded by libpng. Palette entry i is png_palette_colour(i), with
 * transparency png_palette_alpha(i) for the first half of them. tRNS of grey and RGB is the value
 * of pixel (0, 0). */
void make_png(struct file *file, const struct png_kind *kind);
uint8_t png_palette_colour(unsigned index, unsigned channel);
uint8_t png_palette_alpha(unsigned index);

struct bmp_kind {
    uint32_t header; /* its size: 12, 40, 52, 56, 64, 108, 124 */
    unsigned bits, compression;
    bool top_down;
    uint32_t width, height;
    uint32_t masks[4];
    unsigned colours;      /* of the palette; entry i is bmp_palette_colour(i) */
    bool grey_palette;     /* entry i is grey i */
    const uint8_t *pixels; /* as the file has them */
    size_t n_pixels;       /* bytes of them */
};

void make_bmp(struct file *file, const struct bmp_kind *kind);
uint8_t bmp_palette_colour(unsigned index, unsigned channel);

struct tiff_kind {
    uint32_t width, height;
    unsigned samples, bits, format, photometric, compression, predictor; /* as tags have them */
    uint32_t tile; /* width and height of tiles; 0: strips of … */
    uint32_t rows; /* … so many rows; 0: all */
    bool apart, big, big_endian;
    unsigned orientation; /* 0: no tag */
    unsigned pages;       /* 0: one. The second one's name is no plane's. */
    bool metadata;        /* a profile, density, XMP and a maker */
};

/* Sample c of page p is noise_sample(x, y, c + p), its highest bits; floats and 32 bits have its
 * value. The palette is png_palette_colour. */
void make_tiff(struct file *file, const struct tiff_kind *kind);

struct webp_kind {
    uint32_t width, height;
    bool lossless, alpha;
    unsigned orientation; /* 0: no Exif, unless … */
    bool metadata;        /* … a profile, XMP and Exif */
};

/* ramp_sample. */
void make_webp(struct file *file, const struct webp_kind *kind);

/* An NPY of version `major`.0 with this dictionary, then the array's bytes. */
void make_npy(struct file *file, unsigned major, const char *dictionary, const void *data,
              size_t size);

/* A ZIP archive, stored or deflated, as numpy writes it: sizes of 64 bits in the local headers
 * where `zip64`, of 32 in the directory. */
struct zip_part {
    const char *name;
    const void *data;
    size_t size;
};
void make_zip(struct file *file, const struct zip_part *parts, size_t count, bool deflated,
              bool zip64);

/* One small file of every kind, all of them good; ends with a NULL name. */
struct sample_file {
    const char *name;
    void (*make)(struct file *file, unsigned variant);
    unsigned variant;
};
extern const struct sample_file sample_files[];

#endif
