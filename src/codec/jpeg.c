/* The JPEG decoder (ITU-T T.81), by libjpeg-turbo's libjpeg interface: grey, YCbCr, RGB, CMYK and
 * YCCK of 8 bits; baseline, progressive and arithmetic. A warning of libjpeg is a warning here, and
 * an error with `strict`. A file that ends early is an error unless `partial` is set.
 *
 * Hostile files are bounded in memory and time. The size is known from the header before memory is
 * taken. A picture in several scans needs all its coefficients in memory: working_memory counts
 * them, and max_memory_to_use keeps libjpeg to the limit. The number of scans is limited, because
 * each takes the time of a whole picture. */
#include "codec/jpeg.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "base/deadline.h"
#include "codec/byte_order.h"
#include "codec/metadata.h"
#include "codec/output.h"

#include <jerror.h>

#define SCANS_MAX 100

/* Bytes that libjpeg takes for tables, Huffman states and pools of any picture. */
#define FIXED_MEMORY (256 << 10)

#define MARKER_SOS  0xDA
#define MARKER_RST0 0xD0
#define MARKER_RST7 0xD7
#define MARKER_TEM  0x01

/* ---- libjpeg's errors as faults ---- */

/* The fault for a message of libjpeg, and in `what` the beginning of its text. */
static enum fault_code code_of(int message, const char **what)
{
    *what = "damaged jpeg";
    switch (message) {
    case JERR_ARITH_NOTIMPL:
    case JERR_BAD_PRECISION:
    case JERR_CCIR601_NOTIMPL:
    case JERR_CONVERSION_NOTIMPL:
    case JERR_FRACT_SAMPLE_NOTIMPL:
    case JERR_NOTIMPL:
    case JERR_NOT_COMPILED:
    case JERR_SOF_UNSUPPORTED:
        *what = "unsupported jpeg";
        return FAULT_FORMAT;
    case JERR_OUT_OF_MEMORY:
        *what = "jpeg";
        return FAULT_MEMORY;
    case JERR_NO_BACKING_STORE:
        *what = "jpeg: over the memory limit (--memory)";
        return FAULT_LIMIT;
    case JERR_IMAGE_TOO_BIG:
    case JERR_WIDTH_OVERFLOW:
        *what = "jpeg";
        return FAULT_LIMIT;
    default:
        return FAULT_DATA;
    }
}

void jpeg_fail(struct jpeg_errors *errors, enum fault_code code, const char *text)
{
    errors->code = fault_set(errors->fault, code, "%s", text);
    longjmp(errors->escape, 1);
}

/* Ends the step with libjpeg's current message. */
__attribute__((noreturn)) static void fail_with_message(j_common_ptr info)
{
    static const char prefix[] = "Corrupt JPEG data: ";
    struct jpeg_errors *errors = (struct jpeg_errors *)info->err;
    char message[JMSG_LENGTH_MAX];
    const char *what, *text = message;
    errors->manager.format_message(info, message);
    enum fault_code code = code_of(errors->manager.msg_code, &what);
    if (strncmp(text, prefix, sizeof prefix - 1) == 0)
        text += sizeof prefix - 1; /* `what` says that already */
    errors->code = codec_library_fault(errors->fault, code, what, text);
    longjmp(errors->escape, 1);
}

/* Level −1 is a warning: libjpeg has replaced damaged data. Higher levels are traces. */
static void emit_message(j_common_ptr info, int level)
{
    if (level < 0)
        fail_with_message(info);
}

static void print_nothing(j_common_ptr info)
{
}

void jpeg_errors_init(struct jpeg_errors *errors)
{
    jpeg_std_error(&errors->manager);
    errors->manager.error_exit = fail_with_message;
    errors->manager.emit_message = emit_message;
    errors->manager.output_message = print_nothing;
}

int jpeg_attempt(struct jpeg_errors *errors, void (*step)(void *context), void *context,
                 struct fault *fault)
{
    errors->fault = fault;
    errors->code = 0;
    if (setjmp(errors->escape) == 0)
        step(context);
    errors->fault = NULL;
    return errors->code;
}

