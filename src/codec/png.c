/* The PNG decoder (ISO/IEC 15948, third edition), by libpng's row interface: every colour type and
 * depth, interlaced or not. tRNS becomes alpha, palettes become RGB or RGBA, grey of 1, 2 and 4
 * bits is scaled to 8; 16 bits stay. Samples are not changed by gAMA or an ICC profile.
 *
 * libpng parses only IHDR, PLTE, tRNS, IDAT and IEND, and checks the CRC of all other chunks. What
 * does not prevent reading is a warning, such as damaged chunks that are not needed, or data behind
 * the pixels. */
#include "codec/png.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <zlib.h>

#include "base/deadline.h"
#include "codec/byte_order.h"
#include "codec/metadata.h"
#include "codec/orient.h"
#include "codec/output.h"

#define CHUNKS_KEPT_MAX 16
#define CHUNK_BYTES_MAX 8000000

/* Bytes of inflate's window and state, of the read buffer and of libpng's struct. */
#define FIXED_MEMORY (128 << 10)

/* With `partial`, libpng reads its input in pieces of this size, because the piece in which a file
 * ends is lost. */
#define PARTIAL_PIECE 64

#define TIME_PIECE 65536 /* bytes between two looks at the time */

#define KEYWORD_MAX 80

#define SIGNATURE 8 /* bytes of PNG_SIGNATURE */
#define HEAD      8 /* of a chunk's length and type; … */
#define CRC       4 /* … and behind its data */

/* ---- libpng's errors as faults ---- */

void png_fail(struct png_errors *errors, enum fault_code code, const char *text)
{
    errors->code = fault_set(errors->fault, code, "%s", text);
    longjmp(errors->escape, 1);
}

static int store_damage(struct png_errors *errors, const char *text)
{
    return codec_library_fault(errors->fault, FAULT_DATA, "damaged png", text);
}

static bool takes_warnings(const struct png_errors *errors)
{
    return errors->decoder && !errors->decoder->options.strict;
}

/* The error "Invalid IHDR data" follows a warning that says more ("Image width is zero in IHDR"),
 * which is reported in its place. */
__attribute__((noreturn)) static void on_error(png_structp png, png_const_charp text)
{
    struct png_errors *errors = png_get_error_ptr(png);
    if (errors->no_memory)
        png_fail(errors, FAULT_MEMORY, "no memory for a png");
    bool explained = errors->warning[0] && strncmp(text, "Invalid IHDR", 12) == 0;
    errors->code = store_damage(errors, explained ? errors->warning : text);
    longjmp(errors->escape, 1);
}

/* Keeps the first warning for png_attempt: the step goes on. */
static void on_warning(png_structp png, png_const_charp text)
{
    struct png_errors *errors = png_get_error_ptr(png);
    if (!errors->warning[0])
        snprintf(errors->warning, sizeof errors->warning, "%s", text);
    if (takes_warnings(errors))
        decoder_warn(errors->decoder, NULL, "%s", text);
}

static png_voidp allocate(png_structp png, png_alloc_size_t size)
{
    struct png_errors *errors = png_get_mem_ptr(png);
    void *memory = malloc(size);
    if (!memory)
        errors->no_memory = true;
    return memory;
}

static void release(png_structp png, png_voidp memory)
{
    free(memory);
}

png_structp png_create(struct png_errors *errors, bool reading)
{
    return (reading ? png_create_read_struct_2 : png_create_write_struct_2)(
        PNG_LIBPNG_VER_STRING, errors, on_error, on_warning, errors, allocate, release);
}

int png_attempt(struct png_errors *errors, void (*step)(void *context), void *context,
                struct fault *fault)
{
    errors->fault = fault;
    errors->code = 0;
    errors->no_memory = false;
    errors->warning[0] = '\0';
    if (setjmp(errors->escape) == 0)
        step(context);
    if (errors->code == 0 && errors->warning[0] && errors->no_memory)
        errors->code = fault_set(fault, FAULT_MEMORY, "no memory for a png");
    else if (errors->code == 0 && errors->warning[0] && !takes_warnings(errors))
        errors->code = store_damage(errors, errors->warning);
    errors->fault = NULL;
    return errors->code;
}

