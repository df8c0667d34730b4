/* Codecs: picture files in and out. One constant struct a format, at the foot of its own file, and
 * one array of them all (codec.c). A decoder reads a header first, so that limits are checked and
 * memory is chosen before any pixel; then it decodes straight into the planes it is given. An
 * encoder reads straight from planes.
 *
 * Input is hostile: every length is checked before use, and what cannot be read is an error with
 * its reason. What is odd and can be read all the same (a library's warnings, too) is read, and
 * told as a warning. Nothing here is shared between threads but the constant tables. */
#ifndef SLUICE_CODEC_CODEC_H
#define SLUICE_CODEC_CODEC_H

#include "base/fault.h"
#include "base/text.h"
#include "codec/metadata.h"
#include "image/frame.h"
#include "param/param.h"
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct output;

/* Checked on the header, before memory is taken. */
struct codec_limits {
    uint64_t max_pixels; /* of one picture */
    uint64_t memory;     /* bytes that a decoder may take for itself, besides the planes */
};

/* The layouts of a camera's frame that has no header. */
enum raw_layout {
    RAW_NONE, /* the input is a file, which tells its format itself */
    RAW_GRAY8,
    RAW_GRAY16,
    RAW_RGB24,
    RAW_RGBA32,
    RAW_NV12,
    RAW_YUYV,
};

/* How to read an input: the words of --input. */
struct decode_options {
    bool orient;    /* apply EXIF orientation */
    bool partial;   /* take what a truncated file has; the rest stays grey or black */
    bool strict;    /* warnings are errors */
    int raw;        /* enum raw_layout; with it the input is not probed, and w and h are needed */
    int64_t w, h;   /* of a raw frame, in pixels; 0: not given */
    int64_t stride; /* bytes from row to row of a raw frame; 0: rows are packed */
    double white;   /* of planes of floats; 0: as the file says, else 255 */
    enum metadata_choice meta; /* not a user's: what the result will take over */
    bool padded;    /* not a user's: the input is memory in huge pages, and may end long before
                       them */
};

extern const struct param decode_params[]; /* of struct decode_options */

/* Reads "orient=0:partial=1" on top of the defaults; NULL gives the defaults. FAULT_CHAIN,
 * FAULT_USAGE for options that do not go together. `what` names the text in faults ("--input"). */
int decode_options_parse(struct decode_options *options, const char *text, const char *what,
                         struct fault *fault);

struct codec;

/* Bounds of the warnings about one file: lines, and bytes of each. */
#define DECODER_WARNINGS_MAX 8
#define DECODER_WARNING_MAX  160

/* One picture being read. */
struct decoder {
    const struct codec *codec;
    const uint8_t *data; /* the whole file; borrowed */
    size_t size;
    struct decode_options options;
    struct codec_limits limits;
    struct frame frame;      /* what will come out, orientation applied, with our own layout */
    bool is_copy;            /* decoding is no more than copying samples */
    bool stored_luma;        /* the planes are a file's own Y channel: decoder_narrow */
    uint32_t reduced;        /* the picture comes at 1/reduced of its sides: decoder_narrow */
    bool white_unknown;      /* of planes of floats: neither the file nor the options say it */
    uint64_t working_memory; /* bytes that the decoder takes for itself while it reads */
    struct metadata metadata; /* as far as options.meta asks for it */
    struct text warnings;    /* one a line, printable ASCII; the last may count further ones */
    unsigned n_warnings;     /* also those that have no line */
    void *state;             /* the codec's own */
};

/* What every format of pictures may be told when it is written. Such a format's config begins with
 * this, and its parameters end with PICTURE_PARAMS, behind META_PARAM where it has a place for
 * metadata. */
struct picture_config {
    double mosaic_gain; /* of details, where planes of a transform become a mosaic */
    int meta;           /* enum metadata_choice */
};

extern const struct param_choice meta_choices[];
#define META_PARAM                                                                                 \
    PARAM(CHOICE, "meta", offsetof(struct picture_config, meta),                                   \
          "of the input's metadata: keep takes over Exif, colour profile and density; all, XMP, "  \
          "too; strip, none",                                                                      \
          .choices = meta_choices, DEFAULT("keep"))

#define PICTURE_PARAMS                                                                             \
    {                                                                                              \
        .name = "mosaic_gain", .type = PARAM_REAL,                                                 \
        .offset = offsetof(struct picture_config, mosaic_gain), .min = 1e-6, .max = 1e6,           \
        .fallback = "1",                                                                           \
        .help = "of the details where the planes of dwt are written as one picture"                \
    }

struct codec {
    const char *name;              /* "jpeg" */
    const char *const *extensions; /* the usual one first; ends with NULL */
    const char *media_type;        /* "image/jpeg" */

    /* True when these are the first bytes of such a file, or all that there is of a cut one. NULL:
     * the format cannot be told by its bytes. */
    bool (*probe)(const uint8_t *data, size_t size);

