/* The TIFF decoder (TIFF 6.0, its supplements, and BigTIFF), by libtiff: strips and tiles, samples
 * side by side or in planes of their own, of 1 to 16 bits, and of 32 and 64 bits where sluice has
 * such a type.
 *
 * A page's samples are read as they are stored, a row or a tile at a time, and made what a plane
 * can hold: bits are scaled to u8 or u16, palettes and inks become RGB. What has no such samples
 * (YCbCr with fewer of colour than of luma, CIE L*a*b*) goes through libtiff's conversion to RGB.
 */
#include "codec/tiff.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <tiffio.h>

#include "base/deadline.h"
#include "base/number.h"
#include "codec/byte_order.h"
#include "codec/orient.h"
#include "codec/output.h"

/* Of libtiff and the libraries of its compressions. zstd accepts windows of up to 2^27 bytes. */
#define FIXED_MEMORY (1 << 20)
#define ZSTD_MEMORY  (129U << 20)
#define RGBA_PIXEL   4

/* How a page's samples become those of a plane. */
enum way {
    WAY_COPY,    /* they are the plane's */
    WAY_SAMPLES, /* bits are scaled, or samples left out */
    WAY_FLOAT16,
    WAY_PALETTE,
    WAY_INKS,
    WAY_RGBA, /* by libtiff */
};

struct page {
    enum way way;
    uint32_t width, height; /* as stored */
    uint32_t stored;        /* samples a pixel in the file */
    uint32_t channels;      /* of the plane; its type is … */
    enum sample_type type;
    unsigned bits; /* of a sample in the file */
    unsigned orientation;
    bool inverted; /* 0 is white */
    bool apart;    /* each sample has a plane of its own in the file */
    bool tiled;
    bool jpeg; /* libtiff is to make RGB of its YCbCr */
};

/* A page of which rows are read. */
struct reading {
    struct tiff_state *s;
    const struct page *page;
    struct orient place;
    uint8_t *chunk; /* owned */
    uint32_t next;  /* rows before this one are complete */
    bool cut;       /* the file has ended, and rows are black */
};

struct tiff_state {
    TIFF *tiff;
    struct decoder *decoder; /* borrowed */
    uint64_t at;             /* where libtiff reads */
    char error[160];         /* libtiff's first one; "": none */
    size_t n_pages;
    struct page *pages; /* owned */
    struct reading reading;
};

/* ---- libtiff ---- */

static tmsize_t read_bytes(thandle_t handle, void *to, tmsize_t size)
{
    struct tiff_state *s = handle;
    size_t n = input_read(&s->decoder->input, s->at, to, (size_t)size);
    s->at += n;
    return (tmsize_t)n;
}

static tmsize_t write_bytes(thandle_t handle, void *from, tmsize_t size)
{
    return -1;
}

static toff_t seek(thandle_t handle, toff_t at, int whence)
{
    struct tiff_state *s = handle;
    s->at = whence == SEEK_SET ? at : whence == SEEK_CUR ? s->at + at : s->decoder->input.size + at;
    return s->at;
}

static int close_file(thandle_t handle)
{
    return 0;
}

static toff_t size_of(thandle_t handle)
{
    return ((struct tiff_state *)handle)->decoder->input.size;
}

/* Of an input in memory libtiff reads strips where they lie. It does not write to them. */
static int map(thandle_t handle, void **data, toff_t *size)
{
    struct tiff_state *s = handle;
    *data = (void *)s->decoder->data;
    *size = s->decoder->input.size;
    return s->decoder->data != NULL;
}

static void unmap(thandle_t handle, void *data, toff_t size)
{
}

static int on_error(TIFF *tiff, void *context, const char *module, const char *format, va_list args)
{
    struct tiff_state *s = context;
    if (!s->error[0])
        vsnprintf(s->error, sizeof s->error, format, args);
    return 1;
}

static int on_warning(TIFF *tiff, void *context, const char *module, const char *format,
                      va_list args)
{
    struct tiff_state *s = context;
    char line[DECODER_WARNING_MAX];
    if (strncmp(format, "Unknown field", 13) == 0) /* a program's own tags are no mistake */
        return 1;
    vsnprintf(line, sizeof line, format, args);
    struct fault fault = FAULT_INIT;
    if (decoder_warn(s->decoder, &fault, "%s", line) != 0 && !s->error[0])
        snprintf(s->error, sizeof s->error, "%s", line);
    return 1;
}

/* ---- files that end early ---- */

/* A number of the file; 0 behind its end. */
static uint64_t load(struct decoder_input *input, uint64_t at, unsigned size, bool big_endian)
{
    uint64_t value = 0;
    size_t got;
    const uint8_t *see = input_see(input, at, size, &got);
    for (unsigned i = 0; i < size && got >= size; i++)
        value = value << 8 | see[big_endian ? i : size - 1 - i];
    return value;
}

/* True if a directory, or the values of one of its entries, would lie behind the file's end. Looks
 * at no more bytes than the file has, so that directories in a ring end. */
