/* The TIFF encoder, by libtiff: strips of some 64 KiB, samples as the plane has them. Floats get a
 * tag with their white (SMaxSampleValue), a page the name of its plane.
 *
 * libtiff writes the place of the first directory into the header when it knows it, and reads its
 * own file where it adds a page to others. A file of one page goes out as it is made, with the
 * header mended at the end; other outputs, pipes among them, are made in memory. */
#include "codec/tiff.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <tiffio.h>

#include "base/deadline.h"
#include "codec/output.h"

#define STRIP_BYTES 65536
#define CLASSIC_MAX (3900ULL << 20) /* bytes of samples; larger files are BigTIFF */

static bool reserve(struct tiff_sink *s, uint64_t size)
{
    if (size <= s->room)
        return true;
    size_t room = s->room + s->room / 2 > size ? s->room + s->room / 2 : (size_t)size + STRIP_BYTES;
    uint8_t *more = realloc(s->memory, room);
    if (!more) {
        s->no_memory = true;
        return false;
    }
    memset(more + s->room, 0, room - s->room);
    s->memory = more;
    s->room = room;
    return true;
}

static tmsize_t write_bytes(thandle_t handle, void *from, tmsize_t size)
{
    struct tiff_sink *s = handle;
    if (!s->direct) {
        if (!reserve(s, s->at + (uint64_t)size))
            return -1;
        memcpy(s->memory + s->at, from, (size_t)size);
    } else if (s->at >= s->end) { /* libtiff leaves a byte out where an offset would be odd */
        for (; s->end < s->at; s->end++)
            output_write(s->output, "", 1);
        output_write(s->output, from, (size_t)size);
    } else {
        output_mend(s->output, s->at, from, (size_t)size);
    }
    s->at += (uint64_t)size;
    s->end = s->at > s->end ? s->at : s->end;
    return s->direct && s->output->fault.code ? -1 : size;
}

static tmsize_t read_bytes(thandle_t handle, void *to, tmsize_t size)
{
    struct tiff_sink *s = handle;
    uint64_t left = s->at < s->end && !s->direct ? s->end - s->at : 0;
    size_t n = left < (uint64_t)size ? (size_t)left : (size_t)size;
    if (n > 0)
        memcpy(to, s->memory + s->at, n);
    s->at += n;
    return (tmsize_t)n;
}

static toff_t seek(thandle_t handle, toff_t at, int whence)
{
    struct tiff_sink *s = handle;
    s->at = whence == SEEK_SET ? at : whence == SEEK_CUR ? s->at + at : s->end + at;
    return s->at;
}

static int close_file(thandle_t handle)
{
    return 0;
}

static toff_t size_of(thandle_t handle)
{
    return ((struct tiff_sink *)handle)->end;
}

static int on_error(TIFF *tiff, void *context, const char *module, const char *format, va_list args)
{
    struct tiff_sink *s = context;
    char text[160];
    vsnprintf(text, sizeof text, format, args);
    if (!s->fault.code)
        fault_set(&s->fault, FAULT_MEMORY, "no memory for a tiff: %s", text);
    return 1;
}

static int on_warning(TIFF *tiff, void *context, const char *module, const char *format,
                      va_list args)
{
    return 1;
}

/* ---- metadata ---- */

static void write_density(TIFF *tiff, const struct metadata *m)
{
    enum density_unit unit =
        m->density_unit == DENSITY_METRE ? DENSITY_CENTIMETRE : m->density_unit;
    uint32_t x = metadata_density(m, m->density_x, unit),
             y = metadata_density(m, m->density_y, unit);
    if (x == 0 || y == 0)
        return;
    TIFFSetField(tiff, TIFFTAG_XRESOLUTION, (double)x);
    TIFFSetField(tiff, TIFFTAG_YRESOLUTION, (double)y);
    TIFFSetField(tiff, TIFFTAG_RESOLUTIONUNIT,
                 unit == DENSITY_ASPECT       ? RESUNIT_NONE
                 : unit == DENSITY_CENTIMETRE ? RESUNIT_CENTIMETER
                                              : RESUNIT_INCH);
}

/* Exif's directories go behind the samples, their offsets made those of this file; the first
 * directory's texts become the page's own. */