    /* Reads the header: fills frame, working_memory and state, within the limits. */
    int (*open)(struct decoder *decoder, struct fault *fault);

    /* As decoder_narrow says, as far as the file can be read so. NULL: it comes as it is. */
    int (*narrow)(struct decoder *decoder, bool luma, uint32_t reduce, struct fault *fault);

    /* Decodes into planes of the shape that open told, whatever their strides. Once. */
    int (*read)(struct decoder *decoder, struct picture *into, struct fault *fault);

    /* Where read would only copy: true when the planes may stay as they lie in `data`, and `frame`
     * says how. NULL: never so. */
    bool (*lies)(const struct decoder *decoder, struct frame *frame);

    /* Frees `state`, also after a failed open. NULL: there is none. */
    void (*close)(struct decoder *decoder);

    /* What an encoder may be told; NULL for nothing. */
    const struct param *params;
    size_t config_size;
    bool is_picture; /* has struct picture_config; planes of a transform are written as a mosaic */

    /* Changes type and channels of `plane` to what the format can hold of it, or refuses. NULL: the
     * format is not written. */
    int (*fit)(const void *config, struct plane *plane, struct fault *fault);

    /* A file holds one plane: writes one that fits … */
    int (*encode)(const void *config, const struct picture *picture, size_t plane,
                  struct output *output, struct fault *fault);

    /* … or it holds a frame: writes all planes. */
    int (*encode_frame)(const void *config, const struct picture *picture, struct output *output,
                        struct fault *fault);
};

extern const struct codec *const codecs[]; /* ends with NULL */

/* Tells the format by the first bytes (or by options->raw), never by a name, and reads the header.
 * `data` must outlive the decoder. FAULT_EMPTY, FAULT_FORMAT (with what the bytes look like),
 * FAULT_LIMIT, FAULT_DATA, FAULT_TRUNCATED. */
int decoder_open(struct decoder *decoder, const uint8_t *data, size_t size,
                 const struct decode_options *options, const struct codec_limits *limits,
                 struct fault *fault);

/* Before decoder_read: asks for less than the whole picture. With `luma`, the file's own luma
 * channel in place of colours; with `reduce` 2, 4 or 8, the picture at that part of its sides, whose
 * planes then know the whole one's. The decoder's frame, stored_luma and reduced tell what will
 * come, which may be all as before. */
int decoder_narrow(struct decoder *decoder, bool luma, uint32_t reduce, struct fault *fault);

int decoder_read(struct decoder *decoder, struct picture *into, struct fault *fault);
void decoder_close(struct decoder *decoder);

/* The codec whose files begin so (see probe above); NULL: none. */
const struct codec *codec_find(const uint8_t *data, size_t size);

/* True where the data are a picture already; `frame` has the planes as they lie there, and is to be
 * ended by frame_finish. */
bool decoder_lies(const struct decoder *decoder, struct frame *frame);

/* For open(): gives the decoder a plane, without a name, once size, channels and type are known and
 * within the limits. */
int decoder_set_plane(struct decoder *decoder, uint64_t width, uint64_t height, uint32_t channels,
                      enum sample_type type, struct fault *fault);

/* For codecs: something is odd, and reading goes on: keeps "CODEC: text" as a warning and returns
 * 0. With `strict` it is FAULT_DATA, "damaged CODEC: text". */
int decoder_warn(struct decoder *decoder, struct fault *fault, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* For codecs: stores what a library says of its trouble, as "WHAT: text" that begins small. */
int codec_library_fault(struct fault *fault, enum fault_code code, const char *what,
                        const char *text);

/* For codecs: blackens the rows of the first plane from `y` on. */
void codec_blacken_rows(const struct picture *picture, uint32_t y);

/* An output format with its options, as `--format jpg:quality=80` says it. */
struct format {
    const struct codec *codec;
    const char *extension; /* that files of it get: the one asked for, else the codec's usual */
    void *config;          /* owned */
    param_given given;
};

/* Reads "name[:arg…]"; the name is a codec's or one of its extensions. */
int format_parse(struct format *format, const char *text, struct fault *fault);

/* The format that a file name's extension means; FAULT_FORMAT when it means none. */
int format_for_name(struct format *format, const char *name, struct fault *fault);
void format_finish(struct format *format);

/* The format's file must not bear another format's name: FAULT_USAGE for .jpg or .tif when the
 * format is png. A name without an extension, or with one that belongs to no format of pictures, is
 * fine. */
int format_check_name(const struct format *format, const char *name, struct fault *fault);

/* True when a name has the extension of a format of pictures, be it one that is written here or
 * not. */
bool format_is_named(const char *name);

/* What the result takes over of the input's metadata. */
enum metadata_choice format_meta(const struct format *format);

/* The gain of the details of mosaics; 0 for a format that keeps planes apart. */
double format_mosaic_gain(const struct format *format);

/* A plan_fit (chain/plan.h) for a struct format. */
int format_fit(void *format, struct plane *plane, struct fault *fault);

#endif