static bool is_cut(struct decoder_input *input)
{
    static const uint8_t sizes[] = {0, 1, 1, 2, 4, 8, 1, 1, 2, 4, 8, 4, 8, 4, 0, 0, 8, 8, 8};
    uint64_t size = input->size;
    bool big_endian = input_byte(input, 0) == 'M', big = load(input, 2, 2, big_endian) == 43;
    unsigned word = big ? 8 : 4, entry = big ? 20 : 12, count_size = big ? 8 : 2;
    if (size < (big ? 16 : 8))
        return true;
    uint64_t at = load(input, big ? 8 : 4, word, big_endian);
    for (uint64_t seen = 0; at != 0 && seen < size;) {
        if (at > size || size - at < count_size)
            return true;
        uint64_t entries = load(input, at, count_size, big_endian);
        at += count_size;
        if ((size - at) / entry < entries || size - at - entries * entry < word)
            return true;
        seen += count_size + entries * entry + word;
        for (uint64_t i = 0; i < entries; i++, at += entry) {
            uint64_t type = load(input, at + 2, 2, big_endian);
            uint64_t count = load(input, at + 4, word, big_endian);
            uint64_t each = type < sizeof sizes ? sizes[type] : 0;
            uint64_t place = load(input, at + 4 + word, word, big_endian);
            if (each > 0 && count > word / each && (place > size || count > (size - place) / each))
                return true;
        }
        at = load(input, at, word, big_endian);
    }
    return false;
}

static int truncated(struct fault *fault)
{
    return fault_set(fault, FAULT_TRUNCATED,
                     "truncated tiff: the file ends before its picture does");
}

static int damaged(struct tiff_state *s, struct fault *fault)
{
    if (is_cut(&s->decoder->input))
        return truncated(fault);
    if (strstr(s->error, "zero tag directories") || strstr(s->error, "directory (0 elements"))
        return fault_set(fault, FAULT_DATA, "damaged tiff: a directory without entries");
    if (strstr(s->error, "limit defined in open options"))
        return fault_set(fault, FAULT_LIMIT, "tiff: %s (--memory)", s->error);
    if (strcasestr(s->error, "memory") || strcasestr(s->error, "alloc") ||
        strstr(s->error, "No space for"))
        return fault_set(fault, FAULT_MEMORY, "no memory for a tiff");
    return codec_library_fault(fault, FAULT_DATA, "damaged tiff",
                               s->error[0] ? s->error : "libtiff gives no reason");
}

/* ---- a page's header ---- */

static int unsupported(struct fault *fault, const char *what)
{
    return fault_set(fault, FAULT_FORMAT, "unsupported tiff: %s", what);
}

static int check_compression(struct decoder *d, const struct tiff_state *s, struct fault *fault)
{
    uint16_t compression = COMPRESSION_NONE;
    TIFFGetFieldDefaulted(s->tiff, TIFFTAG_COMPRESSION, &compression);
    switch (compression) {
    case COMPRESSION_ZSTD:
        d->working_memory += ZSTD_MEMORY;
        /* fall through */
    case COMPRESSION_NONE:
    case COMPRESSION_CCITTRLE:
    case COMPRESSION_CCITTRLEW:
    case COMPRESSION_CCITTFAX3:
    case COMPRESSION_CCITTFAX4:
    case COMPRESSION_LZW:
    case COMPRESSION_JPEG:
    case COMPRESSION_DEFLATE:
    case COMPRESSION_ADOBE_DEFLATE:
    case COMPRESSION_PACKBITS:
        if (TIFFIsCODECConfigured(compression))
            return 0;
    }
    return fault_set(fault, FAULT_FORMAT,
                     "unsupported tiff: compression %u; read are none, CCITT, LZW, JPEG, deflate, "
                     "PackBits and zstd",
                     compression);
}

/* The plane's type for samples of this format and size. */
static int find_type(struct page *page, uint16_t format, struct fault *fault)
{
    static const struct {
        uint16_t format;
        unsigned least, most; /* bits */
        enum sample_type type;
    } types[] = {
        {SAMPLEFORMAT_UINT, 1, 8, SAMPLE_U8},      {SAMPLEFORMAT_UINT, 9, 16, SAMPLE_U16},
        {SAMPLEFORMAT_INT, 8, 8, SAMPLE_I8},       {SAMPLEFORMAT_INT, 16, 16, SAMPLE_I16},
        {SAMPLEFORMAT_INT, 32, 32, SAMPLE_I32},    {SAMPLEFORMAT_IEEEFP, 16, 16, SAMPLE_F32},
        {SAMPLEFORMAT_IEEEFP, 32, 32, SAMPLE_F32}, {SAMPLEFORMAT_IEEEFP, 64, 64, SAMPLE_F64},
    };
    if (format == SAMPLEFORMAT_VOID)
        format = SAMPLEFORMAT_UINT;
    for (size_t i = 0; i < sizeof types / sizeof *types; i++) {
        if (format == types[i].format && page->bits >= types[i].least &&
            page->bits <= types[i].most) {
            page->type = types[i].type;
            bool whole = page->bits == 8 * sample_size(page->type);
            page->way = whole                           ? WAY_COPY
                        : format == SAMPLEFORMAT_IEEEFP ? WAY_FLOAT16
                                                        : WAY_SAMPLES;
            return 0;
        }
    }
    return fault_set(fault, FAULT_FORMAT,
                     "unsupported tiff: samples of %u bits, %s; read are unsigned ones of 1 to 16 "
                     "bits, signed ones of 8, 16 and 32, floats of 16, 32 and 64",
                     page->bits,
                     format == SAMPLEFORMAT_UINT     ? "unsigned"
                     : format == SAMPLEFORMAT_INT    ? "signed"
                     : format == SAMPLEFORMAT_IEEEFP ? "floats"
                                                     : "complex");
}

