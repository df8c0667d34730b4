#include "image/sample.h"

#include <math.h>
#include <string.h>

static const struct {
    const char *name;
    unsigned char size;
    bool integer;
    double min, max;
} types[SAMPLE_TYPES] = {
    [SAMPLE_U8] = {"u8", 1, true, 0, UINT8_MAX},
    [SAMPLE_I8] = {"i8", 1, true, INT8_MIN, INT8_MAX},
    [SAMPLE_U16] = {"u16", 2, true, 0, UINT16_MAX},
    [SAMPLE_I16] = {"i16", 2, true, INT16_MIN, INT16_MAX},
    [SAMPLE_I32] = {"i32", 4, true, INT32_MIN, INT32_MAX},
    [SAMPLE_F32] = {"f32", 4, false, 0, 1},
    [SAMPLE_F64] = {"f64", 8, false, 0, 1},
    [SAMPLE_F16] = {"f16", 2, false, 0, 1},
};

size_t sample_size(enum sample_type type)
{
    return types[type].size;
}

const char *sample_name(enum sample_type type)
{
    return types[type].name;
}

bool sample_find(const char *name, enum sample_type *type)
{
    for (int t = 0; t < SAMPLE_TYPES; t++) {
        if (strcmp(name, types[t].name) == 0) {
            *type = (enum sample_type)t;
            return true;
        }
    }
    return false;
}

bool sample_is_integer(enum sample_type type)
{
    return types[type].integer;
}

double sample_min(enum sample_type type)
{
    return types[type].min;
}

double sample_max(enum sample_type type)
{
    return types[type].max;
}

int64_t sample_saturate(enum sample_type type, double value)
{
    double rounded = rint(value); /* the default rounding mode: to nearest, ties to even */
    if (!(rounded >= types[type].min))
        return (int64_t)types[type].min;
    return (int64_t)(rounded > types[type].max ? types[type].max : rounded);
}

double sample_limited(enum sample_type type, double value)
{
    return types[type].integer ? (double)sample_saturate(type, value) : value;
}

/* IEEE 754's binary16: sign, 5 bits of exponent with 15 added, 10 of fraction. */
static double load_f16(uint16_t bits)
{
    int exponent = bits >> 10 & 31;
    double fraction = bits & 1023, v = exponent == 0   ? ldexp(fraction, -24)
                                       : exponent < 31 ? ldexp(fraction + 1024, exponent - 25)
                                       : fraction > 0  ? (double)NAN
                                                       : (double)INFINITY;
    return bits & 0x8000 ? -v : v;
}

static uint16_t store_f16(double v)
{
    unsigned sign = signbit(v) ? 0x8000 : 0, bits;
    double size = fabs(v);
    int exponent;
    if (isnan(v))
        bits = 0x7e00;
    else if (size >= 65520) /* halfway between the largest and what would follow it */
        bits = 0x7c00;
    else if (size < 0x1p-14)
        bits = (unsigned)rint(size * 0x1p24);
    else { /* what rounds up to 2048 carries into the exponent */
        double fraction = rint(frexp(size, &exponent) * 2048);
        bits = ((unsigned)(exponent + 14) << 10) + (unsigned)fraction - 1024;
    }
    return (uint16_t)(sign | bits);
}

double sample_load(enum sample_type type, const void *at)
{
    switch (type) {
    case SAMPLE_U8:
        return *(const uint8_t *)at;
    case SAMPLE_I8:
        return *(const int8_t *)at;
    case SAMPLE_U16:
        return *(const uint16_t *)at;
    case SAMPLE_I16:
        return *(const int16_t *)at;
    case SAMPLE_I32:
        return *(const int32_t *)at;
    case SAMPLE_F32:
        return *(const float *)at;
    case SAMPLE_F16:
        return load_f16(*(const uint16_t *)at);
    default:
        return *(const double *)at;
    }
}

void sample_store(enum sample_type type, void *at, double value)
{
    switch (type) {
    case SAMPLE_U8:
        *(uint8_t *)at = (uint8_t)value;
        break;
    case SAMPLE_I8:
        *(int8_t *)at = (int8_t)value;
        break;
    case SAMPLE_U16:
        *(uint16_t *)at = (uint16_t)value;
        break;
    case SAMPLE_I16:
        *(int16_t *)at = (int16_t)value;
        break;
    case SAMPLE_I32:
        *(int32_t *)at = (int32_t)value;
        break;
    case SAMPLE_F32:
        *(float *)at = (float)value;
        break;
    case SAMPLE_F16:
        *(uint16_t *)at = store_f16(value);
        break;
    default:
        *(double *)at = value;
    }
}

/* One loop for each size, so that compilers can vectorise it. */
#define SWAP_ALL(bits)                                                                             \
    for (size_t i = 0; i < count; i++) {                                                           \
        uint##bits##_t value;                                                                      \
        memcpy(&value, from + i * sizeof value, sizeof value);                                     \
        value = __builtin_bswap##bits(value);                                                      \
        memcpy(to + i * sizeof value, &value, sizeof value);                                       \
    }

void sample_copy(void *to_, const void *from_, size_t count, size_t size, bool swap)
{
    uint8_t *to = to_;
    const uint8_t *from = from_;
    if (!swap || size == 1)
        memcpy(to, from, count * size);
    else if (size == 2)
        SWAP_ALL(16)
    else if (size == 4)
        SWAP_ALL(32)
    else
        SWAP_ALL(64)
}
