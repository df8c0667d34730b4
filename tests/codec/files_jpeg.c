#include "files.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <jpeglib.h>

/* Three scans, a component each, as few encoders write them. */
static const jpeg_scan_info separate[] = {
    {.comps_in_scan = 1, .component_index = {0}, .Se = 63},
    {.comps_in_scan = 1, .component_index = {1}, .Se = 63},
    {.comps_in_scan = 1, .component_index = {2}, .Se = 63},
};

/* Each may be repeated without libjpeg finding anything odd in it. */
static const jpeg_scan_info repeatable[] = {
    {.comps_in_scan = 1, .component_index = {0}, .Ss = 0, .Se = 0},
    {.comps_in_scan = 1, .component_index = {0}, .Ss = 1, .Se = 63},
};

static void choose_colours(struct jpeg_compress_struct *info, const struct jpeg_kind *kind)
{
    static const struct {
        J_COLOR_SPACE in, stored;
        int components;
    } spaces[] = {
        [JPEG_GREY] = {JCS_GRAYSCALE, JCS_GRAYSCALE, 1},
        [JPEG_YCC] = {JCS_RGB, JCS_YCbCr, 3},
        [JPEG_RGB] = {JCS_RGB, JCS_RGB, 3},
        [JPEG_CMYK] = {JCS_CMYK, JCS_CMYK, 4},
        [JPEG_YCCK] = {JCS_CMYK, JCS_YCCK, 4},
    };
    info->in_color_space = spaces[kind->colours].in;
    info->input_components = spaces[kind->colours].components;
    jpeg_set_defaults(info);
    jpeg_set_colorspace(info, spaces[kind->colours].stored);
    int sampling = kind->sampling ? kind->sampling : 1;
    info->comp_info[0].h_samp_factor = info->comp_info[0].v_samp_factor = sampling;
    if (kind->no_adobe)
        info->write_Adobe_marker = FALSE;
}

static void configure(struct jpeg_compress_struct *info, const struct jpeg_kind *kind)
{
    info->image_width = kind->width;
    info->image_height = kind->height;
    choose_colours(info, kind);
    jpeg_set_quality(info, kind->quality ? kind->quality : 100, TRUE);
    info->arith_code = kind->arithmetic;
    if (kind->progressive)
        jpeg_simple_progression(info);
    if (kind->restarts)
        info->restart_in_rows = 1;
    if (kind->separate_scans) {
        info->scan_info = separate;
        info->num_scans = 3;
    }
    if (kind->extra_scans) {
        info->scan_info = repeatable;
        info->num_scans = 2;
    }
}

/* Puts copies of the last scan in front of EOI. */
static void repeat_last_scan(struct file *file, unsigned times)
{
    size_t scan = file->size;
    do
        scan--;
    while (file->data[scan] != 0xFF || file->data[scan + 1] != 0xDA);
    size_t size = file->size - 2 - scan;
    uint8_t *copy = malloc(size);
    if (!copy)
        abort();
    memcpy(copy, file->data + scan, size);
    file->size -= 2;
    while (times--)
        file_put(file, copy, size);
    file_put(file, "\xFF\xD9", 2);
    free(copy);
}

void make_jpeg(struct file *file, const struct jpeg_kind *kind)
{
    struct jpeg_compress_struct info;
    struct jpeg_error_mgr errors;
    unsigned char *data = NULL;
    unsigned long size = 0;
    JSAMPLE line[4 * 4096];
    JSAMPROW row = line;
    info.err = jpeg_std_error(&errors);
    jpeg_create_compress(&info);
    jpeg_mem_dest(&info, &data, &size);
    configure(&info, kind);
    jpeg_start_compress(&info, TRUE);
    if (kind->orientation) {
        struct file exif = {0};
        make_exif(&exif, kind->orientation, kind->orientation & 1, true);
        jpeg_write_marker(&info, JPEG_APP0 + 1, exif.data, (unsigned)exif.size);
        file_finish(&exif);
    }
    for (uint32_t y = 0; y < kind->height; y++) {
        for (uint32_t x = 0; x < kind->width; x++)
            for (int c = 0; c < info.input_components; c++)
                line[x * (uint32_t)info.input_components + (uint32_t)c] =
                    kind->flat ? 128 : ramp_sample(x, y, (uint32_t)c);
        jpeg_write_scanlines(&info, &row, 1);
    }
    jpeg_finish_compress(&info);
    jpeg_destroy_compress(&info);
    file_put(file, data, size);
    free(data);
    if (kind->extra_scans)
        repeat_last_scan(file, kind->extra_scans);
}