static int use_rgba(struct page *page, struct tiff_state *s, struct fault *fault)
{
    char why[1024] = "";
    if (!TIFFRGBAImageOK(s->tiff, why))
        return fault_set(fault, FAULT_FORMAT, "unsupported tiff: %.200s", why);
    page->way = WAY_RGBA;
    page->type = SAMPLE_U8;
    page->channels = 3;
    return 0;
}

/* What the samples mean. */
static int find_way(struct page *page, struct tiff_state *s, struct fault *fault)
{
    uint16_t photometric = PHOTOMETRIC_MINISBLACK, format = SAMPLEFORMAT_UINT, compression = 0;
    bool told = TIFFGetField(s->tiff, TIFFTAG_PHOTOMETRIC, &photometric);
    TIFFGetFieldDefaulted(s->tiff, TIFFTAG_SAMPLEFORMAT, &format);
    TIFFGetFieldDefaulted(s->tiff, TIFFTAG_COMPRESSION, &compression);
    if (!told && page->stored >= 3)
        photometric = PHOTOMETRIC_RGB;
    if (photometric == PHOTOMETRIC_YCBCR && compression == COMPRESSION_JPEG && !page->apart) {
        page->jpeg = true;
        TIFFSetField(s->tiff, TIFFTAG_JPEGCOLORMODE, JPEGCOLORMODE_RGB);
        photometric = PHOTOMETRIC_RGB;
    }
    int result = 0;
    page->channels = page->stored;
    switch (photometric) {
    case PHOTOMETRIC_MINISWHITE:
    case PHOTOMETRIC_MINISBLACK:
    case PHOTOMETRIC_RGB:
        result = find_type(page, format, fault);
        page->inverted = photometric == PHOTOMETRIC_MINISWHITE;
        if (result == 0 && page->inverted) {
            if (format != SAMPLEFORMAT_UINT && format != SAMPLEFORMAT_VOID)
                return unsupported(fault, "0 is white, and samples are not unsigned");
            page->way = WAY_SAMPLES;
        }
        if (result == 0 &&
            (page->stored > 4 || (photometric == PHOTOMETRIC_RGB && page->stored < 3)))
            return fault_set(fault, FAULT_FORMAT,
                             "unsupported tiff: %u samples a pixel; a plane has 1 to 4 channels",
                             page->stored);
        return result;
    case PHOTOMETRIC_PALETTE:
        if (page->stored != 1 || page->bits > 8 ||
            (format != SAMPLEFORMAT_UINT && format != SAMPLEFORMAT_VOID))
            return unsupported(fault, "a palette for more than one sample of at most 8 bits");
        page->way = WAY_PALETTE;
        page->channels = 3;
        page->type = SAMPLE_U8;
        return 0;
    case PHOTOMETRIC_SEPARATED:
        result = find_type(page, format, fault);
        if (result == 0 && (page->stored != 4 || page->apart || page->way != WAY_COPY ||
                            (page->type != SAMPLE_U8 && page->type != SAMPLE_U16)))
            return unsupported(fault, "inks other than cyan, magenta, yellow and black of 8 or 16 "
                                      "bits, side by side");
        page->way = WAY_INKS;
        page->channels = 3;
        return result;
    default:
        return use_rgba(page, s, fault);
    }
}

/* Bytes of a row of one chunk: a tile's or the whole picture's, of all samples or of one. */
static uint64_t bytes_of(const struct page *page, uint32_t width)
{
    return ((uint64_t)width * (page->apart ? 1 : page->stored) * page->bits + 7) / 8;
}

static uint64_t chunk_bytes(const struct page *page, TIFF *tiff)
{
    if (page->way == WAY_RGBA) {
        uint32_t width = page->width, rows = page->height;
        if (page->tiled) {
            TIFFGetField(tiff, TIFFTAG_TILEWIDTH, &width);
            TIFFGetField(tiff, TIFFTAG_TILELENGTH, &rows);
        } else {
            TIFFGetFieldDefaulted(tiff, TIFFTAG_ROWSPERSTRIP, &rows);
            rows = rows < page->height ? rows : page->height;
        }
        return (uint64_t)width * rows * RGBA_PIXEL;
    }
    return page->tiled ? TIFFTileSize64(tiff) : TIFFScanlineSize64(tiff);
}

/* The most bytes of a strip or tile that libtiff has in memory of its own, unless the file is in
 * memory: it takes no more than ten times those of its samples. */