static void write_exif(TIFF *tiff, struct tiff_sink *s, const struct metadata *m)
{
    static const uint16_t texts[] = {TIFFTAG_IMAGEDESCRIPTION, TIFFTAG_MAKE,     TIFFTAG_MODEL,
                                     TIFFTAG_SOFTWARE,         TIFFTAG_DATETIME, TIFFTAG_ARTIST,
                                     TIFFTAG_HOSTCOMPUTER,     TIFFTAG_COPYRIGHT};
    struct exif_copy copy;
    char text[256];
    s->at = s->end;
    if (s->end % 2 == 1) /* offsets are even */
        write_bytes(s, (char[]){0}, 1);
    struct decoder_input input = input_of_memory(m->exif.data, m->exif.size);
    if (s->end > INT32_MAX || !exif_copy(&input, (uint32_t)s->end, &copy))
        return;
    write_bytes(s, copy.block.data, (tmsize_t)copy.block.size);
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        if (exif_text(m->exif.data, m->exif.size, texts[i], text, sizeof text))
            TIFFSetField(tiff, texts[i], text);
    TIFFSetField(tiff, TIFFTAG_ORIENTATION, (uint16_t)exif_orientation(m->exif.data, m->exif.size));
    if (copy.exif)
        TIFFSetField(tiff, TIFFTAG_EXIFIFD, (uint64_t)copy.exif);
    if (copy.gps)
        TIFFSetField(tiff, TIFFTAG_GPSIFD, (uint64_t)copy.gps);
    free(copy.block.data);
}

static void write_blocks(TIFF *tiff, const struct metadata *m, uint32_t channels)
{
    struct metadata_block icc = metadata_profile(m, channels);
    write_density(tiff, m);
    if (icc.data)
        TIFFSetField(tiff, TIFFTAG_ICCPROFILE, (uint32_t)icc.size, icc.data);
    if (m->xmp.data)
        TIFFSetField(tiff, TIFFTAG_XMLPACKET, (uint32_t)m->xmp.size, m->xmp.data);
}

/* ---- a page ---- */

static void set_fields(TIFF *tiff, const struct tiff_config *config, const struct plane *plane)
{
    static const uint16_t unassociated = EXTRASAMPLE_UNASSALPHA;
    bool floats = !sample_is_integer(plane->type);
    unsigned bits = config->bits == 1 ? 1 : 8 * (unsigned)sample_size(plane->type);
    uint64_t row = (uint64_t)plane->width * plane->channels * bits / 8 + 1;
    TIFFSetField(tiff, TIFFTAG_IMAGEWIDTH, plane->width);
    TIFFSetField(tiff, TIFFTAG_IMAGELENGTH, plane->height);
    TIFFSetField(tiff, TIFFTAG_SAMPLESPERPIXEL, (uint16_t)plane->channels);
    TIFFSetField(tiff, TIFFTAG_BITSPERSAMPLE, (uint16_t)bits);
    TIFFSetField(tiff, TIFFTAG_SAMPLEFORMAT,
                 floats                        ? SAMPLEFORMAT_IEEEFP
                 : sample_min(plane->type) < 0 ? SAMPLEFORMAT_INT
                                               : SAMPLEFORMAT_UINT);
    TIFFSetField(tiff, TIFFTAG_PLANARCONFIG, PLANARCONFIG_CONTIG);
    TIFFSetField(tiff, TIFFTAG_PHOTOMETRIC,
                 plane->channels > 2 ? PHOTOMETRIC_RGB : PHOTOMETRIC_MINISBLACK);
    if (plane_has_alpha(plane))
        TIFFSetField(tiff, TIFFTAG_EXTRASAMPLES, 1, &unassociated);
    TIFFSetField(tiff, TIFFTAG_ROWSPERSTRIP, (uint32_t)(row < STRIP_BYTES ? STRIP_BYTES / row : 1));
    TIFFSetField(tiff, TIFFTAG_COMPRESSION, (uint16_t)config->compression);
    if (config->compression == COMPRESSION_ADOBE_DEFLATE)
        TIFFSetField(tiff, TIFFTAG_ZIPQUALITY, (int)config->level);
    bool coded =
        config->compression == COMPRESSION_ADOBE_DEFLATE || config->compression == COMPRESSION_LZW;
    if (coded && bits > 1)
        TIFFSetField(tiff, TIFFTAG_PREDICTOR,
                     floats ? PREDICTOR_FLOATINGPOINT : PREDICTOR_HORIZONTAL);
    if (floats && plane->white > 0)
        TIFFSetField(tiff, TIFFTAG_SMAXSAMPLEVALUE, (double)plane->white);
}

/* Begins the page of a plane. */
static int begin_page(struct tiff_writer *w, const struct tiff_config *config,
                      const struct picture *picture, size_t index, struct fault *fault)
{
    const struct plane *plane = &picture->frame.planes[index];
    const struct metadata *m = w->sink.output->metadata;
    set_fields(w->tiff, config, plane);
    if (config->picture.pages && picture->frame.n_planes > 1) {
        TIFFSetField(w->tiff, TIFFTAG_SUBFILETYPE, FILETYPE_PAGE);
        TIFFSetField(w->tiff, TIFFTAG_PAGENUMBER, (uint16_t)index,
                     (uint16_t)picture->frame.n_planes);
        TIFFSetField(w->tiff, TIFFTAG_PAGENAME, plane->name);
    }
    if (m)
        write_blocks(w->tiff, m, plane->channels);
    free(w->row);
    w->row = malloc(plane_row_bytes(plane) + 1);
    return w->row ? 0 : fault_set(fault, FAULT_MEMORY, "no memory for a row");
}

