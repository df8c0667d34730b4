/* Codecs read and write picture files. Each format is a constant struct at the end of its own file;
 * codec.c has the array of all of them. A decoder reads the header first, so that limits are
 * checked and memory is allocated before any pixel is read; then it decodes directly into planes of
 * the caller, all rows at once or band by band. An encoder reads directly from planes, in the same
 * way.
 *
 * Input is hostile: every length is checked before it is used. What cannot be read is an error with
 * its reason. What violates the format but can be read is read, with a warning, and so is what a
 * codec library warns of. Threads share only the constant tables. */
#ifndef SLUICE_CODEC_CODEC_H
#define SLUICE_CODEC_CODEC_H

#include "base/fault.h"
#include "base/text.h"
#include "codec/input.h"
#include "codec/metadata.h"
#include "image/frame.h"
#include "param/param.h"
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct output;

/* Checked when the header has been read, before memory is taken. */
struct codec_limits {
    uint64_t max_pixels; /* of one picture */
    uint64_t memory;     /* bytes that a decoder may take for itself, besides the planes */
};

/* The layouts of a raw frame, which has no header, such as a camera delivers. */
enum raw_layout {
    RAW_NONE, /* the input is a file of one of the other formats */
    RAW_GRAY8,
    RAW_GRAY16,
    RAW_RGB24,
    RAW_RGBA32,
    RAW_NV12,
    RAW_YUYV,
    RAW_NV16,
    RAW_P010,
    RAW_RAW10,
    RAW_RAW12,
    RAW_NV21,
    RAW_I420,
    RAW_UYVY,
    RAW_BGR24,
    RAW_RGBX32,
    RAW_BGRX32,
    RAW_BGRA32,
    RAW_LAYOUTS
};

/* How to read an input: the options of --input, then three that the engine sets. */
struct decode_options {
    bool orient;    /* apply EXIF orientation */
    bool partial;   /* read a truncated file as far as it goes; the rest is grey or black */
    bool strict;    /* warnings are errors */
    int raw;        /* enum raw_layout; with a layout the input is not probed, and needs w and h */
    int64_t w, h;   /* of a raw frame, in pixels; 0: not given */
    int64_t stride; /* bytes from row to row of a raw frame; 0: rows are packed */
    int64_t page;   /* of a file that has several: counted from 1; 0: the first one */
    bool pages;     /* all of them, as planes */
    double white;   /* value of white in planes of floats; 0: as the file says, else 255 */
    enum metadata_choice meta; /* set by the engine: metadata that the result will take over */
    bool two_threads; /* set by the engine: another processor is free, so a decoder may start a
                         thread */
    bool padded; /* set by the engine: the input is memory in huge pages; padding may follow the
                    frame */
};

extern const struct param decode_params[]; /* of struct decode_options */

/* Sets the defaults, then what `text` says ("orient=0:partial=1"; may be NULL). FAULT_CHAIN for a
 * mistake in the text, FAULT_USAGE for options that exclude or need each other. `what` names the
 * text in faults ("--input"). */
int decode_options_parse(struct decode_options *options, const char *text, const char *what,
                         struct fault *fault);

struct codec;

/* Bounds of the warnings about one file: lines, and bytes of each. */
#define DECODER_WARNINGS_MAX 8
#define DECODER_WARNING_MAX  160

/* One picture that is being read. One thread at a time. */
struct decoder {
    const struct codec *codec;
    struct decoder_input input;  /* the file; owned */
    const uint8_t *data; /* all of it, if it is in memory; borrowed; else NULL */
    size_t size;
    struct decode_options options;
    struct codec_limits limits;
    struct frame frame;       /* the planes that decoder_read fills, orientation applied */
    bool is_copy;             /* decoding only copies samples */
    bool stored_luma;         /* the plane is the file's own Y channel: decoder_narrow */
    uint32_t reduced;         /* width and height are divided by this: decoder_narrow */
    bool white_unknown;       /* neither file nor options give the white of planes of floats */
    uint64_t working_memory;  /* bytes that the decoder allocates itself while it reads */
    bool whole;               /* rows come all at once: decoder_rows is called once */
    uint32_t row;             /* rows of the first plane that have been read */
    bool beyond_one;          /* some sample read so far is not within 0…1 */
    struct metadata metadata; /* as far as options.meta asks for it */
    struct text warnings; /* one a line, printable ASCII; the last line may be a count of more */
    unsigned n_warnings;  /* all, including those without a line */
    void *state;          /* of the codec: zeros when `open` is called; decoder_close frees it */
};