static uint64_t stored_bytes(const struct decoder *d, TIFF *tiff)
{
    uint64_t samples = TIFFIsTiled(tiff) ? TIFFTileSize64(tiff) : TIFFStripSize64(tiff);
    uint64_t size = d->data ? 0 : d->input.size;
    return size / 10 < samples ? size : samples * 10;
}

static int read_page_header(struct decoder *d, struct tiff_state *s, struct page *page,
                            struct fault *fault)
{
    uint16_t stored = 1, bits = 1, config = PLANARCONFIG_CONTIG, orientation = ORIENT_NONE;
    TIFFGetField(s->tiff, TIFFTAG_IMAGEWIDTH, &page->width);
    TIFFGetField(s->tiff, TIFFTAG_IMAGELENGTH, &page->height);
    TIFFGetFieldDefaulted(s->tiff, TIFFTAG_SAMPLESPERPIXEL, &stored);
    TIFFGetFieldDefaulted(s->tiff, TIFFTAG_BITSPERSAMPLE, &bits);
    TIFFGetFieldDefaulted(s->tiff, TIFFTAG_PLANARCONFIG, &config);
    TIFFGetFieldDefaulted(s->tiff, TIFFTAG_ORIENTATION, &orientation);
    page->stored = stored;
    page->bits = bits;
    page->apart = config == PLANARCONFIG_SEPARATE && stored > 1;
    page->tiled = TIFFIsTiled(s->tiff);
    page->orientation =
        d->options.orient && orientation >= 1 && orientation <= 8 ? orientation : ORIENT_NONE;
    int result = check_compression(d, s, fault);
    if (result == 0)
        result = find_way(page, s, fault);
    if (result != 0)
        return result;
    bool transposed = orient_is_transposed(page->orientation);
    result = decoder_set_plane(d, transposed ? page->height : page->width,
                               transposed ? page->width : page->height, page->channels, page->type,
                               fault);
    if (result != 0)
        return result;
    double white = 0;
    if (!sample_is_integer(page->type) && !TIFFGetField(s->tiff, TIFFTAG_SMAXSAMPLEVALUE, &white))
        white = 0;
    if (white > 0 && white <= 1e6)
        d->frame.planes[d->frame.n_planes - 1].white = (float)white;
    uint64_t chunk = chunk_bytes(page, s->tiff);
    uint64_t working =
        2 * chunk + stored_bytes(d, s->tiff) +
        orient_memory(page->orientation, page->width, page->height,
                      page->channels * sample_size(page->type), page->tiled || page->apart);
    if (working + FIXED_MEMORY > d->working_memory)
        d->working_memory = working + FIXED_MEMORY;
    return 0;
}

/* ---- metadata ---- */

static void read_metadata(struct decoder *d, struct tiff_state *s)
{
    uint32_t size = 0;
    void *data = NULL;
    float x = 0, y = 0;
    uint16_t unit = RESUNIT_INCH;
    if (d->options.meta == METADATA_STRIP)
        return;
    metadata_set_tiff(&d->metadata, &d->input, d->options.orient);
    if (TIFFGetField(s->tiff, TIFFTAG_ICCPROFILE, &size, &data))
        metadata_set_icc(&d->metadata, data, size);
    if (d->options.meta == METADATA_ALL && TIFFGetField(s->tiff, TIFFTAG_XMLPACKET, &size, &data))
        metadata_set_xmp(&d->metadata, data, size);
    TIFFGetFieldDefaulted(s->tiff, TIFFTAG_RESOLUTIONUNIT, &unit);
    if (TIFFGetField(s->tiff, TIFFTAG_XRESOLUTION, &x) &&
        TIFFGetField(s->tiff, TIFFTAG_YRESOLUTION, &y) && x >= 1 && y >= 1 && x < 1e9F &&
        y < 1e9F) {
        d->metadata.density_x = (uint32_t)(x + 0.5F);
        d->metadata.density_y = (uint32_t)(y + 0.5F);
        d->metadata.density_unit = unit == RESUNIT_NONE         ? DENSITY_ASPECT
                                   : unit == RESUNIT_CENTIMETER ? DENSITY_CENTIMETRE
                                                                : DENSITY_INCH;
    }
}

/* ---- opening ---- */

static bool probe(const uint8_t *data, size_t size)
{
    return size >= 4 && (memcmp(data, "II*\0", 4) == 0 || memcmp(data, "MM\0*", 4) == 0 ||
                         memcmp(data, "II+\0", 4) == 0 || memcmp(data, "MM\0+", 4) == 0);
}

/* A plane's name: what its page is called if that can be a plane's name, else its number. */
static void name_plane(struct decoder *d, struct tiff_state *s, size_t number)
{
    struct plane *plane = &d->frame.planes[d->frame.n_planes - 1];
    char *name = NULL;
    if (TIFFGetField(s->tiff, TIFFTAG_PAGENAME, &name) && name &&
        plane_is_name(name, strnlen(name, PLANE_NAME_MAX)) &&
        frame_find_plane(&d->frame, name) == -1)
        snprintf(plane->name, sizeof plane->name, "%s", name);
    else
        snprintf(plane->name, sizeof plane->name, "page%zu", number);
}

