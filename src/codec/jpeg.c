/* JPEG (ITU-T T.81) by libjpeg-turbo's libjpeg interface: grey, YCbCr, RGB, CMYK and YCCK of 8
 * bits; baseline, progressive and arithmetic. What libjpeg warns of is a warning here, and an error
 * with `strict`. A file that ends early is an error unless `partial` asks for what there is.
 *
 * Bounds: the header tells the size before memory is taken; a picture in many scans needs its
 * coefficients whole, which working_memory counts and max_memory_to_use holds libjpeg to; and the
 * scans themselves are counted, for each costs the time of a whole picture. */
#include "codec/jpeg.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "base/deadline.h"
#include "codec/byte_order.h"
#include "codec/exif.h"
#include "codec/fit.h"
#include "codec/orient.h"

#include <jerror.h>

#define SCANS_MAX 100

/* Tables, Huffman states and pools of libjpeg, whatever the picture. */
#define FIXED_MEMORY (256 << 10)

#define MARKER_SOS  0xDA
#define MARKER_RST0 0xD0
#define MARKER_RST7 0xD7
#define MARKER_TEM  0x01

struct jpeg_reader {
    struct decoder *decoder; /* borrowed */
    struct jpeg_decompress_struct info;
    struct jpeg_errors errors;
    struct jpeg_source_mgr source;
    struct jpeg_progress_mgr progress;
    bool partial; /* past the header: the end of the data ends the picture */
    bool ended;   /* the data are used up; what libjpeg warns of from here on follows from that */
    bool has_exif;
    unsigned orientation;
    struct orient place;
    uint8_t *ink_row; /* owned; CMYK before it becomes RGB */
};

static bool probe(const uint8_t *data, size_t size)
{
    return size >= 2 && data[0] == 0xFF && data[1] == 0xD8 && (size == 2 || data[2] == 0xFF);
}

static struct jpeg_reader *reader_of(j_decompress_ptr info)
{
    return info->client_data;
}

static void fail_truncated(struct jpeg_reader *r)
{
    jpeg_fail(&r->errors, FAULT_TRUNCATED, "truncated jpeg: the file ends before its picture does");
}

/* The whole file is in memory, so being asked for more means that it ends too early. */
static boolean fill_input(j_decompress_ptr info)
{
    static const JOCTET end[] = {0xFF, JPEG_EOI};
    struct jpeg_reader *r = reader_of(info);
    if (!r->partial)
        fail_truncated(r);
    r->ended = true;
    r->source.next_input_byte = end;
    r->source.bytes_in_buffer = sizeof end;
    return TRUE;
}

static void skip_input(j_decompress_ptr info, long count)
{
    struct jpeg_reader *r = reader_of(info);
    if (count <= 0)
        return;
    if ((size_t)count > r->source.bytes_in_buffer) {
        fill_input(info);
        return;
    }
    r->source.next_input_byte += count;
    r->source.bytes_in_buffer -= (size_t)count;
}

static void no_source_work(j_decompress_ptr info)
{
    (void)info;
}

/* libjpeg has met the end of the picture while it still needs data. Huffman coding warns of that;
 * arithmetic coding goes on with zeros, as it may, until a code is none. */
static bool ends_early(const struct jpeg_reader *r)
{
    int message = r->errors.manager.msg_code;
    return r->info.unread_marker == JPEG_EOI &&
           (message == JWRN_HIT_MARKER || message == JWRN_ARITH_BAD_CODE);
}

/* Writers that were cut short put an EOI all the same: that is an early end, too, not damage. */
static void warn(j_common_ptr common, int level)
{
    struct jpeg_reader *r = reader_of((j_decompress_ptr)common);
    char message[JMSG_LENGTH_MAX];
    if (level >= 0 || r->ended)
        return;
    if (ends_early(r)) {
        if (!r->partial)
            fail_truncated(r);
        r->ended = true;
        return;
    }
    if (r->decoder->options.strict)
        jpeg_fail_with_message(common);
    common->err->format_message(common, message);
    decoder_warn(r->decoder, NULL, "%s", message);
}

