/* The stage harness: one stage (or chain) on the device against its plain C reference, over shapes
 * that hurt: one pixel, one row, one column, sizes around the vector and segment lengths, rows with
 * odd strides, guard bytes around every plane and padding between rows that must stay untouched.
 *
 * Every check runs for several profiles: the device's own, and with its compiler the kernel forms
 * of GPUs, so that no form goes untested where there is no GPU; where generic kernels are others,
 * those too. Without a device a test is skipped,
 * with the reason. Programs of a cmocka group call harness_setup and harness_teardown. */
#ifndef SLUICE_TESTS_STAGE_HARNESS_H
#define SLUICE_TESTS_STAGE_HARNESS_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "bank/definitions.h"
#include "image/frame.h"

int harness_setup(void **state);
int harness_teardown(void **state);

/* What fills the input. */
enum harness_pattern {
    HARNESS_RANDOM,   /* every value of the type alike; floats from −1000 to 1000 */
    HARNESS_EXTREMES, /* least and largest values, in blocks and checks */
    HARNESS_RAMP,     /* slowly rising, as photographs are */
    HARNESS_PATTERNS
};

/* Runs `chain` on the device in every profile and by the references for one input and compares:
 * samples within the stage's tolerance, guards and padding untouched. FAULT_SHAPE must come from
 * both or neither. */
void harness_check(const char *chain, enum sample_type type, uint32_t width, uint32_t height,
                   uint32_t channels, enum harness_pattern pattern);

/* harness_check on devices so slow that the chain's first pass goes in launches of `rows` rows, for
 * a chain that keeps the height; the device must have counted as many. */
void harness_split(const char *chain, enum sample_type type, uint32_t width, uint32_t height,
                   uint32_t channels, uint32_t rows);

/* harness_check over the standard sizes (about 20) and patterns, for one type and channel count. */
void harness_sweep(const char *chain, enum sample_type type, uint32_t channels);

/* harness_check over a few sizes, for parameters whose kernels the sweep has seen already. */
void harness_few(const char *chain, enum sample_type type, uint32_t channels);

/* harness_few for a stage with a small window (stage/window.h): every type, 1 to 4 channels, and
 * borders; beside stages with which it becomes one kernel; and what it refuses. */
void harness_window(const char *stage);

/* A hand-computed result: `in` holds width·height·channels samples, `expected` those of the first
 * plane that comes out. Exact for integers, else within `tolerance`. Checks the reference, and the
 * device in every profile. */
void harness_vector(const char *chain, enum sample_type type, uint32_t width, uint32_t height,
                    uint32_t channels, const double *in, enum sample_type out_type,
                    uint32_t out_width, uint32_t out_height, uint32_t out_channels,
                    const double *expected, double tolerance);

/* The same for several planes that come out, each of which counts as a vector: `expected` ends with
 * an entry without a name. With `all`, no other plane may come out. */
struct harness_plane {
    const char *name;
    uint32_t width, height;
    int32_t zero_x, zero_y;
    const double *samples;
};
void harness_planes(const char *chain, enum sample_type type, uint32_t width, uint32_t height,
                    uint32_t channels, const double *in, enum sample_type out_type, bool all,
                    const struct harness_plane *expected, double tolerance);

/* What @name refers to in the chains of this program from here on. */
void harness_define(const struct definitions *definitions);

/* The name of the input's plane from here on. */
void harness_name_input(const char *name);

/* The white of the input's plane from here on; 0: what a plane has that is told none. */
void harness_white(double white);

/* Round trips from here on run in the device's own forms only, or in the GPU classes' too. */
void harness_round_trip_own(bool only);

/* `chain` gives back on the device, in every profile, exactly what it is given (but for alpha,
 * which it may drop). */
void harness_round_trip(const char *chain, enum sample_type type, uint32_t width, uint32_t height,
                        uint32_t channels, enum harness_pattern pattern);

/* Planning `chain` for such an input must fail with that code; the fault's text must contain
 * `says`. */
void harness_refuses(const char *chain, enum sample_type type, uint32_t width, uint32_t height,
                     uint32_t channels, int code, const char *says);

/* How many hand-computed vectors this program has checked; a group asserts at least 30 at its end.
 */
unsigned harness_vectors(void);

/* A test for the end of a group: fails unless at least 30 vectors were checked. */
void harness_enough_vectors(void **state);

/* Reads --bench, --seed and --device (--help says what they do), and environment HARNESS_TEST, the
 * one of these tests that is run alone; exits where they are wrong. */
void harness_options(int argc, char **argv, const struct CMUnitTest *tests, size_t n);

/* The end of main(int argc, char **argv). */
#define HARNESS_MAIN(tests) HARNESS_MAIN_WITH(tests, harness_setup, harness_teardown)
#define HARNESS_MAIN_WITH(tests, setup, teardown)                                                  \
    (harness_options(argc, argv, tests, sizeof tests / sizeof *tests),                             \
     cmocka_run_group_tests(tests, setup, teardown))

#endif