static int read_all_headers(struct decoder *d, struct tiff_state *s, struct fault *fault)
{
    int result = 0;
    do {
        struct page *more = realloc(s->pages, (s->n_pages + 1) * sizeof *more);
        if (!more)
            return fault_set(fault, FAULT_MEMORY, "no memory for a tiff's pages");
        s->pages = more;
        s->pages[s->n_pages] = (struct page){0};
        result = read_page_header(d, s, &s->pages[s->n_pages++], fault);
        if (result == 0)
            name_plane(d, s, s->n_pages);
        if (result == 0)
            result = deadline_check(fault);
    } while (result == 0 && s->n_pages < FRAME_PLANES_MAX && TIFFReadDirectory(s->tiff));
    if (result == 0 && s->n_pages == 1)
        d->frame.planes[0].name[0] = '\0';
    return result;
}

static int read_one_header(struct decoder *d, struct tiff_state *s, struct fault *fault)
{
    if (d->options.page > 1 && !TIFFSetDirectory(s->tiff, (tdir_t)(d->options.page - 1)))
        return fault_set(fault, FAULT_SHAPE,
                         "the tiff has %u pages, and page=%lld asks for another",
                         (unsigned)TIFFNumberOfDirectories(s->tiff), (long long)d->options.page);
    s->pages = calloc(1, sizeof *s->pages);
    if (!s->pages)
        return fault_set(fault, FAULT_MEMORY, "no memory for a tiff's pages");
    s->n_pages = 1;
    int result = read_page_header(d, s, s->pages, fault);
    if (result == 0 && d->options.page == 0 && !TIFFLastDirectory(s->tiff))
        result = decoder_warn(d, fault,
                              "the first of several pages is taken; page=N takes another "
                              "one, pages=1 all as planes");
    return result;
}

/* Whether rows are complete one after the other. */
static bool comes_by_rows(const struct page *page)
{
    return !page->tiled && !page->apart && page->way != WAY_RGBA;
}

static void end_page(struct reading *r)
{
    free(r->chunk);
    orient_finish(&r->place);
    *r = (struct reading){0};
}

static int open_tiff(struct decoder *d, struct fault *fault)
{
    struct tiff_state *s = d->state;
    s->decoder = d;
    TIFFOpenOptions *options = TIFFOpenOptionsAlloc();
    if (!options)
        return fault_set(fault, FAULT_MEMORY, "no memory for a decoder");
    uint64_t most = d->limits.memory < INT64_MAX ? d->limits.memory : INT64_MAX;
    TIFFOpenOptionsSetMaxSingleMemAlloc(options, most < (1 << 20) ? 1 << 20 : (tmsize_t)most);
    TIFFOpenOptionsSetErrorHandlerExtR(options, on_error, s);
    TIFFOpenOptionsSetWarningHandlerExtR(options, on_warning, s);
    /* O: places of strips are read when they are needed, not all at once. */
    s->tiff = TIFFClientOpenExt("", "rO", s, read_bytes, write_bytes, seek, close_file, size_of,
                                map, unmap, options);
    TIFFOpenOptionsFree(options);
    if (!s->tiff)
        return damaged(s, fault);
    int result = d->options.pages ? read_all_headers(d, s, fault) : read_one_header(d, s, fault);
    if (result == FAULT_DATA && is_cut(&d->input)) {
        fault_clear(fault);
        return truncated(fault);
    }
    /* A directory behind the last page, too damaged to be one, is not to be taken for a page. */
    if (result == 0 && d->options.pages && !TIFFSetDirectory(s->tiff, 0))
        result = damaged(s, fault);
    if (result != 0)
        return result;
    read_metadata(d, s);
    d->whole = s->n_pages > 1 || !comes_by_rows(&s->pages[0]) ||
               !orient_keeps_rows(s->pages[0].orientation);
    return 0;
}

static void close_tiff(struct decoder *d)
{
    struct tiff_state *s = d->state;
    end_page(&s->reading);
    if (s->tiff)
        TIFFClose(s->tiff);
    free(s->pages);
}

/* ---- samples ---- */

/* Sample `i` of a row of samples of 1 to 16 bits: of 8 and 16 in the processor's order, else the
 * first one in the highest bits. */
static unsigned get_bits(const uint8_t *row, uint64_t i, unsigned bits)
{
    if (bits == 8)
        return row[i];
    if (bits == 16) {
        uint16_t value;
        memcpy(&value, row + 2 * i, 2);
        return value;
    }
    uint64_t at = i * bits;
    uint32_t value = 0;
    for (unsigned got = 0; got < bits;) {
        unsigned left = 8 - (at + got) % 8, take = left < bits - got ? left : bits - got;
        unsigned byte = row[(at + got) / 8] >> (left - take) & ((1U << take) - 1);
        value = value << take | byte;
        got += take;
    }
    return value;
}

