/* Decoding and encoding in memory, so that errors show: the input is in a buffer of exactly its
 * size, the picture's rows have padding between them, and bytes around them are checked to be
 * unchanged. */
#ifndef SLUICE_TESTS_CODEC_DECODE_H
#define SLUICE_TESTS_CODEC_DECODE_H

#include "codec/codec.h"
#include "files.h"

/* A decoded picture, rows without padding. */
struct decoded {
    struct picture picture; /* owned */
    struct plane plane;     /* its first … */
    uint8_t *samples;       /* … and the samples of that */
    bool stored_luma;
    char warnings[(DECODER_WARNINGS_MAX + 1) * DECODER_WARNING_MAX + 1]; /* one a line */
};

/* What decode_file and those below ask of decoder_narrow from here on; {0}: nothing. */
struct decode_less {
    bool luma;
    uint32_t reduce;
};
extern struct decode_less decode_less;

/* NULL options: the defaults. Asserts that nothing outside of the picture's pixels was written,
 * whatever the result. */
int decode_file(const struct file *file, const struct decode_options *options,
                struct decoded *decoded, struct fault *fault);
int decode_within(const struct file *file, const struct decode_options *options,
                  const struct codec_limits *limits, struct decoded *decoded, struct fault *fault);
void decoded_finish(struct decoded *decoded);

/* Decodes what must decode, to that shape. */
void decode_good(const struct file *file, const struct decode_options *options, uint32_t width,
                 uint32_t height, uint32_t channels, enum sample_type type,
                 struct decoded *decoded);

/* Decodes what must decode to that shape with a warning that says `says`, and what strict=1 must
 * refuse, saying the same. */
void decode_odd(const struct file *file, uint32_t width, uint32_t height, uint32_t channels,
                enum sample_type type, const char *says, struct decoded *decoded);

/* Decodes what must not; the fault must have this code and `says` in its text. */
void decode_bad(const struct file *file, const struct decode_options *options, int code,
                const char *says);

/* Options from text, as --input has them. */
struct decode_options options_of(const char *text);

/* A picture in memory with rows apart, to be encoded. Samples are zero. */
struct picture picture_of(uint32_t width, uint32_t height, uint32_t channels,
                          enum sample_type type);

/* Encodes plane 0, or all planes where the format holds them, which must fit as they are. The
 * format is given as for --format. */
void encode_picture(const char *format, const struct picture *picture, struct file *file);

/* What a format makes of a plane: its type and channels, or the fault's code. */
int fit_plane(const char *format, struct plane *plane, struct fault *fault);

#endif
