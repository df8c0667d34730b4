/* The JPEG encoder, by libjpeg: rows come directly from the plane, bytes go to an output. */
#include "codec/jpeg.h"

#include <stdlib.h>
#include <string.h>

#include "codec/output.h"

/* The lowest quality at which chroma is not subsampled, as in vips and ImageMagick. */
#define FULL_COLOUR_QUALITY 90

#define ROWS_AT_ONCE 16

static void begin_output(j_compress_ptr info)
{
    struct jpeg_writer *w = info->client_data;
    w->destination.next_output_byte = w->buffer;
    w->destination.free_in_buffer = sizeof w->buffer;
}

/* libjpeg calls this when the whole buffer is full, whatever free_in_buffer says (libjpeg.txt,
 * "Compressed data handling"). Fails as soon as the disk is full, not after the whole picture was
 * encoded. */
static boolean empty_output(j_compress_ptr info)
{
    struct jpeg_writer *w = info->client_data;
    output_write(w->encoder->output, w->buffer, sizeof w->buffer);
    if (w->encoder->output->fault.code)
        jpeg_fail(&w->errors, w->encoder->output->fault.code, w->encoder->output->fault.text);
    begin_output(info);
    return TRUE;
}

static void end_output(j_compress_ptr info)
{
    struct jpeg_writer *w = info->client_data;
    output_write(w->encoder->output, w->buffer, sizeof w->buffer - w->destination.free_in_buffer);
}

static void configure(struct jpeg_writer *w, const struct plane *plane)
{
    const struct jpeg_config *config = w->encoder->config;
    struct jpeg_compress_struct *info = &w->info;
    info->image_width = plane->width;
    info->image_height = plane->height;
    info->input_components = (int)plane->channels;
    info->in_color_space = plane->channels == 1 ? JCS_GRAYSCALE : JCS_RGB;
    jpeg_set_defaults(info);
    jpeg_set_quality(info, (int)config->quality, TRUE);
    if (config->quality >= FULL_COLOUR_QUALITY)
        info->comp_info[0].h_samp_factor = info->comp_info[0].v_samp_factor = 1;
    if (config->progressive)
        jpeg_simple_progression(info);
}

/* Writes a segment of `head` and the block; nothing if they are too long for one. */
static void write_segment(struct jpeg_writer *w, int marker, const void *head, size_t head_size,
                          const struct metadata_block *block)
{
    if (!block->data || head_size + block->size > JPEG_MARKER_MAX)
        return;
    jpeg_write_m_header(&w->info, marker, (unsigned)(head_size + block->size));
    for (size_t i = 0; i < head_size; i++)
        jpeg_write_m_byte(&w->info, ((const uint8_t *)head)[i]);
    for (size_t i = 0; i < block->size; i++)
        jpeg_write_m_byte(&w->info, block->data[i]);
}

static void set_density(struct jpeg_compress_struct *info, const struct metadata *metadata)
{
    enum density_unit unit =
        metadata->density_unit == DENSITY_METRE ? DENSITY_INCH : metadata->density_unit;
    uint32_t x = metadata_density(metadata, metadata->density_x, unit);
    uint32_t y = metadata_density(metadata, metadata->density_y, unit);
    if (x == 0 || y == 0 || x > UINT16_MAX || y > UINT16_MAX)
        return;
    info->density_unit = (UINT8)unit;
    info->X_density = (UINT16)x;
    info->Y_density = (UINT16)y;
}

static void begin_picture(struct jpeg_writer *w, const struct plane *plane)
{
    struct jpeg_compress_struct *info = &w->info;
    const struct metadata *metadata = w->encoder->output->metadata;
    jpeg_CreateCompress(info, JPEG_LIB_VERSION, sizeof *info);
    info->client_data = w;
    info->dest = &w->destination;
    configure(w, plane);
    if (metadata)
        set_density(info, metadata);
    /* libjpeg copies greys byte by byte, unless it gets rows of whole blocks. */
    if (plane->channels == 1 && plane->width % DCTSIZE == 0)
        w->left = malloc((DCTSIZE - 1) * (size_t)plane->width);
    info->raw_data_in = w->left != NULL;
    jpeg_start_compress(info, TRUE);
    if (metadata) {
        struct metadata_block icc = metadata_profile(metadata, plane->channels);
        write_segment(w, JPEG_APP0 + 1, "Exif\0", 6, &metadata->exif);
        write_segment(w, JPEG_APP0 + 1, JPEG_XMP, sizeof JPEG_XMP, &metadata->xmp);
        if (icc.data)
            jpeg_write_icc_profile(info, icc.data, (unsigned)icc.size);
    }
}

/* Behind the last row that one is repeated, as libjpeg does. */
static void write_blocks(struct jpeg_writer *w)
{
    const struct plane *plane = &w->picture->frame.planes[w->encoder->plane];
    uint32_t width = plane->width, y = w->encoder->row, last = plane->height - 1;
    while (y < w->end) {
        JSAMPROW rows[DCTSIZE];
        JSAMPARRAY planes[] = {rows};
        uint32_t left = w->n_left;
        for (uint32_t i = 0; i < DCTSIZE; i++)
            rows[i] = i < left ? w->left + i * width
                               : picture_row(w->picture, w->encoder->plane,
                                             y + i - left < last ? y + i - left : last);
        if (w->end - y < DCTSIZE - left && w->end <= last) {
            for (; y < w->end; y++, w->n_left++)
                memcpy(w->left + w->n_left * width, rows[w->n_left], width);
            return;
        }
        jpeg_write_raw_data(&w->info, planes, DCTSIZE);
        y += DCTSIZE - left;
        w->n_left = 0;
    }
}

static void write_rows(void *context)
{
    struct jpeg_writer *w = context;
    struct jpeg_compress_struct *info = &w->info;
    size_t plane = w->encoder->plane;
    JSAMPROW rows[ROWS_AT_ONCE];
    if (w->encoder->row == 0)
        begin_picture(w, &w->picture->frame.planes[plane]);
    if (w->left)
        write_blocks(w);
    while (info->next_scanline < w->end && !w->left) {
        uint32_t y = info->next_scanline, n = 0;
        while (n < ROWS_AT_ONCE && y + n < w->end) {
            rows[n] = picture_row(w->picture, plane, y + n);
            n++;
        }
        jpeg_write_scanlines(info, rows, n);
    }
    if (w->end == info->image_height)
        jpeg_finish_compress(info);
}

int jpeg_encode(struct encoder *encoder, const struct picture *picture, uint32_t end,
                struct fault *fault)
{
    struct jpeg_writer *w = encoder->state;
    w->encoder = encoder;
    w->picture = picture;
    w->end = end;
    if (encoder->row == 0) {
        jpeg_errors_init(&w->errors);
        w->info.err = &w->errors.manager;
        w->destination = (struct jpeg_destination_mgr){.init_destination = begin_output,
                                                       .empty_output_buffer = empty_output,
                                                       .term_destination = end_output};
    }
    return jpeg_attempt(&w->errors, write_rows, w, fault);
}

void jpeg_encode_close(struct encoder *encoder)
{
    struct jpeg_writer *w = encoder->state;
    jpeg_destroy_compress(&w->info); /* accepts one that was never created */
    free(w->left);
}