/* A float of 16 bits (IEEE 754-2008 §3.4). */
static float from_float16(uint16_t half)
{
    uint32_t sign = (uint32_t)(half & 0x8000) << 16, exponent = half >> 10 & 31,
             mantissa = half & 1023;
    uint32_t bits = sign | (exponent + 112) << 23 | mantissa << 13;
    float value;
    if (exponent == 31)
        bits = sign | 0x7F800000 | mantissa << 13;
    if (exponent == 0) { /* a subnormal one is a multiple of 2^-24 */
        value = (float)mantissa * 0x1p-24F;
        return sign ? -value : value;
    }
    memcpy(&value, &bits, sizeof value);
    return value;
}

static void convert_samples(const struct page *page, const uint8_t *from, uint32_t width,
                            uint32_t sample, uint8_t *to)
{
    uint32_t in = page->apart ? 1 : page->stored;
    uint32_t most = (1U << page->bits) - 1, white = page->type == SAMPLE_U8 ? 255 : 65535;
    for (uint32_t x = 0; x < width; x++) {
        for (uint32_t c = 0; c < in; c++) {
            uint32_t value = get_bits(from, (uint64_t)x * in + c, page->bits);
            if (page->inverted && sample + c == 0)
                value = most - value;
            value = (uint32_t)(((uint64_t)value * white + most / 2) / most);
            size_t at = (size_t)x * page->channels + sample + c;
            if (page->type == SAMPLE_U8)
                to[at] = (uint8_t)value;
            else
                memcpy(to + 2 * at, &(uint16_t){(uint16_t)value}, 2);
        }
    }
}

static void convert_floats(const struct page *page, const uint8_t *from, uint32_t width,
                           uint32_t sample, uint8_t *to)
{
    uint32_t in = page->apart ? 1 : page->stored;
    for (uint32_t x = 0; x < width; x++)
        for (uint32_t c = 0; c < in; c++) {
            uint16_t half;
            memcpy(&half, from + 2 * ((size_t)x * in + c), 2);
            float value = from_float16(half);
            memcpy(to + 4 * ((size_t)x * page->channels + sample + c), &value, 4);
        }
}

/* Samples of a row of which each has a plane of its own, put where they belong. */
static void spread(const struct page *page, const uint8_t *from, uint32_t width, uint32_t sample,
                   uint8_t *to)
{
    size_t size = sample_size(page->type), pixel = size * page->channels;
    for (uint32_t x = 0; x < width; x++)
        memcpy(to + x * pixel + sample * size, from + x * size, size);
}

/* Colours have 16 bits; files that have only 8 of them are against the format, and common. */
static void convert_palette(const struct page *page, TIFF *tiff, const uint8_t *from,
                            uint32_t width, uint8_t *to)
{
    uint16_t *map[3] = {0};
    bool narrow = true;
    if (!TIFFGetField(tiff, TIFFTAG_COLORMAP, &map[0], &map[1], &map[2]))
        return;
    for (unsigned i = 0; i < 1U << page->bits && narrow; i++)
        narrow = map[0][i] < 256 && map[1][i] < 256 && map[2][i] < 256;
    for (uint32_t x = 0; x < width; x++) {
        unsigned index = get_bits(from, x, page->bits);
        for (int c = 0; c < 3; c++)
            to[3 * (size_t)x + c] = (uint8_t)(narrow ? map[c][index] : map[c][index] >> 8);
    }
}

/* As JPEG's: each colour is what its ink and black leave of white. */
static void convert_inks(const struct page *page, const uint8_t *from, uint32_t width, uint8_t *to)
{
    unsigned bits = page->bits, most = (1U << bits) - 1;
    for (uint32_t x = 0; x < width; x++) {
        uint64_t white = most - get_bits(from, 4 * (uint64_t)x + 3, bits);
        for (unsigned c = 0; c < 3; c++) {
            uint64_t left = most - get_bits(from, 4 * (uint64_t)x + c, bits);
            uint64_t value = (left * white + most / 2) / most;
            if (bits == 8)
                to[3 * (size_t)x + c] = (uint8_t)value;
            else
                memcpy(to + 2 * (3 * (size_t)x + c), &(uint16_t){(uint16_t)value}, 2);
        }
    }
}

/* Makes `width` pixels of the plane from one row of a chunk: of all samples, or of number `sample`
 * where each has a plane of its own. */
static void convert_row(const struct page *page, TIFF *tiff, const uint8_t *from, uint32_t width,
                        uint32_t sample, uint8_t *to)
{
    switch (page->way) {
    case WAY_COPY:
        if (page->apart)
            spread(page, from, width, sample, to);
        else
            memcpy(to, from, width * page->channels * sample_size(page->type));
        break;
    case WAY_SAMPLES:
        convert_samples(page, from, width, sample, to);
        break;
    case WAY_FLOAT16:
        convert_floats(page, from, width, sample, to);
        break;
    case WAY_PALETTE:
        convert_palette(page, tiff, from, width, to);
        break;
    case WAY_INKS:
        convert_inks(page, from, width, to);
        break;
    case WAY_RGBA:
        break;
    }
}

/* ---- pixels ---- */