/* libtiff's predictors change the rows that they get, so each is copied. */
static int write_rows(struct tiff_writer *w, const struct tiff_config *config,
                      const struct picture *picture, size_t index, uint32_t y, uint32_t end,
                      struct fault *fault)
{
    int result =
        config->bits == 1 ? fit_check_bits("tiff:bits=1", picture, index, y, end, fault) : 0;
    for (; y < end && result == 0; y++) {
        if (config->bits == 1)
            fit_bits(picture, index, y, false, w->row);
        else
            memcpy(w->row, picture_row(picture, index, y),
                   plane_row_bytes(&picture->frame.planes[index]));
        result = deadline_check(fault);
        if (result == 0 && TIFFWriteScanline(w->tiff, w->row, y, 0) < 0)
            result = FAULT_IO;
    }
    return result;
}

static int end_page(struct tiff_writer *w, bool is_first)
{
    const struct metadata *m = w->sink.output->metadata;
    if (!TIFFFlushData(w->tiff))
        return FAULT_IO;
    if (m && m->exif.data && is_first && !w->sink.no_memory)
        write_exif(w->tiff, &w->sink, m);
    return TIFFWriteDirectory(w->tiff) ? 0 : FAULT_IO;
}

/* ---- a file ---- */

static int begin_file(struct tiff_writer *w, struct encoder *e, uint64_t bytes, size_t count,
                      struct fault *fault)
{
    const struct metadata *m = e->output->metadata;
    w->sink.output = e->output;
    w->sink.direct = count == 1 && output_can_mend(e->output);
    fault_clear(&w->sink.fault);
    /* Exif is copied, so the file has its order of bytes. */
    bool big_endian = m && m->exif.size > 0 && m->exif.data[0] == 'M';
    char mode[] = {'w', big_endian ? 'b' : 'l', bytes > CLASSIC_MAX ? '8' : '4', 0};
    TIFFOpenOptions *options = TIFFOpenOptionsAlloc();
    if (!options)
        return fault_set(fault, FAULT_MEMORY, "no memory for an encoder");
    TIFFOpenOptionsSetErrorHandlerExtR(options, on_error, &w->sink);
    TIFFOpenOptionsSetWarningHandlerExtR(options, on_warning, &w->sink);
    w->tiff = TIFFClientOpenExt("", mode, &w->sink, read_bytes, write_bytes, seek, close_file,
                                size_of, NULL, NULL, options);
    TIFFOpenOptionsFree(options);
    return w->tiff ? 0 : FAULT_MEMORY;
}

static void close_tiff(struct tiff_writer *w)
{
    if (!w->tiff)
        return;
    TIFFSetMode(w->tiff, O_RDONLY); /* so that nothing more is written, by a coder without memory */
    TIFFClose(w->tiff);
    w->tiff = NULL;
}

/* Writes what the call is for; a fault without a text is libtiff's, or the output's. */
static int write_some(struct encoder *e, const struct picture *picture, uint32_t end,
                      struct fault *fault)
{
    const struct tiff_config *config = e->config;
    struct tiff_writer *w = e->state;
    size_t first = config->picture.pages ? 0 : e->plane;
    size_t count = config->picture.pages ? picture->frame.n_planes : 1;
    uint64_t bytes = 0;
    int result = 0;
    for (size_t i = first; i < first + count; i++)
        bytes += plane_bytes(&picture->frame.planes[i]);
    if (!w->tiff)
        result = begin_file(w, e, bytes, count, fault);
    for (size_t i = first; i < first + count && result == 0; i++) {
        uint32_t height = picture->frame.planes[i].height, last = count > 1 ? height : end;
        if (e->row == 0)
            result = begin_page(w, config, picture, i, fault);
        if (result == 0)
            result = write_rows(w, config, picture, i, e->row, last, fault);
        if (result == 0 && last == height)
            result = end_page(w, i == 0);
    }
    if (result == 0 && end == picture->frame.planes[first].height) {
        close_tiff(w);
        if (!w->sink.direct)
            output_write(e->output, w->sink.memory, (size_t)w->sink.end);
    }
    return result;
}

int tiff_encode(struct encoder *e, const struct picture *picture, uint32_t end, struct fault *fault)
{
    struct tiff_writer *w = e->state;
    struct fault why = FAULT_INIT;
    int result = write_some(e, picture, end, &why);
    if (e->output->fault.code)
        return fault_set(fault, e->output->fault.code, "%s", e->output->fault.text);
    if (result == 0)
        return 0;
    if (why.code)
        return fault_set(fault, why.code, "%s", why.text);
    return fault_set(fault, FAULT_MEMORY, "%s",
                     w->sink.fault.code ? w->sink.fault.text : "no memory for a tiff");
}

void tiff_encode_close(struct encoder *e)
{
    struct tiff_writer *w = e->state;
    close_tiff(w);
    free(w->sink.memory);
    free(w->row);
}
