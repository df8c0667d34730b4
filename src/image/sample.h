/* The types of a sample (one channel of one pixel). */
#ifndef SLUICE_IMAGE_SAMPLE_H
#define SLUICE_IMAGE_SAMPLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum sample_type {
    SAMPLE_U8,
    SAMPLE_I8,
    SAMPLE_U16,
    SAMPLE_I16,
    SAMPLE_I32,
    SAMPLE_F32,
    SAMPLE_F64,
    SAMPLE_F16, /* for results: stages other than those that only move samples take it by convert */
    SAMPLE_TYPES
};

/* Size of a sample in bytes. */
size_t sample_size(enum sample_type type);

/* "u8", "f32": as in chains, plans and reports. */
const char *sample_name(enum sample_type type);

/* The type of that name; false: there is none. */
bool sample_find(const char *name, enum sample_type *type);

bool sample_is_integer(enum sample_type type);

/* The range of an integer type; 0 and 1 (black and white) for floating types. */
double sample_min(enum sample_type type);
double sample_max(enum sample_type type);

/* Rounds to nearest, ties to even, and limits to the range of an integer type: sat(rne(v)). NaN
 * becomes the least value. Integer types only. */
int64_t sample_saturate(enum sample_type type, double value);

/* The same for integer types; of floats the value as it is. */
double sample_limited(enum sample_type type, double value);

/* Reads and writes one sample. For integer types the value must be in range; floats become the
 * nearest one, halves the even one, and NaN of f16 0x7e00 with its sign. */
double sample_load(enum sample_type type, const void *at);
void sample_store(enum sample_type type, void *at, double value);

/* Copies `count` samples of `size` bytes (1, 2, 4 or 8); with `swap` the bytes of each are
 * reversed, which also works in place (`to` equal to `from`). */
void sample_copy(void *to, const void *from, size_t count, size_t size, bool swap);

#endif