/* True if the strip or tile is not whole in the file. */
static bool lies_behind(const struct tiff_state *s, uint32_t chunk)
{
    uint64_t at = TIFFGetStrileOffset(s->tiff, chunk),
             size = TIFFGetStrileByteCount(s->tiff, chunk);
    return at > s->decoder->input.size || size > s->decoder->input.size - at;
}

static int check_chunk(const struct reading *r, uint32_t chunk, struct fault *fault)
{
    int result = deadline_check(fault);
    return result ? result : lies_behind(r->s, chunk) ? truncated(fault) : 0;
}

static int read_strips(struct reading *r, uint32_t end, struct fault *fault)
{
    const struct page *page = r->page;
    TIFF *tiff = r->s->tiff;
    uint32_t strip = UINT32_MAX;
    for (uint32_t sample = 0; sample < (page->apart ? page->stored : 1); sample++)
        for (uint32_t y = page->apart ? 0 : r->next; y < end; y++) {
            uint32_t number = TIFFComputeStrip(tiff, y, (uint16_t)sample);
            int result = number == strip ? 0 : check_chunk(r, number, fault);
            strip = number;
            if (result != 0)
                return result;
            if (TIFFReadScanline(tiff, r->chunk, y, (uint16_t)sample) < 0)
                return damaged(r->s, fault);
            convert_row(page, tiff, r->chunk, page->width, sample, orient_row(&r->place, y));
            if (!page->apart)
                orient_done(&r->place, y);
            r->next = page->apart && sample + 1 < page->stored ? 0 : y + 1;
        }
    return 0;
}

static int read_tiles(struct reading *r, struct fault *fault)
{
    const struct page *page = r->page;
    TIFF *tiff = r->s->tiff;
    uint32_t width = 0, height = 0;
    TIFFGetField(tiff, TIFFTAG_TILEWIDTH, &width);
    TIFFGetField(tiff, TIFFTAG_TILELENGTH, &height);
    size_t stride = (size_t)bytes_of(page, width);
    size_t pixel = page->channels * sample_size(page->type);
    for (uint32_t y = 0; y < page->height; y += height) {
        uint32_t rows = page->height - y < height ? page->height - y : height;
        for (uint32_t sample = 0; sample < (page->apart ? page->stored : 1); sample++)
            for (uint32_t x = 0; x < page->width; x += width) {
                uint32_t number = TIFFComputeTile(tiff, x, y, 0, (uint16_t)sample);
                uint32_t columns = page->width - x < width ? page->width - x : width;
                int result = check_chunk(r, number, fault);
                if (result != 0)
                    return result;
                if (TIFFReadEncodedTile(tiff, number, r->chunk, -1) < 0)
                    return damaged(r->s, fault);
                for (uint32_t i = 0; i < rows; i++)
                    convert_row(page, tiff, r->chunk + i * stride, columns, sample,
                                (uint8_t *)orient_row(&r->place, y + i) + x * pixel);
            }
        r->next = y + rows;
    }
    return 0;
}

/* By libtiff's conversion, whose rows go from the bottom up. */
static int read_rgba(struct reading *r, struct fault *fault)
{
    const struct page *page = r->page;
    TIFF *tiff = r->s->tiff;
    uint32_t width = page->width, height = page->height;
    const uint32_t *raster = (const uint32_t *)(void *)r->chunk;
    TIFFSetField(tiff, TIFFTAG_ORIENTATION, ORIENTATION_TOPLEFT);
    if (page->tiled) {
        TIFFGetField(tiff, TIFFTAG_TILEWIDTH, &width);
        TIFFGetField(tiff, TIFFTAG_TILELENGTH, &height);
    } else {
        TIFFGetFieldDefaulted(tiff, TIFFTAG_ROWSPERSTRIP, &height);
        height = height < page->height ? height : page->height;
    }
    for (uint32_t y = 0; y < page->height; y += height) {
        uint32_t rows = page->height - y < height ? page->height - y : height;
        uint32_t last = page->tiled ? height - 1 : rows - 1;
        for (uint32_t x = 0; x < page->width; x += width) {
            uint32_t columns = page->width - x < width ? page->width - x : width;
            int result = check_chunk(
                r, page->tiled ? TIFFComputeTile(tiff, x, y, 0, 0) : TIFFComputeStrip(tiff, y, 0),
                fault);
            if (result != 0)
                return result;
            if (!(page->tiled ? TIFFReadRGBATileExt(tiff, x, y, (uint32_t *)(void *)r->chunk, 1)
                              : TIFFReadRGBAStripExt(tiff, y, (uint32_t *)(void *)r->chunk, 1)))
                return damaged(r->s, fault);
            for (uint32_t i = 0; i < rows; i++) {
                uint8_t *to = (uint8_t *)orient_row(&r->place, y + i) + (size_t)x * 3;
                const uint32_t *from = raster + (size_t)(last - i) * width;
                for (uint32_t k = 0; k < columns; k++, to += 3) {
                    to[0] = (uint8_t)TIFFGetR(from[k]);
                    to[1] = (uint8_t)TIFFGetG(from[k]);
                    to[2] = (uint8_t)TIFFGetB(from[k]);
                }
            }
        }
        r->next = y + rows;
    }
    return 0;
}

