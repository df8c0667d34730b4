#include "codec/codec.h"

#include <ctype.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/file.h"
#include "base/name.h"
#include "base/nearest.h"
#include "base/number.h"
#include "base/text.h"

extern const struct codec codec_png, codec_npy, codec_npz, codec_webp, codec_tiff, codec_jpeg,
    codec_bmp, codec_pnm, codec_pbm, codec_json, codec_safetensors, codec_raw;

/* In the order in which an input is probed for them; no signature is the beginning of another's. */
const struct codec *const codecs[] = {
    &codec_png,
    &codec_npy,
    &codec_npz,
    &codec_jpeg,
    &codec_bmp,
    &codec_pnm,
    &codec_pbm,
#ifdef SLUICE_TIFF
    &codec_tiff,
#endif
#ifdef SLUICE_WEBP
    &codec_webp,
#endif
    &codec_json,
    &codec_safetensors,
    &codec_raw,
    NULL,
};

/* ---- foreign formats ---- */

/* Formats that sluice does not read or not write, but people try: so a fault can say what the file
 * is and which format to use instead. */
struct foreign {
    const char *name;  /* "TIFF" */
    const char *words; /* its names and extensions in lower case, separated by blanks; NULL: none */
    const char *near;  /* the format to write instead; NULL: none */
    size_t at, size;   /* offset and size of its signature, in bytes; size 0: it has none */
    const char *mark;  /* the signature */
    bool is_picture;
};

#define MARK(at, text) at, sizeof text - 1, text
#define NO_MARK        0, 0, NULL

/* The first row that fits counts. Codecs are asked before this table, so a format's rows go when it
 * gets a codec, unless builds may lack that. */
static const struct foreign foreigns[] = {
    {"TIFF", "tiff tif bigtiff geotiff", "png", MARK(0, "II*\0"), true},
    {"TIFF", NULL, NULL, MARK(0, "MM\0*"), true},
    {"TIFF", NULL, NULL, MARK(0, "II+\0"), true},
    {"TIFF", NULL, NULL, MARK(0, "MM\0+"), true},
    {"WebP", "webp", "jpg", MARK(8, "WEBP"), true},
    {"AVIF", "avif avifs", "jpg", MARK(4, "ftypavif"), true},
    {"AVIF", NULL, NULL, MARK(4, "ftypavis"), true},
    {"HEIC", "heic heif hif", "jpg", MARK(4, "ftyphei"), true},
    {"HEIC", NULL, NULL, MARK(4, "ftyphev"), true},
    {"HEIC", NULL, NULL, MARK(4, "ftypmif1"), true},
    {"HEIC", NULL, NULL, MARK(4, "ftypmsf1"), true},
    {"GIF", "gif", "png", MARK(0, "GIF8"), true},
    {"PDF", "pdf", "png", MARK(0, "%PDF-")},
    {"PostScript", "ps eps", "png", MARK(0, "%!PS")},
    {"SVG", "svg svgz", "png", MARK(0, "<svg"), true},
    {"XML", NULL, NULL, MARK(0, "<?xml")},
    {"HTML", NULL, NULL, MARK(0, "<!DOCTYPE")},
    {"HTML", NULL, NULL, MARK(0, "<html")},
    {"JPEG 2000", "jp2 j2k j2c jpf jpx jpeg2000", "jpg", MARK(4, "jP  \r\n\x87\n"), true},
    {"JPEG 2000", NULL, NULL, MARK(0, "\xFF\x4F\xFF\x51"), true},
    {"JPEG XL", "jxl jpegxl", "jpg", MARK(4, "JXL \r\n\x87\n"), true},
    {"JPEG XL", NULL, NULL, MARK(0, "\xFF\x0A"), true},
    {"JPEG XR", "jxr hdp wdp", "jpg", MARK(0, "II\xBC"), true},
    {"OpenEXR", "exr openexr", "npy", MARK(0, "\x76\x2F\x31\x01"), true},
    {"Radiance HDR", "hdr rgbe", "npy", MARK(0, "#?R"), true},
    {"PFM", "pfm", "npy", MARK(0, "PF\n"), true},
    {"PFM", NULL, NULL, MARK(0, "Pf\n"), true},
    {"PAM", "pam", "png", MARK(0, "P7\n"), true},
    {"APNG", "apng", "png", NO_MARK},
    {"QOI", "qoi", "png", MARK(0, "qoif"), true},
    {"Photoshop", "psd psb", "png", MARK(0, "8BPS"), true},
    {"XCF", "xcf", "png", MARK(0, "gimp xcf"), true},
    {"ICO", "ico cur", "png", MARK(0, "\0\0\1\0"), true},
    {"Targa", "tga targa", "png", NO_MARK},
    {"PCX", "pcx", "png", NO_MARK},
    {"camera raw", "dng cr2 cr3 nef arw orf rw2 raf pef srw", "png", MARK(0, "FUJIFILM"), true},
    {"camera raw", NULL, NULL, MARK(4, "ftypcrx"), true},
    {"DICOM", "dcm dicom", "png", MARK(128, "DICM"), true},
    {"FITS", "fits fit fts", "npy", MARK(0, "SIMPLE  ="), true},
    {"HDF5", "h5 hdf5 nc", "npz", MARK(0, "\x89HDF\r\n\x1A\n")},
    {"MATLAB", "mat", "npz", MARK(0, "MATLAB")},
    {"MP4 or QuickTime film", "mp4 mov m4v", NULL, MARK(4, "ftyp")},
    {"Matroska or WebM film", "mkv webm", NULL, MARK(0, "\x1A\x45\xDF\xA3")},
    {"AVI film", "avi", NULL, MARK(8, "AVI ")},
    {"gzip", "gz", NULL, MARK(0, "\x1F\x8B")},
    {"zstd", "zst", NULL, MARK(0, "\x28\xB5\x2F\xFD")},
    {"xz", "xz", NULL,
     MARK(0, "\xFD"
             "7zXZ")},
    {"bzip2", "bz2", NULL, MARK(0, "BZh")},
    {NULL, NULL, NULL, NO_MARK},
};