/* ---- the data, and warnings about them ---- */

static bool probe(const uint8_t *data, size_t size)
{
    return size >= 2 && data[0] == 0xFF && data[1] == 0xD8 && (size == 2 || data[2] == 0xFF);
}

static void fail_truncated(struct jpeg_reader *r)
{
    jpeg_fail(&r->errors, FAULT_TRUNCATED, "truncated jpeg: the file ends before its picture does");
}

/* libjpeg calls this when it needs more data. */
static boolean fill_input(j_decompress_ptr info)
{
    static const JOCTET end[] = {0xFF, JPEG_EOI};
    struct jpeg_reader *r = info->client_data;
    size_t got;
    const uint8_t *see = input_see(&r->decoder->input, r->next, 1, &got);
    if (r->next < r->usable && got > 0) {
        got = got < r->usable - r->next ? got : (size_t)(r->usable - r->next);
        r->next += got;
        r->source.next_input_byte = see;
        r->source.bytes_in_buffer = got;
        return TRUE;
    }
    if (!r->partial)
        fail_truncated(r);
    r->ended = true;
    r->source.next_input_byte = end;
    r->source.bytes_in_buffer = sizeof end;
    return TRUE;
}

static void skip_input(j_decompress_ptr info, long count)
{
    struct jpeg_reader *r = info->client_data;
    if (count <= 0)
        return;
    if ((size_t)count > r->source.bytes_in_buffer) {
        r->next += (size_t)count - r->source.bytes_in_buffer;
        fill_input(info);
        return;
    }
    r->source.next_input_byte += count;
    r->source.bytes_in_buffer -= (size_t)count;
}

/* Has libjpeg go on at that byte. */
static void go_on_at(struct jpeg_reader *r, uint64_t at)
{
    r->next = at;
    r->source.bytes_in_buffer = 0;
}

static void no_source_work(j_decompress_ptr info)
{
}

/* Handles libjpeg's warnings (levels below 0). An EOI before the picture's end is treated like a
 * truncated file: programs that were interrupted while they wrote leave such files. */
static void warn(j_common_ptr common, int level)
{
    struct jpeg_reader *r = common->client_data;
    char message[JMSG_LENGTH_MAX];
    if (level >= 0 || r->ended)
        return;
    /* The Huffman decoder warns at once when EOI stands where coded data are missing; the
     * arithmetic decoder reads zeros until a code is invalid. */
    int message_code = r->errors.manager.msg_code;
    if (r->info.unread_marker == JPEG_EOI &&
        (message_code == JWRN_HIT_MARKER || message_code == JWRN_ARITH_BAD_CODE)) {
        if (!r->partial)
            fail_truncated(r);
        r->ended = true;
        return;
    }
    if (r->decoder->options.strict)
        fail_with_message(common);
    common->err->format_message(common, message);
    /* How many these are depends on how much of the file libjpeg sees at once. */
    if (message_code == JWRN_EXTRANEOUS_DATA)
        snprintf(message, sizeof message,
                 "Corrupt JPEG data: extraneous bytes before marker 0x%02x",
                 (unsigned)r->errors.manager.msg_parm.i[1]);
    decoder_warn(r->decoder, NULL, "%s", message);
}

/* libjpeg calls this every few rows of every scan. */
static void on_progress(j_common_ptr common)
{
    struct jpeg_reader *r = common->client_data;
    if (deadline_check(r->errors.fault) != 0)
        jpeg_fail(&r->errors, FAULT_TIME, "");
    if (r->info.input_scan_number > SCANS_MAX)
        jpeg_fail(&r->errors, FAULT_LIMIT,
                  "a jpeg of more than 100 scans, which none is read with");
}

/* ---- metadata ---- */

/* Bytes of a marker segment behind its length. */
struct segment {
    const uint8_t *data;
    struct jpeg_part part;
};

static bool begins_with(const struct segment *s, const char *text, size_t size)
{
    return s->part.size > size && memcmp(s->data, text, size) == 0;
}

