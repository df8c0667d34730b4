/* The list of small good files. */
#include "files.h"

#include <stdio.h>

static const struct jpeg_kind jpegs[] = {
    {JPEG_GREY, 9, 9},
    {JPEG_YCC, 17, 11, .sampling = 2},
    {JPEG_YCC, 9, 9, .orientation = 6},
    {JPEG_RGB, 9, 8},
    {JPEG_CMYK, 9, 8},
    {JPEG_YCCK, 9, 8},
    {JPEG_YCC, 17, 17, .sampling = 2, .progressive = true},
    {JPEG_YCC, 10, 9, .arithmetic = true},
    {JPEG_GREY, 10, 9, .arithmetic = true, .progressive = true},
    {JPEG_YCC, 17, 17, .restarts = true, .orientation = 3},
    {JPEG_YCC, 9, 9, .separate_scans = true},
    {JPEG_YCC, 9, 9, .orientation = 8, .metadata = true},
};

static const struct png_kind pngs[] = {
    {0, 1, false, false, 11, 5},
    {0, 2, true, true, 9, 9},
    {0, 8, false, true, 5, 4},
    {0, 16, true, false, 9, 9},
    {2, 8, false, false, 5, 4, .orientation = 6},
    {2, 16, false, true, 3, 4},
    {3, 1, false, false, 9, 3},
    {3, 4, true, true, 9, 9},
    {3, 8, false, false, 4, 3, .palette_colours = 7},
    {4, 8, true, false, 9, 9, .orientation = 7, .exif_behind = true},
    {4, 16, false, false, 3, 3},
    {6, 8, false, false, 4, 3},
    {6, 16, true, false, 9, 9},
    {2, 8, false, false, 5, 4, .orientation = 3, .metadata = true},
};

static const uint8_t bmp_rows[] = {
    0x81, 0x42, 0x24, 0x18, 1, 2, 3, 0, 7, 6, 5, 4, 3, 2, 1, 0, 9, 8, 7, 6, 5, 4, 3, 2,
    0,    1,    2,    3,    4, 5, 6, 7, 0, 1, 2, 3, 4, 5, 6, 7, 0, 1, 2, 3, 4, 5, 6, 7,
};
static const uint8_t bmp_rle8[] = {3, 1, 0, 3, 2, 3, 4, 0, 0, 0, 1, 5, 0, 2, 2, 1, 2, 6, 0, 1};
static const uint8_t bmp_rle4[] = {5, 0x12, 0, 0, 0, 5, 0x34, 0x56, 0x70, 0,
                                   0, 0,    0, 2, 1, 0, 4,    0x9A, 0,    1};

static const struct bmp_kind bmps[] = {
    {40, 1, 0, false, 9, 3, .colours = 2, .pixels = bmp_rows, .n_pixels = 12},
    {40, 4, 0, true, 5, 3, .colours = 16, .pixels = bmp_rows, .n_pixels = 12},
    {12, 8, 0, false, 5, 3, .colours = 256, .pixels = bmp_rows, .n_pixels = 24},
    {40, 8, 0, false, 4, 3, .colours = 256, .grey_palette = true, .pixels = bmp_rows,
     .n_pixels = 12},
    {40, 16, 0, false, 3, 3, .pixels = bmp_rows, .n_pixels = 24},
    {40, 16, 3, false, 2, 3, .masks = {0xF800, 0x07E0, 0x001F}, .pixels = bmp_rows, .n_pixels = 12},
    {40, 24, 0, false, 3, 3, .pixels = bmp_rows, .n_pixels = 36},
    {40, 32, 0, false, 3, 3, .pixels = bmp_rows, .n_pixels = 36},
    {40, 32, 6, false, 3, 3, .masks = {0x3FF00000, 0x000FFC00, 0x000003FF, 0xC0000000},
     .pixels = bmp_rows, .n_pixels = 36},
    {124, 32, 3, true, 3, 3, .masks = {0xFF, 0xFF00, 0xFF0000, 0xFF000000}, .pixels = bmp_rows,
     .n_pixels = 36},
    {40, 8, 1, false, 6, 4, .colours = 8, .pixels = bmp_rle8, .n_pixels = sizeof bmp_rle8},
    {64, 4, 2, false, 6, 4, .colours = 16, .pixels = bmp_rle4, .n_pixels = sizeof bmp_rle4},
};