/* The format of that name or extension; NULL: unknown. */
static const struct foreign *foreign_by_word(const char *word, size_t length)
{
    for (const struct foreign *f = foreigns; f->name; f++)
        if (nearest_lists(f->words, word, length))
            return f;
    return NULL;
}

static const struct param_choice raw_layouts[] = {
    {"gray8", RAW_GRAY8}, {"gray16", RAW_GRAY16}, {"rgb24", RAW_RGB24}, {"rgba32", RAW_RGBA32},
    {"nv12", RAW_NV12},   {"yuyv", RAW_YUYV},     {"nv16", RAW_NV16},   {"p010", RAW_P010},
    {"raw10", RAW_RAW10}, {"raw12", RAW_RAW12},   {"nv21", RAW_NV21},     {"i420", RAW_I420},
    {"uyvy", RAW_UYVY},   {"bgr24", RAW_BGR24},   {"rgbx32", RAW_RGBX32}, {"bgrx32", RAW_BGRX32},
    {"bgra32", RAW_BGRA32}, {NULL, RAW_NONE},
};

/* ---- options for reading ---- */

/* Parameters of raw frames come first, in the order in which they may be given without names:
 * nv12:640:360. */
const struct param decode_params[] = {
    PARAM(CHOICE, "raw", offsetof(struct decode_options, raw),
          "the input is a camera's frame without a header, laid out so; needs w and h",
          .choices = raw_layouts),
    PARAM(INTEGER, "w", offsetof(struct decode_options, w), "width of a raw frame in pixels",
          RANGE(1, INT32_MAX)),
    PARAM(INTEGER, "h", offsetof(struct decode_options, h), "height of a raw frame in pixels",
          RANGE(1, INT32_MAX)),
    PARAM(INTEGER, "stride", offsetof(struct decode_options, stride),
          "bytes from row to row of a raw frame; without it rows are packed", RANGE(1, INT32_MAX)),
    PARAM(FLAG, "orient", offsetof(struct decode_options, orient),
          "apply the orientation that EXIF data ask for; 0 keeps the stored one", DEFAULT("1")),
    PARAM(FLAG, "partial", offsetof(struct decode_options, partial),
          "1 takes what a truncated file has instead of refusing it", DEFAULT("0")),
    PARAM(FLAG, "strict", offsetof(struct decode_options, strict),
          "1 refuses a file that is odd, which is read with a warning else", DEFAULT("0")),
    PARAM(INTEGER, "page", offsetof(struct decode_options, page),
          "which page of a TIFF, from 1 on; without it the first", RANGE(1, 65535)),
    PARAM(FLAG, "pages", offsetof(struct decode_options, pages),
          "1 takes all pages of a TIFF, as planes", DEFAULT("0")),
    PARAM(REAL, "white", offsetof(struct decode_options, white),
          "the value that means white in a file of floats; without it what the file says, else 255",
          RANGE(1e-6, 1e6)),
    {0},
};