/* What follows the first `size` bytes. */
static struct jpeg_part behind(const struct segment *s, size_t size)
{
    return (struct jpeg_part){s->part.at + size, s->part.size - size};
}

/* Notes a part of an ICC profile. If two have the same number, or they give different numbers of
 * parts, the profile is not used. */
static void note_profile(struct jpeg_reader *r, const struct segment *s)
{
    unsigned number = s->data[JPEG_ICC_HEAD - 2], count = s->data[JPEG_ICC_HEAD - 1];
    bool fits = number >= 1 && number <= count && r->profile[number].size == 0 &&
                (r->n_profile == 0 || r->n_profile == count);
    r->n_profile = fits ? count : UINT_MAX;
    if (fits)
        r->profile[number] = behind(s, JPEG_ICC_HEAD);
}

/* Notes the metadata in an APP1 or APP2 segment, of which libjpeg keeps no copy. The first Exif
 * block and the first XMP packet count. */
static boolean read_application(j_decompress_ptr info)
{
    struct jpeg_reader *r = info->client_data;
    uint64_t at = r->next - r->source.bytes_in_buffer;
    size_t have = 0;
    const uint8_t *see = at < r->usable ? input_see(&r->decoder->input, at, 2, &have) : NULL;
    size_t length = have >= 2 ? load_be16(see) : 2;
    if (length < 2)
        ERREXIT(info, JERR_BAD_LENGTH);
    if (see)
        see = input_see(&r->decoder->input, at, length, &have);
    have = have < r->usable - at ? have : (size_t)(r->usable - at);
    struct segment s = {see ? see + 2 : NULL, {at + 2, have >= length ? length - 2 : 0}};
    bool is_first = info->unread_marker == JPEG_APP0 + 1;
    if (is_first && !r->has_exif && begins_with(&s, "Exif\0", 5)) {
        r->has_exif = true;
        r->orientation = exif_orientation(s.data, s.part.size);
        r->exif = s.part;
    } else if (is_first && !r->xmp.size && begins_with(&s, JPEG_XMP, sizeof JPEG_XMP)) {
        r->xmp = behind(&s, sizeof JPEG_XMP);
    } else if (!is_first && begins_with(&s, JPEG_ICC, sizeof JPEG_ICC) &&
               s.part.size > JPEG_ICC_HEAD) {
        note_profile(r, &s);
    }
    go_on_at(r, at);
    skip_input(info, (long)length);
    return TRUE;
}

/* Joins the parts of a profile, if all are there. */
static void take_profile(struct decoder *d, const struct jpeg_reader *r)
{
    size_t size = 0;
    for (unsigned i = 1; r->n_profile != UINT_MAX && i <= r->n_profile; i++) {
        if (r->profile[i].size == 0)
            return;
        size += r->profile[i].size;
    }
    uint8_t *whole = size > 0 && size <= METADATA_MAX ? malloc(size) : NULL;
    if (!whole)
        return;
    size = 0;
    for (unsigned i = 1; i <= r->n_profile; i++) {
        if (input_read(&d->input, r->profile[i].at, whole + size, r->profile[i].size) <
            r->profile[i].size)
            size = 0; /* no profile has such a size: it is not taken */
        size += r->profile[i].size;
    }
    metadata_set_icc(&d->metadata, whole, size);
    free(whole);
}

static void take_metadata(struct decoder *d, const struct jpeg_reader *r)
{
    struct metadata *metadata = &d->metadata;
    if (d->options.meta == METADATA_STRIP)
        return;
    size_t got;
    const uint8_t *see = input_see(&d->input, r->exif.at, r->exif.size, &got);
    if (r->exif.size > 0 && got >= r->exif.size)
        metadata_set_exif(metadata, see, r->exif.size, d->options.orient);
    take_profile(d, r);
    see = input_see(&d->input, r->xmp.at, r->xmp.size, &got);
    if (r->xmp.size > 0 && got >= r->xmp.size && d->options.meta == METADATA_ALL)
        metadata_set_xmp(metadata, see, r->xmp.size);
    /* 1:1 without a unit is what programs write that do not know the density. */
    if (r->info.saw_JFIF_marker && r->info.density_unit <= DENSITY_CENTIMETRE &&
        (r->info.density_unit != DENSITY_ASPECT || r->info.X_density != r->info.Y_density)) {
        metadata->density_unit = (enum density_unit)r->info.density_unit;
        metadata->density_x = r->info.X_density;
        metadata->density_y = r->info.Y_density;
    }
}

