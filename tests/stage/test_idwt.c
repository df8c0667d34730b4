#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/fault.h"
#include "harness.h"
#include "stage/dwt/wavelet.h"

static const uint32_t sizes[][2] = {{1, 1}, {17, 33}, {2, 3},  {1, 7},   {64, 64},
                                    {9, 1}, {5, 4},   {40, 2}, {33, 130}};

static bool is_cdf(int wavelet)
{
    return wavelet == WAVELET_CDF97 || wavelet == WAVELET_CDF53;
}

static bool is_left_out(int wavelet, enum sample_type type)
{
    return wavelet_weakness(wavelet, WAVELET_ZERO, 1, true, type == SAMPLE_U16) != NULL;
}

static void round_trip(int wavelet, int mode, unsigned levels, enum sample_type type,
                       const uint32_t size[2], unsigned pattern)
{
    char chain[120];
    snprintf(chain, sizeof chain, "dwt:%s:levels=%u:mode=%s,idwt",
             param_choice_name(wavelet_choices, wavelet), levels,
             param_choice_name(wavelet_mode_choices, mode));
    harness_round_trip(chain, type, size[0], size[1], 1,
                       (enum harness_pattern)(pattern % HARNESS_PATTERNS));
}

/* Short and long filters of each family, since on a CPU the forms for GPUs take long to compile. */
static bool is_for_gpus(int wavelet)
{
    return wavelet % 6 == 4 || is_cdf(wavelet);
}

/* As deep as `levels`, or as integers come back. */
static unsigned as_deep(int wavelet, int mode, enum sample_type type, unsigned levels)
{
    while (levels > 1 && wavelet_weakness(wavelet, mode, levels, true, type == SAMPLE_U16))
        levels--;
    return levels;
}

/* Every wavelet and mode; depth, size and pattern change from one to the next. With HARNESS_FULL=1
 * every depth and size too, and in the forms for GPUs all wavelets. */
static void every_wavelet(void **state)
{
    (void)state;
    bool full = getenv("HARNESS_FULL") != NULL;
    size_t n_sizes = sizeof sizes / sizeof *sizes;
    for (int type = SAMPLE_U8; type <= SAMPLE_U16; type += SAMPLE_U16 - SAMPLE_U8)
        for (int w = 0; wavelet_choices[w].name; w++)
            for (int mode = 0; mode <= WAVELET_ANTIREFLECT; mode++) {
                if ((mode == WAVELET_JPEG2000) != is_cdf(w) ||
                    is_left_out(w, (enum sample_type)type) ||
                    (!full && mode > WAVELET_PERIODIC && w % 7 != 0))
                    continue;
                harness_round_trip_own(!full && !is_for_gpus(w));
                unsigned turn = (unsigned)(w * 7 + mode * 5 + type), levels = 2 + turn % 11;
                if (!full)
                    round_trip(w, mode, as_deep(w, mode, (enum sample_type)type, levels),
                               (enum sample_type)type, sizes[turn % n_sizes], turn);
                unsigned most = as_deep(w, mode, (enum sample_type)type, 12);
                for (levels = 1; full && levels <= most; levels++)
                    for (size_t i = 0; i < n_sizes; i++)
                        round_trip(w, mode, levels, (enum sample_type)type, sizes[i], turn);
            }
    harness_round_trip_own(false);
}

static void channels_and_types(void **state)
{
    (void)state;
    for (unsigned levels = 2; levels <= 12; levels += 10) { /* one program serves both */
        char chain[80];
        snprintf(chain, sizeof chain, "dwt:levels=%u,idwt", levels);
        harness_round_trip(chain, SAMPLE_U8, 37, 50, 3, HARNESS_EXTREMES);
        harness_round_trip(chain, SAMPLE_U8, 37, 50, 4, HARNESS_RANDOM);
        snprintf(chain, sizeof chain, "dwt:cdf53:levels=%u:precision=reversible,idwt", levels);
        for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
            harness_round_trip(chain, SAMPLE_U8, sizes[i][0], sizes[i][1], 1, HARNESS_EXTREMES);
            harness_round_trip(chain, SAMPLE_U16, sizes[i][0], sizes[i][1], 1, HARNESS_EXTREMES);
        }
        harness_round_trip(chain, SAMPLE_U16, 19, 21, 3, HARNESS_RANDOM);
        snprintf(chain, sizeof chain, "dwt:rbio3.1:levels=%u:precision=double,idwt", levels);
        harness_round_trip(chain, SAMPLE_U16, 45, 31, 1, HARNESS_RANDOM);
    }
    harness_round_trip("dwt,idwt", SAMPLE_U8, 4097, 33, 1, HARNESS_RANDOM);
    /* packets: each plane of a transform is transformed again, and keeps where it came from */
    harness_round_trip("dwt:haar:levels=1,dwt:db2:levels=2,dwt:cdf53:levels=1,idwt,idwt,idwt",
                       SAMPLE_U8, 37, 50, 3, HARNESS_RANDOM);
    harness_round_trip("analysis:haar,dwt:db2:levels=1:mode=symmetric,idwt,synthesis", SAMPLE_U8,
                       19, 21, 1, HARNESS_RANDOM);
    harness_round_trip("dwt:levels=3:precision=double,idwt", SAMPLE_U16, 45, 31, 1, HARNESS_RANDOM);
    /* all samples kept, at any size, and one direction alone */
    harness_round_trip("dwt:db4:levels=3:stationary=1,idwt", SAMPLE_U8, 37, 50, 3, HARNESS_RANDOM);
    harness_round_trip("dwt:bior2.4:levels=2:stationary=1:norm=1,idwt", SAMPLE_U16, 100, 9, 1,
                       HARNESS_RANDOM);
    harness_round_trip("dwt:sym5:levels=12:stationary=1:precision=double,idwt", SAMPLE_U8, 7, 2, 1,
                       HARNESS_EXTREMES);
    harness_round_trip("dwt:haar:levels=2:stationary=1:axis=x,dwt:db2:axis=y:levels=2,idwt,idwt",
                       SAMPLE_U8, 19, 21, 1, HARNESS_RANDOM);
    harness_round_trip("dwt:levels=3:axis=x,idwt", SAMPLE_U8, 45, 31, 3, HARNESS_RANDOM);
    harness_round_trip("dwt:db3:levels=2:axis=y:mode=antisymmetric,idwt", SAMPLE_U8, 33, 18, 1,
                       HARNESS_RANDOM);
    harness_round_trip("dwt:cdf53:levels=2:axis=y:precision=double,idwt", SAMPLE_U16, 1, 18, 1,
                       HARNESS_RANDOM);
}