static const char *const pnms[] = {
    "P1\n# a comment\n5 2\n10110\n0 1 0 0 1\n",
    "P2 3 2 7\n0 1 2 3 # again\n4 5 6",
    "P3\n2 1\n255\n1 2 3 250 251 252\n",
    "P4 9 2\nabcd",
    "P5\n3 2\n255\nabcdef",
    "P5 2 2 65535\nabcdefgh",
    "P6 2 1 100\n\1\2\3\4\5\6",
};

static const struct {
    unsigned major;
    const char *dictionary;
    size_t bytes;
} npys[] = {
    {1, "{'descr': '|u1', 'fortran_order': False, 'shape': (3, 5), }", 15},
    {1, "{'descr': '>i2', 'fortran_order': False, 'shape': (5,), }", 10},
    {2, "{'descr': '<f4', 'fortran_order': True, 'shape': (2, 3, 3), }", 72},
    {3, "{\"shape\": (2, 2), 'fortran_order': True, 'descr': '>f8'}", 32},
    {1, "{'descr': '<i4', 'fortran_order': False, 'shape': (1, 2, 4)}", 32},
};

static void jpeg(struct file *file, unsigned variant)
{
    make_jpeg(file, &jpegs[variant]);
}

static void png(struct file *file, unsigned variant)
{
    make_png(file, &pngs[variant]);
}

static void bmp(struct file *file, unsigned variant)
{
    make_bmp(file, &bmps[variant]);
}

static void pnm(struct file *file, unsigned variant)
{
    file_put_text(file, pnms[variant]);
}

static void npy(struct file *file, unsigned variant)
{
    uint8_t bytes[128];
    for (unsigned i = 0; i < sizeof bytes; i++)
        bytes[i] = (uint8_t)noise_sample(i, variant, 0);
    make_npy(file, npys[variant].major, npys[variant].dictionary, bytes, npys[variant].bytes);
}

static const char npz_meta[] =
    "{\"version\": 1, \"planes\": [{\"name\": \"b\", \"width\": 2, \"height\": 3, \"channels\": 1, "
    "\"type\": \"i16\", \"zero_x\": -1, \"zero_y\": 4}, {\"name\": \"\", \"width\": 3, "
    "\"height\": 1, \"channels\": 2, \"type\": \"u8\", \"zero_x\": 0, \"zero_y\": 0}], "
    "\"origins\": [{\"stage\": \"dwt\", \"parameters\": \":levels=1\", \"first\": 0, \"count\": 1, "
    "\"plane\": {\"name\": \"\", \"width\": 5, \"height\": 7, \"channels\": 1, \"type\": \"u8\", "
    "\"zero_x\": 0, \"zero_y\": 0}}]}";

/* Bit 0: deflated, bit 1: sizes of 64 bits, bit 2: with meta.json. */
static void npz(struct file *file, unsigned variant)
{
    struct file image = {0}, b = {0};
    uint8_t bytes[12];
    for (unsigned i = 0; i < sizeof bytes; i++)
        bytes[i] = (uint8_t)noise_sample(i, variant, 1);
    make_npy(&image, 1, "{'descr': '|u1', 'fortran_order': False, 'shape': (1, 3, 2), }", bytes, 6);
    make_npy(&b, 1, "{'descr': '>i2', 'fortran_order': True, 'shape': (3, 2), }", bytes, 12);
    const struct zip_part parts[] = {{"image.npy", image.data, image.size},
                                     {"b.npy", b.data, b.size},
                                     {"meta.json", npz_meta, sizeof npz_meta - 1}};
    make_zip(file, parts, variant & 4 ? 3 : 2, variant & 1, variant & 2);
    file_finish(&image);
    file_finish(&b);
}

#ifdef SLUICE_TIFF
/* tag values of TIFF 6.0: 1 grey, 0 white is zero, 2 RGB, 3 palette, 5 inks, 6 YCbCr */
static const struct tiff_kind tiffs[] = {
    {9, 5, 1, 1, .photometric = 0, .compression = 4},
    {5, 4, 1, 8, .photometric = 1, .rows = 2},
    {5, 4, 3, 8, .photometric = 2, .compression = 5, .predictor = 2, .big_endian = true},
    {5, 4, 4, 16, .photometric = 2, .compression = 8, .apart = true},
    {5, 4, 1, 4, .photometric = 3, .compression = 32773},
    {5, 4, 4, 8, .photometric = 5, .orientation = 6},
    {18, 5, 1, 16, .format = 2, .photometric = 1, .tile = 16, .big = true},
    {5, 4, 1, 32, .format = 3, .photometric = 1, .compression = 8, .predictor = 3},
    {5, 4, 2, 12, .photometric = 1, .orientation = 3},
    {3, 4, 1, 64, .format = 3, .photometric = 1},
    {3, 4, 3, 8, .photometric = 2, .metadata = true, .orientation = 8},
    {4, 4, 3, 8, .photometric = 8},
};

