/* The rows of a JPEG, behind its header. */
#include "codec/jpeg.h"

#include <limits.h>
#include <stdlib.h>

/* R = (255 − C)·(255 − K) / 255, and G and B likewise. Adobe's programs store inverted values, 255
 * for no ink, and only their marker tells (libjpeg.txt, "Special color spaces"). */
static void cmyk_to_rgb(const uint8_t *cmyk, uint8_t *rgb, uint32_t width, bool inverted)
{
    uint8_t invert = inverted ? 0 : 255;
    for (uint32_t x = 0; x < width; x++, cmyk += 4, rgb += 3) {
        uint32_t white = cmyk[3] ^ invert;
        for (int c = 0; c < 3; c++)
            rgb[c] = (uint8_t)(((cmyk[c] ^ invert) * white + 127) / 255);
    }
}

static void read_rows(void *context)
{
    struct jpeg_reader *r = context;
    struct jpeg_decompress_struct *info = &r->info;
    jpeg_start_decompress(info);
    while (info->output_scanline < info->output_height) {
        uint32_t y = info->output_scanline;
        uint8_t *target = orient_row(&r->place, y);
        JSAMPROW row = r->cmyk_row ? r->cmyk_row : target;
        jpeg_read_scanlines(info, &row, 1);
        if (r->cmyk_row)
            cmyk_to_rgb(r->cmyk_row, target, info->output_width, info->saw_Adobe_marker);
        orient_done(&r->place, y);
    }
    jpeg_finish_decompress(info); /* reads up to EOI; without one the file counts as truncated */
}

int jpeg_read(struct decoder *d, struct picture *into, struct fault *fault)
{
    struct jpeg_reader *r = d->state;
    uint64_t memory = d->limits.memory;
    r->decoder = d;
    r->partial = d->options.partial;
    /* Overrides the environment variable JPEGMEM. */
    r->info.mem->max_memory_to_use = memory < LONG_MAX ? (long)memory : LONG_MAX;
    if (jpeg_is_cmyk(r)) {
        r->cmyk_row = malloc(4 * (size_t)r->info.image_width);
        if (!r->cmyk_row)
            return fault_set(fault, FAULT_MEMORY, "no memory for a row");
    }
    int result = orient_begin(&r->place, r->orientation, into, false, fault);
    if (result == 0)
        result = jpeg_attempt(&r->errors, read_rows, r, fault);
    orient_finish(&r->place);
    return result;
}