/* Parameters that all picture formats (all except npy, npz and raw) have in common. The config of
 * such a format begins with this struct, and its parameters end with PICTURE_PARAMS, after
 * META_PARAM where the format can store metadata. */
struct picture_config {
    double mosaic_gain; /* factor of the details where dwt's planes are written as one mosaic */
    int meta;           /* enum metadata_choice */
    bool pages;         /* all planes go into one file; of a format with encode_frame */
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

struct format;

/* One file that is being written. One thread at a time. */
struct encoder {
    const struct codec *codec;
    const void *config; /* borrowed, as is `output` */
    struct output *output;
    size_t plane; /* the number of the one that the file holds */
    uint32_t row; /* rows that have been written */
    void *state;  /* of the codec: zeros at the first row; encoder_close frees it */
};

struct codec {
    const char *name;              /* "jpeg" */
    const char *const *extensions; /* the usual one first; ends with NULL */
    const char *media_type;        /* "image/jpeg" */

    /* True if a file of this format begins with these bytes, or, when `size` is small, may begin
     * with them. NULL: the format cannot be recognised by its bytes. */
    bool (*probe)(const uint8_t *data, size_t size);

    bool reads_pieces; /* takes all bytes from decoder.input; otherwise data and size are set */
    size_t state_size; /* bytes of decoder.state */

    /* Reads the header: sets frame and working_memory, within the limits. */
    int (*open)(struct decoder *decoder, struct fault *fault);

    /* Does what decoder_narrow says, or the part of it that this file allows. NULL: nothing. */
    int (*narrow)(struct decoder *decoder, bool luma, uint32_t reduce, struct fault *fault);

    /* Decodes rows decoder->row … end - 1, with decoder->whole all rows of all planes, into planes
     * of the shape that open has set, with any strides. Behind the last row it looks at what
     * follows. */
    int (*read)(struct decoder *decoder, struct picture *into, uint32_t end, struct fault *fault);

    /* As decoder_in_place. NULL: never. */
    bool (*in_place)(const struct decoder *decoder, struct frame *frame);

    /* Frees what `state` refers to, also after a failed open; decoder_close then frees `state`
     * itself. NULL: it refers to nothing. */
    void (*close)(struct decoder *decoder);

    /* Parameters of the encoder, over a struct of config_size bytes; NULL: there are none. */
    const struct param *params;
    size_t config_size;
    bool has_pages;  /* a file may hold several pictures: decode_options.page and pages */
    bool is_picture; /* config begins with struct picture_config; dwt's planes become a mosaic */

    /* Changes type and channels of `plane` to what the format stores in their place, or refuses the
     * plane. NULL: the format is not written. */
    int (*fit)(const void *config, struct plane *plane, struct fault *fault);

    bool holds_frame;    /* files hold all planes, of a picture format with picture_config.pages */
    bool writes_whole;   /* encode is called once, with all rows, as for frames of several planes */
    size_t encoder_size; /* bytes of encoder.state */

    /* Writes rows encoder->row … end - 1 of the plane, which fits, or of all planes. In front of
     * the first row it begins the file, behind the last one it ends it. */
    int (*encode)(struct encoder *encoder, const struct picture *picture, uint32_t end,
                  struct fault *fault);