static void tiff(struct file *file, unsigned variant)
{
    make_tiff(file, &tiffs[variant]);
}
#endif

#ifdef SLUICE_WEBP
static const struct webp_kind webps[] = {
    {9, 5},
    {9, 5, .alpha = true},
    {9, 5, .lossless = true},
    {9, 5, .lossless = true, .alpha = true},
    {9, 5, .orientation = 6},
    {9, 5, .lossless = true, .orientation = 3, .metadata = true},
};

static void webp(struct file *file, unsigned variant)
{
    make_webp(file, &webps[variant]);
}
#endif

const struct sample_file sample_files[] = {
    {"grey.jpg", jpeg, 0},
    {"ycc420.jpg", jpeg, 1},
    {"turned.jpg", jpeg, 2},
    {"rgb.jpg", jpeg, 3},
    {"cmyk.jpg", jpeg, 4},
    {"ycck.jpg", jpeg, 5},
    {"progressive.jpg", jpeg, 6},
    {"arithmetic.jpg", jpeg, 7},
    {"arithmetic2.jpg", jpeg, 8},
    {"restarts.jpg", jpeg, 9},
    {"scans.jpg", jpeg, 10},
    {"metadata.jpg", jpeg, 11},
    {"grey1.png", png, 0},
    {"grey2.png", png, 1},
    {"grey8.png", png, 2},
    {"grey16.png", png, 3},
    {"rgb8.png", png, 4},
    {"rgb16.png", png, 5},
    {"palette1.png", png, 6},
    {"palette4.png", png, 7},
    {"palette8.png", png, 8},
    {"greya8.png", png, 9},
    {"greya16.png", png, 10},
    {"rgba8.png", png, 11},
    {"rgba16.png", png, 12},
    {"metadata.png", png, 13},
    {"1.bmp", bmp, 0},
    {"4.bmp", bmp, 1},
    {"core8.bmp", bmp, 2},
    {"grey8.bmp", bmp, 3},
    {"555.bmp", bmp, 4},
    {"565.bmp", bmp, 5},
    {"24.bmp", bmp, 6},
    {"32.bmp", bmp, 7},
    {"101010.bmp", bmp, 8},
    {"v5.bmp", bmp, 9},
    {"rle8.bmp", bmp, 10},
    {"rle4.bmp", bmp, 11},
#ifdef SLUICE_TIFF
    {"fax.tif", tiff, 0},
    {"grey8.tif", tiff, 1},
    {"lzw.tif", tiff, 2},
    {"apart16.tif", tiff, 3},
    {"palette4.tif", tiff, 4},
    {"inks.tif", tiff, 5},
    {"tiles.tif", tiff, 6},
    {"f32.tif", tiff, 7},
    {"12bits.tif", tiff, 8},
    {"f64.tif", tiff, 9},
    {"metadata.tif", tiff, 10},
    {"lab.tif", tiff, 11},
#endif
#ifdef SLUICE_WEBP
    {"lossy.webp", webp, 0},
    {"lossy-alpha.webp", webp, 1},
    {"lossless.webp", webp, 2},
    {"lossless-alpha.webp", webp, 3},
    {"turned.webp", webp, 4},
    {"metadata.webp", webp, 5},
#endif
    {"p1.pbm", pnm, 0},
    {"p2.pgm", pnm, 1},
    {"p3.ppm", pnm, 2},
    {"p4.pbm", pnm, 3},
    {"p5.pgm", pnm, 4},
    {"p5-16.pgm", pnm, 5},
    {"p6.ppm", pnm, 6},
    {"u1.npy", npy, 0},
    {"i2.npy", npy, 1},
    {"f4.npy", npy, 2},
    {"f8.npy", npy, 3},
    {"i4.npy", npy, 4},
    {"savez.npz", npz, 2},
    {"savez-small.npz", npz, 3},
    {"meta.npz", npz, 4},
    {"meta-small.npz", npz, 7},
    {0},
};