void png_use_host_order(png_structp png, int depth)
{
    if (depth == 16 && !HOST_IS_BIG_ENDIAN)
        png_set_swap(png);
}

/* ---- opening ---- */

struct png_reader {
    struct png_errors errors;
    png_structp png;
    png_infop info;
    uint64_t at; /* where libpng reads */
    bool partial;
    bool interlaced;
    unsigned orientation;
    struct orient place;
    uint32_t next_row; /* the first one that is not decoded yet */
    uint32_t end;      /* of the rows to decode */
    bool begun, cut;   /* libpng has been asked for rows; the file has ended, and rows are black */
};

static bool probe(const uint8_t *data, size_t size)
{
    return size >= 4 && memcmp(data, PNG_SIGNATURE, size < SIGNATURE ? size : SIGNATURE) == 0;
}

static void check_time(struct png_reader *r)
{
    if (deadline_check(r->errors.fault) != 0)
        png_fail(&r->errors, FAULT_TIME, "");
}

/* A file may have very many small chunks in front of its picture and behind it, so the time is
 * checked here, too. */
static void read_bytes(png_structp png, png_bytep to, size_t count)
{
    struct png_reader *r = png_get_io_ptr(png);
    if (r->at / TIME_PIECE != (r->at + count) / TIME_PIECE)
        check_time(r);
    if (input_read(&r->errors.decoder->input, r->at, to, count) < count)
        png_fail(&r->errors, FAULT_TRUNCATED,
                 "truncated png: the file ends before its picture does");
    r->at += count;
}

/* ---- metadata ---- */

/* Metadata in PNG's chunks (ISO/IEC 15948 §11.3): eXIf, iCCP, pHYs, and XMP in iTXt (XMP part 3,
 * §1.1.5). libpng is told to skip these chunks; the file is looked through for them. */
struct chunk {
    const uint8_t *data;
    size_t size;
};

/* Inflates into memory that the caller frees; NULL if the data are damaged, give more than
 * METADATA_MAX bytes, or memory is out. */
static uint8_t *inflate_all(const uint8_t *data, size_t size, size_t *got)
{
    uint8_t *out = malloc(METADATA_MAX);
    z_stream stream = {.next_in = (Bytef *)data, .avail_in = (uInt)size};
    bool whole = false;
    if (out && inflateInit(&stream) == Z_OK) {
        stream.next_out = out;
        stream.avail_out = METADATA_MAX;
        whole = inflate(&stream, Z_FINISH) == Z_STREAM_END;
        *got = METADATA_MAX - stream.avail_out;
        inflateEnd(&stream);
    }
    if (!whole) {
        free(out);
        out = NULL;
    }
    return out;
}

/* iCCP: a keyword, its NUL, the compression method 0, and the deflated profile. */
static void take_profile(struct metadata *metadata, const struct chunk *chunk)
{
    size_t keyword =
        strnlen((const char *)chunk->data, chunk->size < KEYWORD_MAX ? chunk->size : KEYWORD_MAX);
    size_t head = keyword + 2, size = 0;
    if (head >= chunk->size || chunk->data[keyword] != 0 || chunk->data[keyword + 1] != 0)
        return;
    uint8_t *profile = inflate_all(chunk->data + head, chunk->size - head, &size);
    if (profile)
        metadata_set_icc(metadata, profile, size);
    free(profile);
}