const struct param_choice meta_choices[] = {
    {"keep", METADATA_KEEP}, {"strip", METADATA_STRIP}, {"all", METADATA_ALL}, {NULL, 0}};

int decode_options_parse(struct decode_options *options, const char *text, const char *what,
                         struct fault *fault)
{
    param_given given = 0;
    *options = (struct decode_options){0};
    param_defaults(decode_params, options);
    int result = 0;
    if (text)
        result = param_parse(decode_params, options, &given, text, strlen(text), 0, what, fault);
    if (result == 0 && options->raw != RAW_NONE && (options->w == 0 || options->h == 0))
        result = fault_set(fault, FAULT_USAGE, "%s: raw=%s needs w= and h=, as in raw=%s:640:480",
                           what, param_choice_name(raw_layouts, options->raw),
                           param_choice_name(raw_layouts, options->raw));
    if (result == 0 && options->raw == RAW_NONE && (options->w || options->h || options->stride))
        result = fault_set(fault, FAULT_USAGE,
                           "%s: w, h and stride are those of a frame with raw=", what);
    if (result == 0 && options->page && options->pages)
        result = fault_set(fault, FAULT_USAGE, "%s: page=N takes one page, pages=1 all of them",
                           what);
    return result;
}

/* ---- decoders ---- */

const struct codec *codec_find(const uint8_t *data, size_t size)
{
    for (const struct codec *const *c = codecs; *c; c++)
        if ((*c)->probe && (*c)->probe(data, size))
            return *c;
    return NULL;
}

static const struct foreign *foreign_by_mark(const uint8_t *data, size_t size)
{
    const struct foreign *f = foreigns;
    while (f->name &&
           (f->size == 0 || size < f->at + f->size || memcmp(data + f->at, f->mark, f->size) != 0))
        f++;
    return f;
}

const char *codec_foreign(const uint8_t *data, size_t size)
{
    const struct foreign *f = foreign_by_mark(data, size);
    return f->is_picture ? f->name : NULL;
}

static int unknown_format(const uint8_t *data, size_t size, struct fault *fault)
{
    struct text names = {0};
    char start[9] = "";
    const struct foreign *f = foreign_by_mark(data, size);
    for (size_t i = 0; i < 8 && i < size; i++)
        start[i] = isprint(data[i]) ? (char)data[i] : '.';
    for (const struct codec *const *c = codecs; *c; c++)
        if ((*c)->probe)
            text_printf(&names, "%s%s", names.length ? ", " : "", (*c)->name);
    int result = fault_set(fault, FAULT_FORMAT, "unknown format: %s%s'%s'; readable are %s%s",
                           f->name ? f->name : "", f->name ? ", begins with " : "begins with ",
                           start, text_string(&names),
                           f->name ? "" : ", and with raw=LAYOUT:WIDTH:HEIGHT raw frames");
    text_finish(&names);
    return result;
}

#define PROBE_BYTES 256

const struct codec *codec_of(struct decoder_input *input, const struct decode_options *options)
{
    size_t got;
    const uint8_t *begin = input_see(input, 0, PROBE_BYTES, &got);
    return options->raw != RAW_NONE ? &codec_raw : codec_find(begin, got);
}

/* A file that cannot be read may look like one that ends there. */
static int settle(struct decoder *d, int result, struct fault *fault)
{
    if (!d->input.fault.code)
        return result;
    fault_clear(fault);
    return fault_set(fault, d->input.fault.code, "%s", d->input.fault.text);
}