    /* As `close`, for encoder.state. */
    void (*encode_close)(struct encoder *encoder);
};

extern const struct codec *const codecs[]; /* ends with NULL */

/* Recognises the format by the first bytes (or takes options->raw), never by a name, and reads the
 * header. `data` must outlive the decoder. After a failure there is nothing to close. FAULT_EMPTY,
 * FAULT_FORMAT (with what the bytes look like), FAULT_LIMIT, FAULT_DATA, FAULT_TRUNCATED. */
int decoder_open(struct decoder *decoder, const uint8_t *data, size_t size,
                 const struct decode_options *options, const struct codec_limits *limits,
                 struct fault *fault);

/* The same for a file, if its codec reads pieces. The decoder takes the input over, also after a
 * failure; FAULT_IO if the file cannot be read, then and in all calls that follow. */
int decoder_open_input(struct decoder *decoder, struct decoder_input *input,
                       const struct decode_options *options, const struct codec_limits *limits,
                       struct fault *fault);

/* To be called before decoder_read: asks for less than the whole picture. With `luma`, for the
 * file's own luma channel instead of colours; with `reduce` 2, 4 or 8, for the picture at 1/reduce
 * of its width and height (its planes keep the full size in whole_width and whole_height). A format
 * or file that cannot do so is read as before: the decoder's frame, stored_luma and reduced say
 * what decoder_read will deliver. */
int decoder_narrow(struct decoder *decoder, bool luma, uint32_t reduce, struct fault *fault);

/* Decodes the rows in front of `end` that have not been decoded yet into planes of the shape of the
 * decoder's frame, with any strides; other rows need no memory. What decoder_rows has not said
 * before the last row is no promise: a file may be damaged behind it. If decoder->whole is set,
 * `end` is the first plane's height. */
int decoder_rows(struct decoder *decoder, struct picture *into, uint32_t end, struct fault *fault);

/* Decodes all rows. Once at most. */
int decoder_read(struct decoder *decoder, struct picture *into, struct fault *fault);

/* Frees all that the decoder holds. Accepts an empty one ({0}). */
void decoder_close(struct decoder *decoder);

/* The codec that recognises these first bytes (see probe above); NULL: none. */
const struct codec *codec_find(const uint8_t *data, size_t size);

/* The codec of an input that is read with such options; NULL: none. */
const struct codec *codec_of(struct decoder_input *input, const struct decode_options *options);

/* The name of the picture format that no codec reads and whose files begin with these bytes:
 * "WebP"; NULL: it is none that is known. */
const char *codec_foreign(const uint8_t *data, size_t size);

/* True if the input's bytes can be used as the picture without decoding: `frame` then has the
 * planes with their offsets and strides in `data`; the caller ends it with frame_finish. */
bool decoder_in_place(const struct decoder *decoder, struct frame *frame);

/* For codecs' open: adds a plane without a name to the decoder's frame, if its size is within the
 * limits. */
int decoder_set_plane(struct decoder *decoder, uint64_t width, uint64_t height, uint32_t channels,
                      enum sample_type type, struct fault *fault);

/* For codecs, where a file violates its format but can be read on: stores "CODEC: text" as a
 * warning and returns 0. With the option `strict` it is FAULT_DATA, "damaged CODEC: text". */
int decoder_warn(struct decoder *decoder, struct fault *fault, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* For codecs: stores a library's error message, as "WHAT: text" with a lower-case first letter. */
int codec_library_fault(struct fault *fault, enum fault_code code, const char *what,
                        const char *text);

/* For codecs: makes rows y … end - 1 of the first plane black. */
void codec_blacken_rows(const struct picture *picture, uint32_t y, uint32_t end);

/* An output format with its options, as `--format jpg:quality=80` says it. */
struct format {
    const struct codec *codec;
    const char *extension; /* of its files: the one that was asked for, else the codec's first */
    void *config;          /* owned */
    param_given given;
};

/* Parses "name[:arg…]"; the name is a codec's or one of its extensions. */
int format_parse(struct format *format, const char *text, struct fault *fault);

/* Parses the formats of `count` results, with ; between them; a single one is that of all. */
int format_parse_results(struct format *formats, size_t count, const char *text,
                         struct fault *fault);

/* Sets the format that a file name's extension stands for; FAULT_USAGE when there is none. */
int format_for_name(struct format *format, const char *name, struct fault *fault);
void format_finish(struct format *format);

/* Refuses an output's name with another format's extension: FAULT_USAGE for .jpg or .tif when the
 * format is png. A name without an extension, or with one of no known picture format, is accepted.
 */
int format_check_name(const struct format *format, const char *name, struct fault *fault);

/* True when a name has the extension of a picture format, even one that sluice does not write. */
bool format_is_named(const char *name);

/* Which metadata of the input the result takes over. */
enum metadata_choice format_meta(const struct format *format);

/* True if all planes go into one file. */
bool format_holds_frame(const struct format *format);

/* picture_config.mosaic_gain; 0 where planes are not made one picture. */
double format_mosaic_gain(const struct format *format);

/* Begins a file: of plane number `plane`, or, if it holds a frame, of all. */
int encoder_open(struct encoder *encoder, const struct format *format, size_t plane,
                 struct output *output, struct fault *fault);

/* Writes the rows in front of `end` that have not been written yet; other rows are not looked at.
 * With codec->writes_whole `end` is the plane's height. */
int encoder_rows(struct encoder *encoder, const struct picture *picture, uint32_t end,
                 struct fault *fault);

/* Frees all that the encoder holds. Accepts an empty one ({0}). */
void encoder_close(struct encoder *encoder);

/* Writes all rows of a file. */
int format_encode(const struct format *format, const struct picture *picture, size_t plane,
                  struct output *output, struct fault *fault);

/* A plan_fit (chain/plan.h) for a struct format. */
int format_fit(void *format, struct plane *plane, struct fault *fault);

#endif
