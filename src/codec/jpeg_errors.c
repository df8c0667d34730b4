#include <string.h>

#include "codec/jpeg.h"

#include <jerror.h>

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

void jpeg_fail_with_message(j_common_ptr info)
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
        jpeg_fail_with_message(info);
}

static void print_nothing(j_common_ptr info)
{
    (void)info;
}

void jpeg_errors_init(struct jpeg_errors *errors)
{
    jpeg_std_error(&errors->manager);
    errors->manager.error_exit = jpeg_fail_with_message;
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