/* Called for every few rows of every scan. */
static void on_progress(j_common_ptr common)
{
    struct jpeg_reader *r = reader_of((j_decompress_ptr)common);
    if (deadline_check(r->errors.fault) != 0)
        jpeg_fail(&r->errors, FAULT_TIME, "");
    if (r->info.input_scan_number > SCANS_MAX)
        jpeg_fail(&r->errors, FAULT_LIMIT,
                  "a jpeg of more than 100 scans, which none is read with");
}

/* Looks at APP1 where it lies, in place of having libjpeg keep copies: the first Exif counts. */
static boolean read_app1(j_decompress_ptr info)
{
    struct jpeg_reader *r = reader_of(info);
    const uint8_t *at = r->source.next_input_byte;
    size_t have = r->source.bytes_in_buffer;
    size_t length = have >= 2 ? load_be16(at) : 2;
    if (length < 2)
        ERREXIT(info, JERR_BAD_LENGTH);
    if (have >= length && !r->has_exif && length >= 8 && memcmp(at + 2, "Exif\0", 5) == 0) {
        r->has_exif = true;
        r->orientation = exif_orientation(at + 2, length - 2);
    }
    skip_input(info, (long)length);
    return TRUE;
}

/* Where a scan's coded data end: at the next marker that is none of theirs. */
static size_t skip_scan(const uint8_t *data, size_t size, size_t at)
{
    while (at < size) {
        const uint8_t *found = memchr(data + at, 0xFF, size - at);
        at = found ? (size_t)(found - data) : size;
        if (at + 1 >= size)
            return size;
        uint8_t next = data[at + 1];
        if (next != 0 && next != 0xFF && !(next >= MARKER_RST0 && next <= MARKER_RST7))
            return at;
        at += next == 0xFF ? 1 : 2;
    }
    return size;
}

/* How much of a cut file is of use: libjpeg takes an end within coded data well, but not within a
 * marker segment. T.81 Annex B.1.1. */
static size_t usable_size(const uint8_t *data, size_t size)
{
    size_t at = 2;
    while (at + 2 <= size) {
        uint8_t marker = data[at + 1];
        if (data[at] != 0xFF || marker == JPEG_EOI)
            return size; /* libjpeg will say what it thinks of it */
        if (marker == 0xFF) {
            at++;
            continue;
        }
        if (marker == MARKER_TEM || (marker >= MARKER_RST0 && marker <= MARKER_RST7)) {
            at += 2;
            continue;
        }
        if (size - at < 4)
            return at;
        size_t length = load_be16(data + at + 2);
        if (size - at - 2 < length)
            return at;
        at += 2 + length;
        if (marker == MARKER_SOS)
            at = skip_scan(data, size, at);
    }
    return at < size ? at : size;
}

static void read_header(void *context)
{
    struct jpeg_reader *r = context;
    jpeg_CreateDecompress(&r->info, JPEG_LIB_VERSION, sizeof r->info);
    r->info.client_data = r;
    r->info.src = &r->source;
    r->info.progress = &r->progress;
    jpeg_set_marker_processor(&r->info, JPEG_APP0 + 1, read_app1);
    jpeg_read_header(&r->info, TRUE);
}

static uint64_t round_up(uint64_t value, uint64_t unit)
{
    return (value + unit - 1) / unit * unit;
}

/* What libjpeg will allocate: all coefficients of a picture in several scans, and the rows of a few
 * MCUs before and after upsampling. */
static uint64_t library_memory(struct jpeg_decompress_struct *info)
{
    uint64_t coefficients = 0, rows = 0;
    for (int i = 0; i < info->num_components; i++) {
        const jpeg_component_info *c = &info->comp_info[i];
        uint64_t width = round_up(c->width_in_blocks, (uint64_t)c->h_samp_factor);
        uint64_t height = round_up(c->height_in_blocks, (uint64_t)c->v_samp_factor);
        coefficients += width * height * sizeof(JBLOCK);
        /* 5 rows of blocks with their context, and the rows of one MCU in full size */
        rows += width * DCTSIZE * 5 * DCTSIZE * (uint64_t)c->v_samp_factor;
        rows += round_up(info->image_width, 32) * DCTSIZE * (uint64_t)info->max_v_samp_factor;
    }
    return FIXED_MEMORY + rows + (jpeg_has_multiple_scans(info) ? coefficients : 0);
}