static void take_text(struct metadata *metadata, const struct chunk *chunk)
{
    const size_t head = sizeof PNG_XMP + 2; /* then language and translated keyword with NULs */
    if (chunk->size < head + 2 || memcmp(chunk->data, PNG_XMP, sizeof PNG_XMP) != 0)
        return;
    const uint8_t *at = chunk->data + head, *end = chunk->data + chunk->size;
    for (int i = 0; i < 2 && at; i++) {
        at = memchr(at, 0, (size_t)(end - at));
        at = at ? at + 1 : NULL;
    }
    if (!at)
        return;
    size_t size = (size_t)(end - at);
    bool is_deflated = chunk->data[sizeof PNG_XMP] == 1;
    uint8_t *packet = is_deflated ? inflate_all(at, size, &size) : NULL;
    if (packet || !is_deflated)
        metadata_set_xmp(metadata, packet ? packet : at, size);
    free(packet);
}

static void take_density(struct metadata *metadata, const struct chunk *chunk)
{
    if (chunk->size != 9 || metadata->density_x > 0 || chunk->data[8] > 1)
        return;
    metadata->density_x = load_be32(chunk->data);
    metadata->density_y = load_be32(chunk->data + 4);
    metadata->density_unit = chunk->data[8] == 1 ? DENSITY_METRE : DENSITY_ASPECT;
}

/* What is in a chunk that counts, from its type on. */
static void take_chunk(struct decoder *d, const uint8_t *type, const struct chunk *chunk)
{
    if (memcmp(type, "eXIf", 4) == 0)
        metadata_set_exif(&d->metadata, chunk->data, chunk->size, d->options.orient);
    else if (memcmp(type, "iCCP", 4) == 0 && !d->metadata.icc.data)
        take_profile(&d->metadata, chunk);
    else if (memcmp(type, "pHYs", 4) == 0)
        take_density(&d->metadata, chunk);
    else if (memcmp(type, "iTXt", 4) == 0 && !d->metadata.xmp.data)
        take_text(&d->metadata, chunk);
}

static bool is_wanted(const struct decoder *d, const uint8_t *type)
{
    bool keeps = d->options.meta != METADATA_STRIP;
    return memcmp(type, "eXIf", 4) == 0 ? keeps || d->options.orient
           : memcmp(type, "iTXt", 4) == 0
               ? d->options.meta == METADATA_ALL
               : keeps && (memcmp(type, "iCCP", 4) == 0 || memcmp(type, "pHYs", 4) == 0);
}

/* Looks for metadata in the whole file, because they may follow the pixels (§11.3.3.6), but the
 * orientation is needed before these are decoded. It counts whatever the chunk's CRC is, which
 * libpng checks later. */
static int read_metadata(struct decoder *d, struct fault *fault)
{
    struct png_reader *r = d->state;
    bool has_exif = false;
    int result = 0;
    size_t got;
    r->orientation = ORIENT_NONE;
    for (uint64_t at = SIGNATURE; result == 0; result = deadline_check(fault)) {
        const uint8_t *head = input_see(&d->input, at, HEAD, &got);
        uint64_t length = got >= HEAD ? load_be32(head) : 0;
        if (got < HEAD || at + HEAD + length + CRC > d->input.size)
            break;
        if (is_wanted(d, head + 4) && length <= METADATA_MAX) {
            size_t size = (size_t)length;
            head = input_see(&d->input, at, HEAD + size + CRC, &got);
            if (got < HEAD + size + CRC || load_be32(head) != length) /* it has changed */
                break;
            struct chunk chunk = {head + HEAD, size};
            bool is_exif = memcmp(head + 4, "eXIf", 4) == 0;
            if (is_exif && !has_exif && d->options.orient)
                r->orientation = exif_orientation(chunk.data, chunk.size);
            has_exif |= is_exif;
            if (d->options.meta != METADATA_STRIP &&
                load_be32(chunk.data + size) == crc32(0, head + 4, (uInt)size + 4))
                take_chunk(d, head + 4, &chunk);
        }
        at += HEAD + length + CRC;
    }
    return result;
}

/* ---- the header ---- */