/* Sets the white of planes of floats: from the options, else from the file, else 255. */
static void set_white(struct decoder *d)
{
    for (size_t i = 0; i < d->frame.n_planes; i++) {
        struct plane *plane = &d->frame.planes[i];
        if (sample_is_integer(plane->type))
            continue;
        if (d->options.white > 0)
            plane->white = (float)d->options.white;
        d->white_unknown |= plane->white == 0;
    }
    for (size_t i = 0; i < d->frame.n_origins && d->options.white > 0; i++)
        d->frame.origins[i].plane.white = (float)d->options.white;
}

static bool is_within_one(const struct picture *picture, size_t index, uint32_t y, uint32_t end)
{
    const struct plane *p = &picture->frame.planes[index];
    for (; y < end; y++) {
        const uint8_t *row = picture_row(picture, index, y);
        for (uint32_t x = 0; x < p->width * p->channels; x++) {
            double v = sample_load(p->type, row + x * sample_size(p->type));
            if (!(v >= 0 && v <= 1))
                return false;
        }
    }
    return true;
}

int decoder_open(struct decoder *decoder, const uint8_t *data, size_t size,
                 const struct decode_options *options, const struct codec_limits *limits,
                 struct fault *fault)
{
    struct decoder_input input = input_of_memory(data, size);
    return decoder_open_input(decoder, &input, options, limits, fault);
}

/* Chooses the codec. */
static int choose(struct decoder *d, struct fault *fault)
{
    size_t got;
    d->codec = codec_of(&d->input, &d->options);
    const uint8_t *begin = input_see(&d->input, 0, PROBE_BYTES, &got);
    if (got == 0)
        return fault_set(fault, FAULT_EMPTY, "empty file");
    if (!d->codec)
        return unknown_format(begin, got, fault);
    if (d->options.page > 1 && !d->codec->has_pages)
        return fault_set(fault, FAULT_SHAPE, "a %s has one page, and page=%lld asks for another",
                         d->codec->name, (long long)d->options.page);
    if (!d->data && !d->codec->reads_pieces)
        return fault_set(fault, FAULT_INTERNAL, "a %s is read from memory alone", d->codec->name);
    d->state = calloc(1, d->codec->state_size);
    return d->state ? 0 : fault_set(fault, FAULT_MEMORY, "no memory for a decoder");
}

int decoder_open_input(struct decoder *decoder, struct decoder_input *input,
                       const struct decode_options *options, const struct codec_limits *limits,
                       struct fault *fault)
{
    *decoder = (struct decoder){.input = *input,
                                .data = input->fd < 0 ? input->see : NULL,
                                .size = (size_t)input->size,
                                .options = *options,
                                .limits = *limits,
                                .reduced = 1};
    *input = (struct decoder_input){.fd = -1};
    int result = choose(decoder, fault);
    if (result == 0)
        result = decoder->codec->open(decoder, fault);
    result = settle(decoder, result, fault);
    if (result == 0)
        set_white(decoder);
    decoder->working_memory += metadata_size(&decoder->metadata);
    if (result == 0 && decoder->working_memory > limits->memory) {
        result = fault_set(fault, FAULT_LIMIT,
                           "decoding this %s takes %s besides the picture, over the memory limit "
                           "%s (--memory)",
                           decoder->codec->name, number_size(decoder->working_memory),
                           number_size(limits->memory));
    }
    if (result != 0)
        decoder_close(decoder);
    return result;
}

int decoder_narrow(struct decoder *decoder, bool luma, uint32_t reduce, struct fault *fault)
{
    if (!decoder->codec->narrow || (!luma && reduce == 1))
        return 0;
    return settle(decoder, decoder->codec->narrow(decoder, luma, reduce, fault), fault);
}