static bool is_ink(const struct jpeg_reader *r)
{
    return r->info.out_color_space == JCS_CMYK;
}

/* Chooses what libjpeg converts to; returns the channels that come out of us. 0: no colour model.
 */
static uint32_t choose_colours(struct decoder *d, struct jpeg_reader *r, bool luma)
{
    switch (r->info.jpeg_color_space) {
    case JCS_GRAYSCALE:
        r->info.out_color_space = JCS_GRAYSCALE;
        return 1;
    case JCS_YCbCr:
        d->stored_luma = luma;
        r->info.out_color_space = d->stored_luma ? JCS_GRAYSCALE : JCS_RGB;
        return d->stored_luma ? 1 : 3;
    case JCS_RGB:
        r->info.out_color_space = JCS_RGB;
        return 3;
    case JCS_CMYK:
    case JCS_YCCK: /* libjpeg goes as far as CMYK */
        r->info.out_color_space = JCS_CMYK;
        return 3;
    default:
        return 0;
    }
}

static struct jpeg_reader *create_reader(struct decoder *d)
{
    struct jpeg_reader *r = calloc(1, sizeof *r);
    if (!r)
        return NULL;
    r->decoder = d;
    jpeg_errors_init(&r->errors);
    r->errors.manager.emit_message = warn;
    r->info.err = &r->errors.manager;
    r->info.client_data = r;
    r->orientation = ORIENT_NONE;
    r->source = (struct jpeg_source_mgr){
        .next_input_byte = d->data,
        .bytes_in_buffer = d->options.partial ? usable_size(d->data, d->size) : d->size,
        .init_source = no_source_work,
        .fill_input_buffer = fill_input,
        .skip_input_data = skip_input,
        .resync_to_restart = jpeg_resync_to_restart,
        .term_source = no_source_work,
    };
    r->progress.progress_monitor = on_progress;
    return r;
}

static int lay_out(struct decoder *d, struct jpeg_reader *r, bool luma, uint32_t reduce,
                   struct fault *fault)
{
    uint32_t channels = choose_colours(d, r, luma);
    if (channels == 0)
        return fault_set(fault, FAULT_FORMAT,
                         "unsupported jpeg: %d components of no known colour model",
                         r->info.num_components);
    uint32_t width = (r->info.image_width + reduce - 1) / reduce;
    uint32_t height = (r->info.image_height + reduce - 1) / reduce;
    bool transposed = orient_is_transposed(r->orientation);
    r->info.scale_num = 1;
    r->info.scale_denom = d->reduced = reduce;
    d->working_memory = library_memory(&r->info) +
                        orient_memory(r->orientation, width, height, channels, false) +
                        (is_ink(r) ? 4 * (uint64_t)width : 0);
    return decoder_set_plane(d, transposed ? height : width, transposed ? width : height, channels,
                             SAMPLE_U8, fault);
}

static int open_jpeg(struct decoder *d, struct fault *fault)
{
    struct jpeg_reader *r = d->state = create_reader(d);
    if (!r)
        return fault_set(fault, FAULT_MEMORY, "no memory for a decoder");
    int result = jpeg_attempt(&r->errors, read_header, r, fault);
    if (result != 0)
        return result;
    if (!d->options.orient)
        r->orientation = ORIENT_NONE;
    return lay_out(d, r, false, 1, fault);
}

/* libjpeg leaves out what a smaller picture does not need of a block's coefficients. */
static int narrow_jpeg(struct decoder *d, bool luma, uint32_t reduce, struct fault *fault)
{
    struct plane whole = d->frame.planes[0];
    frame_finish(&d->frame);
    int result = lay_out(d, d->state, luma, reduce, fault);
    if (result == 0 && reduce > 1) {
        d->frame.planes[0].whole_width = whole.width;
        d->frame.planes[0].whole_height = whole.height;
    }
    return result;
}