static void read_header(void *context)
{
    struct png_reader *r = context;
    r->png = png_create(&r->errors, true);
    r->info = r->png ? png_create_info_struct(r->png) : NULL;
    if (!r->info)
        png_fail(&r->errors, FAULT_MEMORY, "no memory for a decoder");
    png_set_read_fn(r->png, r, read_bytes);
    png_set_benign_errors(r->png, !r->errors.decoder->options.strict);
    png_set_crc_action(r->png, PNG_CRC_ERROR_QUIT,
                       r->errors.decoder->options.strict ? PNG_CRC_ERROR_QUIT
                                                         : PNG_CRC_WARN_DISCARD);
    png_set_user_limits(r->png, INT32_MAX, INT32_MAX); /* decoder_set_plane checks our limit */
    png_set_chunk_cache_max(r->png, CHUNKS_KEPT_MAX);
    png_set_chunk_malloc_max(r->png, CHUNK_BYTES_MAX);
    png_set_keep_unknown_chunks(r->png, PNG_HANDLE_CHUNK_NEVER, NULL, -1);
    if (r->partial)
        png_set_compression_buffer_size(r->png, PARTIAL_PIECE);
    png_read_info(r->png, r->info);
}

static int open_png(struct decoder *d, struct fault *fault)
{
    struct png_reader *r = d->state;
    r->partial = d->options.partial;
    r->errors.decoder = d;
    int result = png_attempt(&r->errors, read_header, r, fault);
    if (result != 0)
        return result;
    uint32_t width = png_get_image_width(r->png, r->info);
    uint32_t height = png_get_image_height(r->png, r->info);
    int colours = png_get_color_type(r->png, r->info);
    bool has_alpha =
        (colours & PNG_COLOR_MASK_ALPHA) || png_get_valid(r->png, r->info, PNG_INFO_tRNS);
    /* after png_set_expand */
    uint32_t channels = (colours & PNG_COLOR_MASK_COLOR ? 3 : 1) + has_alpha;
    bool deep = png_get_bit_depth(r->png, r->info) == 16;
    if ((result = read_metadata(d, fault)) != 0)
        return result;
    r->interlaced = png_get_interlace_type(r->png, r->info) != PNG_INTERLACE_NONE;
    bool transposed = orient_is_transposed(r->orientation);
    d->whole = r->interlaced || !orient_keeps_rows(r->orientation);
    result = decoder_set_plane(d, transposed ? height : width, transposed ? width : height,
                               channels, deep ? SAMPLE_U16 : SAMPLE_U8, fault);
    size_t pixel = channels * (deep ? 2 : 1);
    /* libpng keeps two rows of up to 8 bytes a pixel. */
    d->working_memory = FIXED_MEMORY + 2 * 8 * (uint64_t)width +
                        orient_memory(r->orientation, width, height, pixel, r->interlaced) +
                        input_memory(&d->input, d->input.room);
    return result;
}

/* ---- rows ---- */

static void begin_rows(struct png_reader *r)
{
    if (r->begun)
        return;
    r->begun = true;
    png_set_expand(r->png);
    png_use_host_order(r->png, png_get_bit_depth(r->png, r->info));
    png_set_interlace_handling(r->png);
    png_read_update_info(r->png, r->info);
    if (png_get_rowbytes(r->png, r->info) != (size_t)r->place.width * r->place.pixel)
        png_fail(&r->errors, FAULT_INTERNAL, "png: rows of an unexpected size");
}

static void read_plain_rows(void *context)
{
    struct png_reader *r = context;
    begin_rows(r);
    for (; r->next_row < r->end; r->next_row++) {
        check_time(r);
        png_read_row(r->png, orient_row(&r->place, r->next_row), NULL);
        orient_done(&r->place, r->next_row);
    }
    if (r->end == r->place.height)
        png_read_end(r->png, NULL);
}

/* Decodes Adam7's seven passes into the same rows. With `partial` each pixel also fills the block
 * around it (png_read_row's display row), which later passes refine if the file has them. */