/* ---- opening ---- */

/* The end of a scan's coded data, which begin at `at`: the next marker except restart markers. */
static uint64_t skip_scan(struct decoder_input *input, uint64_t at)
{
    size_t got;
    const uint8_t *see;
    while ((see = input_see(input, at, 2, &got)) && got >= 2) {
        const uint8_t *found = memchr(see, 0xFF, got - 1);
        at += found ? (size_t)(found - see) : got - 1;
        if (!found)
            continue;
        uint8_t next = found[1];
        if (next != 0 && next != 0xFF && !(next >= MARKER_RST0 && next <= MARKER_RST7))
            return at;
        at += next == 0xFF ? 1 : 2;
    }
    return input->size;
}

/* The size without a marker segment that is cut off by the end of the file: libjpeg can stop within
 * coded data, but not within a segment. T.81 Annex B.1.1. */
static uint64_t usable_size(struct decoder_input *input)
{
    uint64_t at = 2;
    size_t got;
    const uint8_t *see;
    while ((see = input_see(input, at, 4, &got)) && got >= 2) {
        uint8_t marker = see[1];
        if (see[0] != 0xFF || marker == JPEG_EOI)
            return input->size; /* an end, or something invalid that libjpeg will report */
        if (marker == 0xFF) {
            at++;
            continue;
        }
        if (marker == MARKER_TEM || (marker >= MARKER_RST0 && marker <= MARKER_RST7)) {
            at += 2;
            continue;
        }
        size_t length = got >= 4 ? load_be16(see + 2) : SIZE_MAX;
        if (input->size - at - 2 < length)
            return at;
        at += 2 + length;
        if (marker == MARKER_SOS)
            at = skip_scan(input, at);
    }
    return at < input->size ? at : input->size;
}

static void read_header(void *context)
{
    struct jpeg_reader *r = context;
    jpeg_CreateDecompress(&r->info, JPEG_LIB_VERSION, sizeof r->info);
    r->info.client_data = r;
    r->info.src = &r->source;
    r->info.progress = &r->progress;
    jpeg_set_marker_processor(&r->info, JPEG_APP0 + 1, read_application);
    jpeg_set_marker_processor(&r->info, JPEG_APP0 + 2, read_application);
    jpeg_read_header(&r->info, TRUE);
}

static uint64_t round_up(uint64_t value, uint64_t unit)
{
    return (value + unit - 1) / unit * unit;
}

/* An upper bound of what libjpeg allocates, in bytes: all coefficients of a picture in several
 * scans, and rows of a few MCUs before and after upsampling. */
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

/* Chooses the colour space that libjpeg converts to; returns the plane's channels, or 0 if the
 * colour space is unknown. */
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
    case JCS_YCCK: /* libjpeg converts it to CMYK only */
        r->info.out_color_space = JCS_CMYK;
        return 3;
    default:
        return 0;
    }
}

static void init_reader(struct jpeg_reader *r, struct decoder *d)
{
    r->decoder = d;
    jpeg_errors_init(&r->errors);
    r->errors.manager.emit_message = warn;
    r->info.err = &r->errors.manager;
    r->info.client_data = r;
    r->orientation = ORIENT_NONE;
    r->usable = d->options.partial ? usable_size(&d->input) : d->input.size;
    r->source = (struct jpeg_source_mgr){
        .init_source = no_source_work,
        .fill_input_buffer = fill_input,
        .skip_input_data = skip_input,
        .resync_to_restart = jpeg_resync_to_restart,
        .term_source = no_source_work,
    };
    r->progress.progress_monitor = on_progress;
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
    d->whole = !orient_keeps_rows(r->orientation);
    r->info.scale_num = 1;
    r->info.scale_denom = d->reduced = reduce;
    uint64_t memory = library_memory(&r->info) +
                      orient_memory(r->orientation, width, height, channels, false) +
                      (jpeg_is_cmyk(r) ? 4 * (uint64_t)width : 0);
    r->two_threads = jpeg_takes_two(d) && 2 * memory <= d->limits.memory;
    d->working_memory = r->two_threads ? 2 * memory : memory;
    return decoder_set_plane(d, transposed ? height : width, transposed ? width : height, channels,
                             SAMPLE_U8, fault);
}