static int begin_page(struct tiff_state *s, const struct page *page, const struct picture *into,
                      struct fault *fault)
{
    struct reading *r = &s->reading;
    uint64_t size = chunk_bytes(page, s->tiff);
    *r = (struct reading){.s = s, .page = page};
    if (size == 0 || size > PTRDIFF_MAX)
        return damaged(s, fault);
    int result = orient_begin(&r->place, page->orientation, into, !comes_by_rows(page), fault);
    if (result == 0 && !(r->chunk = calloc(1, (size_t)size)))
        result = fault_set(fault, FAULT_MEMORY, "no memory for a tiff's samples");
    return result;
}

/* Reads the rows in front of `end` of a page that has begun. */
static int read_page(struct reading *r, uint32_t end, struct fault *fault)
{
    const struct page *page = r->page;
    struct fault why = FAULT_INIT;
    size_t row = page->width * page->channels * sample_size(page->type);
    int result = FAULT_TRUNCATED;
    if (page->way == WAY_RGBA)
        result = read_rgba(r, &why);
    else if (!r->cut)
        result = page->tiled ? read_tiles(r, &why) : read_strips(r, end, &why);
    r->cut = result == FAULT_TRUNCATED && r->s->decoder->options.partial;
    for (; r->cut && r->next < end; r->next++) {
        memset(orient_row(&r->place, r->next), 0, row);
        if (comes_by_rows(page))
            orient_done(&r->place, r->next);
    }
    if (result != 0 && !r->cut)
        return fault_set(fault, why.code, "%s", why.text);
    for (uint32_t y = 0; y < page->height && !comes_by_rows(page); y++)
        orient_done(&r->place, y);
    return 0;
}

static int read_tiff(struct decoder *d, struct picture *into, uint32_t end, struct fault *fault)
{
    struct tiff_state *s = d->state;
    int result = 0;
    if (d->row == 0 && !d->options.partial && is_cut(&d->input))
        return truncated(fault);
    for (size_t i = 0; i < s->n_pages && result == 0; i++) {
        const struct picture one = {{.n_planes = 1, .planes = &into->frame.planes[i]}, into->data};
        if (s->n_pages > 1 && !TIFFSetDirectory(s->tiff, (tdir_t)i))
            return damaged(s, fault);
        if (s->n_pages > 1 && s->pages[i].jpeg)
            TIFFSetField(s->tiff, TIFFTAG_JPEGCOLORMODE, JPEGCOLORMODE_RGB);
        if (d->row == 0)
            result = begin_page(s, &s->pages[i], &one, fault);
        s->reading.place.into = &one;
        if (result == 0)
            result = read_page(&s->reading, d->whole ? s->pages[i].height : end, fault);
        if (d->whole)
            end_page(&s->reading);
    }
    return result;
}

/* ---- the format ---- */

static int fit_tiff(const void *config_, struct plane *plane, struct fault *fault)
{
    const struct tiff_config *config = config_;
    if (config->bits == 1)
        return fit_bitmap("tiff:bits=1", plane, fault);
    return fit_any(config, plane, fault);
}

static const struct param_choice compressions[] = {{"none", COMPRESSION_NONE},
                                                   {"deflate", COMPRESSION_ADOBE_DEFLATE},
                                                   {"lzw", COMPRESSION_LZW},
                                                   {"packbits", COMPRESSION_PACKBITS},
                                                   {NULL, 0}};

static const struct param params[] = {
    PARAM(CHOICE, "compression", offsetof(struct tiff_config, compression),
          "of the samples; deflate and lzw store differences of neighbours",
          .choices = compressions, DEFAULT("deflate")),
    PARAM(INTEGER, "level", offsetof(struct tiff_config, level), "of deflate: 1 fast, 9 small",
          RANGE(1, 9), DEFAULT("1")),
    PARAM(CHOICE, "bits", offsetof(struct tiff_config, bits),
          "1: black and white, which are all that the picture may have; auto: as its samples have",
          CHOICES({"auto", 0}, {"1", 1}), DEFAULT("auto")),
    PARAM(FLAG, "pages", offsetof(struct picture_config, pages),
          "1 writes all planes into one file, each as a page; 0 a file for each", DEFAULT("0")),
    META_PARAM,
    PICTURE_PARAMS,
    {0},
};

static const char *const extensions[] = {"tif", "tiff", NULL};

const struct codec codec_tiff = {
    .name = "tiff",
    .extensions = extensions,
    .media_type = "image/tiff",
    .probe = probe,
    .reads_pieces = true,
    .state_size = sizeof(struct tiff_state),
    .open = open_tiff,
    .read = read_tiff,
    .close = close_tiff,
    .params = params,
    .config_size = sizeof(struct tiff_config),
    .has_pages = true,
    .is_picture = true,
    .fit = fit_tiff,
    .holds_frame = true,
    .encoder_size = sizeof(struct tiff_writer),
    .encode = tiff_encode,
    .encode_close = tiff_encode_close,
};
