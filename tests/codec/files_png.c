#include "files.h"

#include <stdlib.h>
#include <string.h>

#include <png.h>
#include <zlib.h>

#define WIDTH_MAX 4096

uint8_t png_palette_colour(unsigned index, unsigned channel)
{
    return (uint8_t)(index * 37 + channel * 89 + 11);
}

uint8_t png_palette_alpha(unsigned index)
{
    return (uint8_t)(255 - index * 3);
}

static void put(png_structp png, png_bytep data, size_t size)
{
    file_put(png_get_io_ptr(png), data, size);
}

static void flush(png_structp png)
{
    (void)png;
}

static unsigned channels_of(const struct png_kind *kind)
{
    switch (kind->colour_type) {
    case PNG_COLOR_TYPE_GRAY_ALPHA:
        return 2;
    case PNG_COLOR_TYPE_RGB:
        return 3;
    case PNG_COLOR_TYPE_RGB_ALPHA:
        return 4;
    default:
        return 1;
    }
}

static unsigned colours_of(const struct png_kind *kind)
{
    return kind->palette_colours ? kind->palette_colours : 1u << kind->depth;
}

static uint16_t value_at(const struct png_kind *kind, uint32_t x, uint32_t y, unsigned c)
{
    unsigned v = noise_sample(x, y, c) >> (16 - kind->depth);
    return (uint16_t)(kind->colour_type == PNG_COLOR_TYPE_PALETTE ? v % colours_of(kind) : v);
}

static void set_palette(png_structp png, png_infop info, const struct png_kind *kind)
{
    png_color colours[256];
    png_byte alpha[256];
    unsigned n = colours_of(kind);
    for (unsigned i = 0; i < n; i++) {
        colours[i] = (png_color){png_palette_colour(i, 0), png_palette_colour(i, 1),
                                 png_palette_colour(i, 2)};
        alpha[i] = png_palette_alpha(i);
    }
    png_set_PLTE(png, info, colours, (int)n);
    if (kind->transparent)
        png_set_tRNS(png, info, alpha, (int)(n / 2), NULL);
}

static void set_transparent_colour(png_structp png, png_infop info, const struct png_kind *kind)
{
    png_color_16 colour = {.gray = value_at(kind, 0, 0, 0),
                           .red = value_at(kind, 0, 0, 0),
                           .green = value_at(kind, 0, 0, 1),
                           .blue = value_at(kind, 0, 0, 2)};
    png_set_tRNS(png, info, NULL, 0, &colour);
}

static void make_row(const struct png_kind *kind, uint32_t y, uint8_t *row)
{
    unsigned channels = channels_of(kind), depth = (unsigned)kind->depth;
    memset(row, 0, WIDTH_MAX);
    for (uint32_t i = 0; i < kind->width * channels; i++) {
        unsigned v = value_at(kind, i / channels, y, i % channels);
        if (depth == 16) {
            row[2 * i] = (uint8_t)(v >> 8);
            row[2 * i + 1] = (uint8_t)v;
        } else {
            row[i * depth / 8] |= (uint8_t)(v << (8 - depth - i * depth % 8));
        }
    }
}

static void write_exif(png_structp png, unsigned orientation)
{
    struct file exif = {0};
    make_exif(&exif, orientation, orientation & 1, false);
    png_write_chunk(png, (png_const_bytep) "eXIf", exif.data, exif.size);
    file_finish(&exif);
}

static void write_metadata(png_structp png)
{
    static const char xmp[] = "XML:com.adobe.xmp\0\0\0\0\0<x:xmpmeta/>";
    static const png_byte density[9] = {0, 0, 11, 19, 0, 0, 11, 19, 1};
    uint8_t profile[PROFILE_SIZE], deflated[3 + 2 * PROFILE_SIZE] = "p";
    uLongf size = sizeof deflated - 3;
    make_profile(profile);
    if (compress(deflated + 3, &size, profile, sizeof profile) != Z_OK)
        abort();
    png_write_chunk(png, (png_const_bytep) "iCCP", deflated, 3 + size);
    png_write_chunk(png, (png_const_bytep) "pHYs", density, sizeof density);
    png_write_chunk(png, (png_const_bytep) "iTXt", (png_const_bytep)xmp, sizeof xmp - 1);
}

void make_png(struct file *file, const struct png_kind *kind)
{
    static uint8_t row[WIDTH_MAX];
    png_structp png = png_create_write_struct(PNG_LIBPNG_VER_STRING, NULL, NULL, NULL);
    png_infop info = png_create_info_struct(png);
    png_set_write_fn(png, file, put, flush);
    png_set_IHDR(png, info, kind->width, kind->height, kind->depth, kind->colour_type,
                 kind->interlaced ? PNG_INTERLACE_ADAM7 : PNG_INTERLACE_NONE,
                 PNG_COMPRESSION_TYPE_DEFAULT, PNG_FILTER_TYPE_DEFAULT);
    if (kind->colour_type == PNG_COLOR_TYPE_PALETTE)
        set_palette(png, info, kind);
    else if (kind->transparent)
        set_transparent_colour(png, info, kind);
    png_write_info(png, info);
    if (kind->orientation && !kind->exif_behind)
        write_exif(png, kind->orientation);
    if (kind->metadata)
        write_metadata(png);
    int passes = png_set_interlace_handling(png);
    for (int pass = 0; pass < passes; pass++) {
        for (uint32_t y = 0; y < kind->height; y++) {
            make_row(kind, y, row);
            png_write_row(png, row);
        }
    }
    if (kind->orientation && kind->exif_behind)
        write_exif(png, kind->orientation);
    png_write_end(png, NULL);
    png_destroy_write_struct(&png, &info);
}