static void read_interlaced_rows(void *context)
{
    struct png_reader *r = context;
    begin_rows(r);
    for (int pass = 0; pass < PNG_INTERLACE_ADAM7_PASSES; pass++) {
        for (uint32_t y = 0; y < r->place.height; y++) {
            png_bytep row = orient_row(&r->place, y);
            check_time(r);
            png_read_row(r->png, r->partial ? NULL : row, r->partial ? row : NULL);
        }
    }
    png_read_end(r->png, NULL);
}

static void blacken_row(struct png_reader *r, uint32_t y)
{
    memset(orient_row(&r->place, y), 0, (size_t)r->place.width * r->place.pixel);
}

static int read_interlaced(struct png_reader *r, struct fault *fault)
{
    for (uint32_t y = 0; r->partial && y < r->place.height; y++)
        blacken_row(r, y);
    int result = png_attempt(&r->errors, read_interlaced_rows, r, fault);
    if (result == 0 || (result == FAULT_TRUNCATED && r->partial))
        for (uint32_t y = 0; y < r->place.height; y++)
            orient_done(&r->place, y);
    return result;
}

static int read_plain(struct png_reader *r, struct fault *fault)
{
    int result = r->cut ? FAULT_TRUNCATED : png_attempt(&r->errors, read_plain_rows, r, fault);
    r->cut = result == FAULT_TRUNCATED && r->partial;
    for (; r->cut && r->next_row < r->end; r->next_row++) {
        blacken_row(r, r->next_row);
        orient_done(&r->place, r->next_row);
    }
    return result;
}

static int read_png(struct decoder *d, struct picture *into, uint32_t end, struct fault *fault)
{
    struct png_reader *r = d->state;
    struct fault why = FAULT_INIT;
    r->errors.decoder = d;
    int result =
        d->row == 0 ? orient_begin(&r->place, r->orientation, into, r->interlaced, fault) : 0;
    if (result != 0)
        return result;
    r->place.into = into;
    r->end = d->whole ? r->place.height : end;
    result = r->interlaced ? read_interlaced(r, &why) : read_plain(r, &why);
    if (result == FAULT_TRUNCATED && r->partial)
        return 0;
    return result ? fault_set(fault, why.code, "%s", why.text) : 0;
}

static void close_png(struct decoder *d)
{
    struct png_reader *r = d->state;
    if (r->png)
        png_destroy_read_struct(&r->png, &r->info, NULL);
    orient_finish(&r->place);
}

/* ---- the format ---- */

static int fit_png(const void *config_, struct plane *plane, struct fault *fault)
{
    const struct png_config *config = config_;
    if (config->bits == 1)
        return fit_bitmap("png:bits=1", plane, fault);
    return fit_type("png", FIT_8_OR_16, plane, fault);
}

static const struct param params[] = {
    PARAM(INTEGER, "level", offsetof(struct png_config, level),
          "of compression: 0 none, 1 fast, 9 small", RANGE(0, 9), DEFAULT("1")),
    PARAM(CHOICE, "bits", offsetof(struct png_config, bits),
          "1: black and white, which are all that the picture may have; auto: as its samples have",
          CHOICES({"auto", 0}, {"1", 1}), DEFAULT("auto")),
    META_PARAM,
    PICTURE_PARAMS,
    {0},
};

static const char *const extensions[] = {"png", NULL};

const struct codec codec_png = {
    .name = "png",
    .extensions = extensions,
    .media_type = "image/png",
    .probe = probe,
    .reads_pieces = true,
    .state_size = sizeof(struct png_reader),
    .open = open_png,
    .read = read_png,
    .close = close_png,
    .params = params,
    .config_size = sizeof(struct png_config),
    .is_picture = true,
    .fit = fit_png,
    .encoder_size = sizeof(struct png_writer),
    .encode = png_encode,
    .encode_close = png_encode_close,
};
