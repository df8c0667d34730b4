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
 * become unsigned ones, floats become u8, or u16 where their white is above 255; i32 is refused
 * with `convert` as the way out. Channels are left alone. `format` names the format in the fault.
 */
int fit_type(const char *format, enum fit_depth depth, struct plane *plane, struct fault *fault);

/* The same for bitmaps: one channel, whose alpha goes; colours are refused with `luminance` and
 * `threshold` as the way out. */
int fit_bitmap(const char *format, struct plane *plane, struct fault *fault);

/* Whether the plane has 0 and white alone; FAULT_SHAPE, with `threshold` as the way out, where it
 * has another value. */
int fit_check_bits(const char *format, const struct picture *picture, size_t plane,
                   struct fault *fault);

/* A row of such a plane as bits, the first one the highest of a byte: 0 for black and 1 for white,
 * turned round where `turn` is 1. */
void fit_bits(const struct picture *picture, size_t plane, uint32_t y, unsigned turn,
              uint8_t *bits);

#endif