static int open_jpeg(struct decoder *d, struct fault *fault)
{
    struct jpeg_reader *r = d->state;
    init_reader(r, d);
    int result = jpeg_attempt(&r->errors, read_header, r, fault);
    if (result != 0)
        return result;
    uint64_t at = r->next - r->source.bytes_in_buffer;
    take_metadata(d, r);
    go_on_at(r, at); /* other pieces of the file have been looked at */
    if (!d->options.orient)
        r->orientation = ORIENT_NONE;
    return lay_out(d, r, false, 1, fault);
}

/* A reduced picture is faster, because libjpeg uses only a part of each block's coefficients. */
static int narrow_jpeg(struct decoder *d, bool luma, uint32_t reduce, struct fault *fault)
{
    struct plane whole = d->frame.planes[0];
    frame_finish(&d->frame);
    int result = lay_out(d, d->state, luma, reduce, fault);
    if (result == 0 && reduce > 1) {
        struct plane *plane = &d->frame.planes[0];
        unsigned orientation = ((struct jpeg_reader *)d->state)->orientation;
        plane->reduced = reduce;
        plane->whole_width = whole.width;
        plane->whole_height = whole.height;
        if (orient_from_right(orientation))
            plane->whole_x = plane->width * reduce - whole.width;
        if (orient_from_bottom(orientation))
            plane->whole_y = plane->height * reduce - whole.height;
    }
    return result;
}

static void close_jpeg(struct decoder *d)
{
    struct jpeg_reader *r = d->state;
    jpeg_destroy_decompress(&r->info); /* cannot fail, and accepts one that was never created */
    orient_finish(&r->place);
    free(r->cmyk_row);
}

/* ---- the format ---- */

static int fit_jpeg(const void *config, struct plane *plane, struct fault *fault)
{
    if (plane->width > JPEG_MAX_DIMENSION || plane->height > JPEG_MAX_DIMENSION)
        return fault_set(fault, FAULT_SHAPE,
                         "jpeg holds at most %ld pixels a side, not %u×%u; write png",
                         JPEG_MAX_DIMENSION, plane->width, plane->height);
    plane->channels -= plane_has_alpha(plane); /* the format has no alpha */
    return fit_type("jpeg", FIT_8, plane, fault);
}

static const struct param params[] = {
    PARAM(INTEGER, "quality", offsetof(struct jpeg_config, quality),
          "scales the quantization tables; from 90 on colour keeps its full resolution",
          RANGE(1, 100), DEFAULT("90")),
    PARAM(FLAG, "progressive", offsetof(struct jpeg_config, progressive),
          "1 writes several scans, coarse to fine", DEFAULT("0")),
    META_PARAM,
    PICTURE_PARAMS,
    {0},
};

static const char *const extensions[] = {"jpg", "jpeg", "jpe", "jfif", NULL};

const struct codec codec_jpeg = {
    .name = "jpeg",
    .extensions = extensions,
    .media_type = "image/jpeg",
    .probe = probe,
    .reads_pieces = true,
    .state_size = sizeof(struct jpeg_reader),
    .open = open_jpeg,
    .narrow = narrow_jpeg,
    .read = jpeg_read,
    .close = close_jpeg,
    .params = params,
    .config_size = sizeof(struct jpeg_config),
    .is_picture = true,
    .fit = fit_jpeg,
    .encoder_size = sizeof(struct jpeg_writer),
    .encode = jpeg_encode,
    .encode_close = jpeg_encode_close,
};