int decoder_rows(struct decoder *decoder, struct picture *into, uint32_t end, struct fault *fault)
{
    const struct plane *planes = into->frame.planes;
    int result = settle(decoder, decoder->codec->read(decoder, into, end, fault), fault);
    if (result != 0)
        return result;
    /* Floats from 0 to 1 nearly always come from a picture whose white is 1; with a white of 255
     * its result would be black. */
    for (size_t i = 0; i < into->frame.n_planes && decoder->white_unknown; i++)
        decoder->beyond_one |=
            !sample_is_integer(planes[i].type) &&
            !is_within_one(into, i, decoder->row, decoder->whole ? planes[i].height : end);
    decoder->row = end;
    return decoder->white_unknown && !decoder->beyond_one && end == planes[0].height
               ? decoder_warn(decoder, fault,
                              "all samples are within 0...1, and white is 255; if 1 is "
                              "white, say --input white=1")
               : 0;
}

int decoder_read(struct decoder *decoder, struct picture *into, struct fault *fault)
{
    return decoder_rows(decoder, into, into->frame.planes[0].height, fault);
}

bool decoder_in_place(const struct decoder *decoder, struct frame *frame)
{
    return decoder->data && decoder->codec->in_place && decoder->codec->in_place(decoder, frame);
}

void decoder_close(struct decoder *decoder)
{
    if (decoder->state && decoder->codec->close)
        decoder->codec->close(decoder);
    input_finish(&decoder->input);
    free(decoder->state);
    frame_finish(&decoder->frame);
    metadata_finish(&decoder->metadata);
    text_finish(&decoder->warnings);
    *decoder = (struct decoder){0};
}

int decoder_warn(struct decoder *d, struct fault *fault, const char *format, ...)
{
    char line[DECODER_WARNING_MAX];
    va_list args;
    int at = snprintf(line, sizeof line, "%s: ", d->codec->name);
    va_start(args, format);
    vsnprintf(line + at, sizeof line - (size_t)at, format, args);
    va_end(args);
    for (char *c = line; *c; c++)
        if (*c < ' ' || *c > '~')
            *c = '?';
    if (d->options.strict)
        return fault_set(fault, FAULT_DATA, "damaged %s", line);
    size_t length = strlen(line);
    for (const char *said = text_string(&d->warnings); *said; said += strcspn(said, "\n") + 1)
        if (strcspn(said, "\n") == length && memcmp(said, line, length) == 0)
            return 0;
    if (++d->n_warnings <= DECODER_WARNINGS_MAX) {
        text_printf(&d->warnings, "%s\n", line);
    } else if (!d->warnings.failed) { /* the last line counts those that have none */
        size_t end = d->warnings.length;
        if (d->n_warnings > DECODER_WARNINGS_MAX + 1)
            while (end > 0 && (end == d->warnings.length || d->warnings.data[end - 1] != '\n'))
                end--;
        d->warnings.length = end;
        text_printf(&d->warnings, "%s: %u more\n", d->codec->name,
                    d->n_warnings - DECODER_WARNINGS_MAX);
    }
    return 0;
}

int decoder_set_plane(struct decoder *decoder, uint64_t width, uint64_t height, uint32_t channels,
                      enum sample_type type, struct fault *fault)
{
    if (width == 0 || height == 0)
        return fault_set(fault, FAULT_DATA, "a picture of %llu×%llu pixels",
                         (unsigned long long)width, (unsigned long long)height);
    if (width > INT32_MAX || height > INT32_MAX || width * height > decoder->limits.max_pixels)
        return fault_set(fault, FAULT_LIMIT,
                         "%llu×%llu pixels are more than max_pixels %s (--max-pixels)",
                         (unsigned long long)width, (unsigned long long)height,
                         number_pixels(decoder->limits.max_pixels));
    struct plane plane = {
        .width = (uint32_t)width, .height = (uint32_t)height, .channels = channels, .type = type};
    if (!frame_add_plane(&decoder->frame, &plane, FRAME_ALIGNMENT))
        return fault_set(fault, FAULT_MEMORY, "no memory for a frame");
    return 0;
}

int codec_library_fault(struct fault *fault, enum fault_code code, const char *what,
                        const char *text)
{
    char first = text[0];
    if (first && islower((unsigned char)text[1])) /* but not "IDAT: CRC error" */
        first = (char)tolower((unsigned char)first);
    return first ? fault_set(fault, code, "%s: %c%s", what, first, text + 1)
                 : fault_set(fault, code, "%s", what);
}