/* The idwt alone against its reference: coefficients are changed on the way. */
static void samples(void **state)
{
    (void)state;
    harness_sweep("convert:f32,dwt:levels=2,idwt", SAMPLE_U8, 1);
    harness_few("convert:f32,dwt:db4:levels=2:mode=symmetric,idwt:levels=1", SAMPLE_U8, 1);
    harness_few("dwt:cdf53:levels=2:precision=reversible,idwt:levels=1", SAMPLE_U8, 1);
    harness_few("sobel:out=both,dwt:haar:levels=1,idwt", SAMPLE_U8, 1);
    /* thresholds that idwt applies as it loads, where it can */
    harness_few("dwt:db4:levels=3,shrink,idwt", SAMPLE_U8, 1);
    harness_few("dwt:haar:levels=2,shrink:hard:threshold=bayes,idwt", SAMPLE_F32, 1);
    harness_few("dwt:db2:levels=2,shrink:garrote:threshold=20:levels=1,idwt", SAMPLE_U8, 1);
    harness_few("dwt:db2:levels=2,shrink:threshold=20,idwt:levels=1", SAMPLE_F32, 1);
    harness_few("dwt:db2:levels=1:precision=double,shrink:soft,idwt", SAMPLE_F32, 1);
    harness_few("convert:f32,dwt:db2:levels=3:stationary=1,idwt:levels=2", SAMPLE_U8, 1);
    harness_few("convert:f32,dwt:db2:levels=2:axis=y,idwt", SAMPLE_U8, 3);
    harness_few("convert:f32,dwt:cdf97:levels=3:axis=x,idwt:levels=1", SAMPLE_U8, 1);
}

/* A picture of one grey stays it at every size: smaller ones are divided by the filters' gain. */
static void smaller(void **state)
{
    double grey[64 * 64], less[32 * 32];
    (void)state;
    for (int i = 0; i < 64 * 64; i++)
        grey[i] = 77;
    for (int i = 0; i < 32 * 32; i++)
        less[i] = 77;
    for (int levels = 1; levels <= 3; levels++) {
        static const char *const wavelets[] = {"cdf97", "cdf53",   "haar",
                                               "db4",   "bior4.4", "cdf53:precision=reversible"};
        for (size_t i = 0; i < sizeof wavelets / sizeof *wavelets; i++) {
            char chain[80];
            snprintf(chain, sizeof chain, "dwt:%s:levels=4,idwt:levels=%d", wavelets[i], levels);
            harness_vector(chain, SAMPLE_U8, 64, 64, 1, grey, SAMPLE_U8, 4u << levels, 4u << levels,
                           1, less, 0);
        }
    }
    /* haar: LL1 of 10 20 / 30 40 is half their sum, 50; the picture of it is their mean */
    static const double square[] = {10, 20, 30, 40, 10, 20, 30, 40, 1, 3, 5, 7, 1, 3, 5, 7};
    static const double means[] = {15, 35, 2, 6};
    harness_vector("dwt:haar:levels=2,idwt:levels=1", SAMPLE_U8, 4, 4, 1, square, SAMPLE_U8, 2, 2,
                   1, means, 0);
    for (int levels = 1; levels <= 12; levels++) {
        char chain[80];
        snprintf(chain, sizeof chain, "dwt:db2:levels=%d,idwt", levels);
        harness_vector(chain, SAMPLE_U8, 4, 4, 1, square, SAMPLE_U8, 4, 4, 1, square, 0);
    }
}

static void refusals(void **state)
{
    (void)state;
    harness_refuses("dwt:levels=2,idwt:levels=3", SAMPLE_U8, 8, 8, 1, FAULT_SHAPE, "there are 2");
    harness_refuses("dwt:levels=2,idwt:levels=1.5", SAMPLE_U8, 8, 8, 1, FAULT_CHAIN, "whole");
    harness_refuses("dwt:levels=2,convert:u8,idwt", SAMPLE_U8, 8, 8, 1, FAULT_SHAPE, "LL2");
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(smaller),  cmocka_unit_test(every_wavelet),
        cmocka_unit_test(samples),  cmocka_unit_test(channels_and_types),
        cmocka_unit_test(refusals), cmocka_unit_test(harness_enough_vectors),
    };
    return HARNESS_MAIN(tests);
}
