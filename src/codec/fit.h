/* What picture formats make of planes that they cannot hold as they are. */
#ifndef SLUICE_CODEC_FIT_H
#define SLUICE_CODEC_FIT_H

#include "base/fault.h"
#include "image/frame.h"

enum fit_depth {
    FIT_8,       /* u8 alone */
    FIT_8_OR_16, /* u8 or u16 */
};

/* Changes the plane's type to u8 or u16 as interface §5 says: u16 stays or becomes u8, signed types
 * become unsigned ones, floats become u8, or u16 where their white is above 255; i32 is refused with `convert` as the way out. Channels
 * are left alone. `format` names the format in the fault. */
int fit_type(const char *format, enum fit_depth depth, struct plane *plane, struct fault *fault);

#endif