void codec_blacken_rows(const struct picture *picture, uint32_t y, uint32_t end)
{
    for (; y < end; y++)
        memset(picture_row(picture, 0, y), 0, plane_row_bytes(&picture->frame.planes[0]));
}

/* ---- output formats ---- */

static bool is_word(const char *word, const char *text, size_t length)
{
    return strlen(word) == length && strncasecmp(word, text, length) == 0;
}

/* The codec's extension that the text stands for: itself, or the first one if the text is the
 * codec's name. NULL: none. */
static const char *find_extension(const struct codec *codec, const char *text, size_t length)
{
    for (const char *const *e = codec->extensions; *e; e++)
        if (is_word(*e, text, length))
            return *e;
    return is_word(codec->name, text, length) ? codec->extensions[0] : NULL;
}

static const struct codec *find_writer(const char *text, size_t length, const char **extension)
{
    for (const struct codec *const *c = codecs; *c; c++)
        if ((*c)->fit && (*extension = find_extension(*c, text, length)) != NULL)
            return *c;
    return NULL;
}

/* Faults a name of a format, or, where `file` is not NULL, the extension of that file. */
static int unknown_writer(const char *word, size_t length, const char *file, struct fault *fault)
{
    struct nearest nearest = {0};
    struct text names = {0}, says = {0};
    const struct foreign *foreign = foreign_by_word(word, length);
    char small[16];
    snprintf(small, sizeof small, "%.*s", (int)(length < sizeof small ? length : 0), word);
    for (char *c = small; *c; c++)
        *c = (char)tolower((unsigned char)*c);
    for (const struct codec *const *c = codecs; *c; c++) {
        if (!(*c)->fit)
            continue;
        for (const char *const *e = (*c)->extensions; *e; e++) {
            nearest_offer(&nearest, small, strlen(small), *e);
            text_printf(&names, "%s%s", names.length ? ", " : "", *e);
        }
    }
    if (file)
        text_printf(&says, "'%s' names no output format that is known", file);
    else
        text_printf(&says, "unknown output format '%.*s'", (int)(length > 60 ? 60 : length), word);
    if (foreign)
        text_printf(&says, "; sluice writes no %s%s%s", foreign->name,
                    foreign->near ? ", what comes nearest is " : "",
                    foreign->near ? foreign->near : "");
    else
        text_append(&says, nearest_ask(&nearest, ""));
    text_printf(&says, " (there are %s%s)", text_string(&names), file ? "; say --format" : "");
    int result =
        fault_set_at(fault, FAULT_USAGE, file ? -1 : 0, (int)length, "%s", text_string(&says));
    text_finish(&names);
    text_finish(&says);
    return result;
}

static int format_create(struct format *format, const struct codec *codec, const char *extension,
                         struct fault *fault)
{
    *format = (struct format){
        .codec = codec, .extension = extension, .config = calloc(1, codec->config_size + 1)};
    if (!format->config)
        return fault_set(fault, FAULT_MEMORY, "no memory for a format");
    param_defaults(codec->params, format->config);
    return 0;
}

int format_parse(struct format *format, const char *text, struct fault *fault)
{
    char what[64];
    *format = (struct format){0};
    size_t name_length = strcspn(text, ":"), length = strlen(text);
    const char *extension;
    const struct codec *codec = find_writer(text, name_length, &extension);
    if (!codec)
        return unknown_writer(text, name_length, NULL, fault);
    int result = format_create(format, codec, extension, fault);
    snprintf(what, sizeof what, "format '%s'", codec->name);
    if (result == 0 && name_length < length)
        result = param_parse(codec->params, format->config, &format->given, text + name_length + 1,
                             length - name_length - 1, (int)name_length + 1, what, fault);
    if (result != 0)
        format_finish(format);
    return result;
}

