/* The PNG encoder, by libpng: rows come directly from the plane, bytes go to an output. */
#include "codec/png.h"

#include <stdlib.h>

#include "codec/fit.h"
#include "codec/output.h"

#define PIECE 65536

struct png_writer {
    struct png_errors errors;
    png_structp png;
    png_infop info;
    const struct png_config *config;
    const struct picture *picture;
    size_t plane;
    struct output *output;
    uint8_t *bits; /* owned: a row of a bitmap */
};

/* Fails as soon as the disk is full, not after the whole picture was compressed. */
static void write_bytes(png_structp png, png_bytep data, size_t size)
{
    struct png_writer *w = png_get_io_ptr(png);
    output_write(w->output, data, size);
    if (w->output->fault.code)
        png_fail(&w->errors, w->output->fault.code, w->output->fault.text);
}

static void flush(png_structp png)
{
    (void)png; /* the engine calls output_flush */
}

/* From level 2 on zlib's level, with the best of all filters for each row. */
static void choose_effort(png_structp png, int level)
{
    png_set_compression_level(png, level);
    png_set_filter(png, PNG_FILTER_TYPE_BASE, level == 0 ? PNG_FILTER_NONE : PNG_ALL_FILTERS);
}

static void configure(struct png_writer *w)
{
    static const int colours[] = {[1] = PNG_COLOR_TYPE_GRAY,
                                  [2] = PNG_COLOR_TYPE_GRAY_ALPHA,
                                  [3] = PNG_COLOR_TYPE_RGB,
                                  [4] = PNG_COLOR_TYPE_RGB_ALPHA};
    const struct plane *plane = &w->picture->frame.planes[w->plane];
    int depth = w->config->bits == 1 ? 1 : (int)sample_size(plane->type) * 8;
    png_set_user_limits(w->png, INT32_MAX, INT32_MAX);
    png_set_IHDR(w->png, w->info, plane->width, plane->height, depth, colours[plane->channels],
                 PNG_INTERLACE_NONE, PNG_COMPRESSION_TYPE_DEFAULT, PNG_FILTER_TYPE_DEFAULT);
    png_set_compression_buffer_size(w->png, PIECE);
    choose_effort(w->png, (int)w->config->level);
}

static void write_picture(void *context)
{
    struct png_writer *w = context;
    const struct plane *plane = &w->picture->frame.planes[w->plane];
    w->png = png_create(&w->errors, false);
    w->info = w->png ? png_create_info_struct(w->png) : NULL;
    if (!w->info)
        png_fail(&w->errors, FAULT_MEMORY, "no memory for an encoder");
    png_set_write_fn(w->png, w, write_bytes, flush);
    configure(w);
    png_write_info(w->png, w->info);
    if (w->output->metadata)
        png_write_metadata(w->output->metadata, plane->channels, w->output);
    png_use_host_order(w->png, png_get_bit_depth(w->png, w->info));
    for (uint32_t y = 0; y < plane->height; y++) {
        if (w->bits)
            fit_bits(w->picture, w->plane, y, false, w->bits);
        png_write_row(w->png, w->bits ? w->bits : picture_row(w->picture, w->plane, y));
    }
    png_write_end(w->png, NULL);
}

int png_encode(const void *config, const struct picture *picture, size_t plane,
               struct output *output, struct fault *fault)
{
    const struct png_config *c = config;
    if (c->level == 1 && c->bits != 1)
        return png_encode_fast(picture, plane, output, fault);
    int result = c->bits == 1 ? fit_check_bits("png:bits=1", picture, plane, fault) : 0;
    if (result != 0)
        return result;
    struct png_writer *w = calloc(1, sizeof *w);
    if (!w)
        return fault_set(fault, FAULT_MEMORY, "no memory for an encoder");
    if (c->bits == 1 && !(w->bits = malloc(picture->frame.planes[plane].width / 8 + 1))) {
        free(w);
        return fault_set(fault, FAULT_MEMORY, "no memory for an encoder");
    }
    w->config = c;
    w->picture = picture;
    w->plane = plane;
    w->output = output;
    result = png_attempt(&w->errors, write_picture, w, fault);
    if (w->png)
        png_destroy_write_struct(&w->png, &w->info);
    free(w->bits);
    free(w);
    return result;
}
