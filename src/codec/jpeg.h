/* Shared by jpeg.c and jpeg_write.c alone: libjpeg's errors as faults.
 *
 * libjpeg cannot return from an error, so it jumps. One function has the setjmp and does nothing
 * else: it runs a step, given as a function, over a struct on the heap. Locals of a step are gone
 * with the jump and nobody looks at them; what must survive is in the struct. */
#ifndef SLUICE_CODEC_JPEG_H
#define SLUICE_CODEC_JPEG_H

#include "codec/codec.h"
#include <setjmp.h>
#include <stdio.h>

#include <jpeglib.h>

struct jpeg_errors {
    struct jpeg_error_mgr manager; /* first: libjpeg hands this one back */
    jmp_buf escape;
    struct fault *fault; /* where to say why, while a step runs */
    int code;            /* of the fault that ended the step */
};

/* Fills the manager; errors end the step, warnings are errors too. */
void jpeg_errors_init(struct jpeg_errors *errors);

/* Ends the step with this fault. */
void jpeg_fail(struct jpeg_errors *errors, enum fault_code code, const char *text)
    __attribute__((noreturn));

/* Ends the step with what libjpeg says now. */
void jpeg_fail_with_message(j_common_ptr info) __attribute__((noreturn));

/* Runs step(context); 0 or the code of the fault that ended it. */
int jpeg_attempt(struct jpeg_errors *errors, void (*step)(void *context), void *context,
                 struct fault *fault);

/* T.81 leaves these segments to applications: "Exif\0\0" and Exif's, or this and an XMP packet (XMP
 * part 3, §1.1.3), in APP1; this, a number from 1 on, their count, and a part of a profile in APP2
 * (ICC.1 Annex B.4). */
#define JPEG_XMP        "http://ns.adobe.com/xap/1.0/"
#define JPEG_ICC        "ICC_PROFILE"
#define JPEG_ICC_HEAD   14
#define JPEG_MARKER_MAX 65533 /* bytes of a segment */

struct jpeg_config {
    struct picture_config picture;
    int64_t quality;
    bool progressive;
};

int jpeg_encode(const void *config, const struct picture *picture, size_t plane,
                struct output *output, struct fault *fault);

#endif