int format_parse_results(struct format *formats, size_t count, const char *text,
                         struct fault *fault)
{
    size_t n = text_count_parts(text), made = 0, length;
    int result = 0;
    if (n != 1 && n != count)
        return fault_set(fault, FAULT_USAGE, "%zu formats for %zu result%s", n, count,
                         count == 1 ? "" : "s");
    while (made < count && result == 0) {
        const char *part = text_find_part(text, n == 1 ? 0 : made, &length);
        char *alone = strndup(part, length);
        result = alone ? format_parse(&formats[made], alone, fault)
                       : fault_set(fault, FAULT_MEMORY, "no memory for a format");
        if (result != 0 && fault && fault->position >= 0) /* its place in the whole text */
            fault->position += (int)(part - text);
        free(alone);
        made += result == 0;
    }
    while (result != 0 && made > 0)
        format_finish(&formats[--made]);
    return result;
}

/* What follows the last dot; "" when there is no dot. */
static const char *extension_of(const char *name)
{
    const char *base = path_name(name);
    size_t stem = path_stem_length(base);
    return base[stem] == '.' ? base + stem + 1 : "";
}

int format_for_name(struct format *format, const char *name, struct fault *fault)
{
    *format = (struct format){0};
    const char *base = path_name(name), *end = extension_of(name), *extension;
    const struct codec *codec = find_writer(end, strlen(end), &extension);
    if (!codec && end[0])
        return unknown_writer(end, strlen(end), base, fault);
    if (!codec)
        return fault_set(fault, FAULT_USAGE,
                         "'%s' has no extension to tell the output format by; say --format", base);
    return format_create(format, codec, extension, fault);
}

bool format_is_named(const char *name)
{
    const char *end = extension_of(name), *extension;
    size_t length = strlen(end);
    return length > 0 &&
           (find_writer(end, length, &extension) || foreign_by_word(end, length) != NULL);
}

int format_check_name(const struct format *format, const char *name, struct fault *fault)
{
    const char *end = extension_of(name);
    if (!format_is_named(name) || find_extension(format->codec, end, strlen(end)))
        return 0;
    struct text names = {0};
    for (const char *const *e = format->codec->extensions; *e; e++)
        text_printf(&names, "%s.%s", names.length ? ", " : "", *e);
    int result =
        fault_set(fault, FAULT_USAGE, "'%s' is no name for --format %s, whose files are called %s",
                  path_name(name), format->codec->name, text_string(&names));
    text_finish(&names);
    return result;
}

void format_finish(struct format *format)
{
    free(format->config);
    *format = (struct format){0};
}

enum metadata_choice format_meta(const struct format *format)
{
    const struct picture_config *config = format->config;
    return format->codec->is_picture ? (enum metadata_choice)config->meta : METADATA_STRIP;
}

bool format_holds_frame(const struct format *format)
{
    const struct picture_config *config = format->config;
    return format->codec->holds_frame && (!format->codec->is_picture || config->pages);
}

double format_mosaic_gain(const struct format *format)
{
    const struct picture_config *config = format->config;
    return format->codec->is_picture && !format_holds_frame(format) ? config->mosaic_gain : 0;
}

int encoder_open(struct encoder *encoder, const struct format *format, size_t plane,
                 struct output *output, struct fault *fault)
{
    *encoder = (struct encoder){.codec = format->codec,
                                .config = format->config,
                                .output = output,
                                .plane = plane,
                                .state = calloc(1, format->codec->encoder_size + 1)};
    return encoder->state ? 0 : fault_set(fault, FAULT_MEMORY, "no memory for an encoder");
}

int encoder_rows(struct encoder *encoder, const struct picture *picture, uint32_t end,
                 struct fault *fault)
{
    int result = encoder->codec->encode(encoder, picture, end, fault);
    encoder->row = end;
    return result;
}

void encoder_close(struct encoder *encoder)
{
    if (encoder->state && encoder->codec->encode_close)
        encoder->codec->encode_close(encoder);
    free(encoder->state);
    *encoder = (struct encoder){0};
}

int format_encode(const struct format *format, const struct picture *picture, size_t plane,
                  struct output *output, struct fault *fault)
{
    struct encoder encoder;
    int result = encoder_open(&encoder, format, plane, output, fault);
    if (result == 0)
        result = encoder_rows(&encoder, picture, picture->frame.planes[plane].height, fault);
    encoder_close(&encoder);
    return result;
}

int format_fit(void *format_, struct plane *plane, struct fault *fault)
{
    const struct format *format = format_;
    return format->codec->fit(format->config, plane, fault);
}
