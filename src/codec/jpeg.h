/* Shared by the files jpeg*.c alone: the reader, the encoder's options, and libjpeg's errors as
 * faults.
 *
 * libjpeg calls error_exit, which must not return, so it ends in a longjmp. The only setjmp is in
 * jpeg_attempt, which runs a step: a function with a context on the heap. Locals of a step are lost
 * with the jump; what must survive it is in the context. */
#ifndef SLUICE_CODEC_JPEG_H
#define SLUICE_CODEC_JPEG_H

#include "codec/codec.h"
#include "codec/orient.h"
#include <setjmp.h>
#include <stdio.h>

#include <jpeglib.h>

struct jpeg_errors {
    struct jpeg_error_mgr manager; /* first, because libjpeg passes its address */
    jmp_buf escape;
    struct fault *fault; /* borrowed; set while a step runs */
    int code;            /* of the fault that ended the step; 0: none */
};

/* Fills the manager. Errors end the step, and warnings too; a reader replaces emit_message. */
void jpeg_errors_init(struct jpeg_errors *errors);

/* Ends the step with this fault. */
void jpeg_fail(struct jpeg_errors *errors, enum fault_code code, const char *text)
    __attribute__((noreturn));

/* Runs step(context); 0 or the code of the fault that ended it. */
int jpeg_attempt(struct jpeg_errors *errors, void (*step)(void *context), void *context,
                 struct fault *fault);

/* Bytes of the file; empty: {0}. */
struct jpeg_part {
    uint64_t at;
    size_t size;
};

struct jpeg_reader {
    struct decoder *decoder; /* borrowed */
    struct jpeg_decompress_struct info;
    struct jpeg_errors errors;
    struct jpeg_source_mgr source;
    uint64_t next, usable; /* the first byte that libjpeg has not been given; where those end that
                              it gets */
    struct jpeg_progress_mgr progress;
    bool partial; /* set behind the header: the end of the data ends the picture */
    bool started; /* libjpeg has been asked for rows */
    bool ended;   /* the data are used up, so that further warnings of libjpeg mean nothing */
    bool has_exif;
    struct jpeg_part exif, xmp;
    struct jpeg_part profile[256]; /* parts of the ICC profile, by their numbers from 1 on */
    unsigned n_profile; /* their number as the parts give it; UINT_MAX: they contradict */
    unsigned orientation;
    struct orient place;
    bool two_threads;           /* another thread may decode the lower part */
    struct jpeg_shares *shares; /* borrowed; NULL: this reader decodes all rows */
    bool is_lower;              /* it decodes the lower part, otherwise the upper one */
    uint32_t end;               /* of the stored rows that it may decode */
    uint8_t *cmyk_row;          /* owned; a row before it becomes RGB */
};

static inline bool jpeg_is_cmyk(const struct jpeg_reader *r)
{
    return r->info.out_color_space == JCS_CMYK;
}

/* True for a picture whose rows two threads decode. */
bool jpeg_takes_two(const struct decoder *decoder);

/* Reads rows (codec.h, read). */
int jpeg_read(struct decoder *decoder, struct picture *into, uint32_t end, struct fault *fault);

/* Metadata in application segments of T.81. APP1 holds "Exif\0\0" and an Exif block, or JPEG_XMP
 * and an XMP packet (XMP part 3, §1.1.3). APP2 holds JPEG_ICC, a byte with the part's number from 1
 * on, a byte with the number of parts, and a part of an ICC profile (ICC.1 Annex B.4). */
#define JPEG_XMP        "http://ns.adobe.com/xap/1.0/"
#define JPEG_ICC        "ICC_PROFILE"
#define JPEG_ICC_HEAD   14
#define JPEG_MARKER_MAX 65533 /* bytes of a segment */

struct jpeg_config {
    struct picture_config picture;
    int64_t quality;
    bool progressive;
};

struct jpeg_writer {
    struct jpeg_compress_struct info;
    struct jpeg_errors errors;
    struct jpeg_destination_mgr destination;
    const struct encoder *encoder;
    const struct picture *picture; /* borrowed, as is `encoder`; while a step runs */
    uint32_t end;                  /* of the rows to write */
    uint8_t *left; /* owned: rows that wait for more of a block; NULL: rows go one by
                      one */
    uint32_t n_left;
    JOCTET buffer[16384];
};

/* Writes rows (codec.h, encode and encode_close). */
int jpeg_encode(struct encoder *encoder, const struct picture *picture, uint32_t end,
                struct fault *fault);
void jpeg_encode_close(struct encoder *encoder);

#endif