/* Adobe's programs store inks inverted, 255 for none, and say so by their marker only (libjpeg.txt,
 * "Special color spaces"). RGB is what is left of white: (255 − ink)·(255 − black) / 255. */
static void ink_to_rgb(const uint8_t *ink, uint8_t *rgb, uint32_t width, bool inverted)
{
    uint8_t turn = inverted ? 0 : 255;
    for (uint32_t x = 0; x < width; x++, ink += 4, rgb += 3) {
        uint32_t white = ink[3] ^ turn;
        for (int c = 0; c < 3; c++)
            rgb[c] = (uint8_t)(((ink[c] ^ turn) * white + 127) / 255);
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
        JSAMPROW row = r->ink_row ? r->ink_row : target;
        jpeg_read_scanlines(info, &row, 1);
        if (r->ink_row)
            ink_to_rgb(r->ink_row, target, info->output_width, info->saw_Adobe_marker);
        orient_done(&r->place, y);
    }
    jpeg_finish_decompress(info); /* reads up to EOI: a missing one is an early end, too */
}

static int read_jpeg(struct decoder *d, struct picture *into, struct fault *fault)
{
    struct jpeg_reader *r = d->state;
    uint64_t memory = d->limits.memory;
    r->decoder = d;
    r->partial = d->options.partial;
    /* Set, not left to the environment's JPEGMEM. */
    r->info.mem->max_memory_to_use = memory < LONG_MAX ? (long)memory : LONG_MAX;
    if (is_ink(r)) {
        r->ink_row = malloc(4 * (size_t)r->info.image_width);
        if (!r->ink_row)
            return fault_set(fault, FAULT_MEMORY, "no memory for a row");
    }
    int result = orient_begin(&r->place, r->orientation, into, false, fault);
    if (result == 0)
        result = jpeg_attempt(&r->errors, read_rows, r, fault);
    orient_finish(&r->place);
    return result;
}

static void close_jpeg(struct decoder *d)
{
    struct jpeg_reader *r = d->state;
    if (!r)
        return;
    jpeg_destroy_decompress(&r->info); /* cannot fail, and takes one that was never created */
    orient_finish(&r->place);
    free(r->ink_row);
    free(r);
    d->state = NULL;
}

static int fit_jpeg(const void *config, struct plane *plane, struct fault *fault)
{
    (void)config;
    if (plane->width > JPEG_MAX_DIMENSION || plane->height > JPEG_MAX_DIMENSION)
        return fault_set(fault, FAULT_SHAPE,
                         "jpeg holds at most %ld pixels a side, not %u×%u; write png",
                         JPEG_MAX_DIMENSION, plane->width, plane->height);
    plane->channels -= plane_has_alpha(plane); /* the format has no place for it */
    return fit_type("jpeg", FIT_8, plane, fault);
}

static const struct param params[] = {
    PARAM(INTEGER, "quality", offsetof(struct jpeg_config, quality),
          "scales the quantization tables; from 90 on colour keeps its full resolution",
          RANGE(1, 100), DEFAULT("90")),
    PARAM(FLAG, "progressive", offsetof(struct jpeg_config, progressive),
          "1 writes several scans, coarse to fine", DEFAULT("0")),
    PICTURE_PARAMS,
    {0},
};

static const char *const extensions[] = {"jpg", "jpeg", "jpe", "jfif", NULL};

const struct codec codec_jpeg = {
    .name = "jpeg",
    .extensions = extensions,
    .media_type = "image/jpeg",
    .probe = probe,
    .open = open_jpeg,
    .narrow = narrow_jpeg,
    .read = read_jpeg,
    .close = close_jpeg,
    .params = params,
    .config_size = sizeof(struct jpeg_config),
    .is_picture = true,
    .fit = fit_jpeg,
    .encode = jpeg_encode,
};
