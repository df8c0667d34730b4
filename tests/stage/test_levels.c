/* levels: values computed by hand, every value of u8 and u16 against the formula in double, and
 * device against reference. */
#include "harness.h"

#include <math.h>
#include <stdio.h>

static void one(const char *arguments, enum sample_type type, double in, double expected)
{
    char chain[96];
    snprintf(chain, sizeof chain, "levels:%s", arguments);
    harness_vector(chain, type, 1, 1, 1, &in, type, 1, 1, 1, &expected,
                   type == SAMPLE_F32 ? 1e-5 * fabs(expected) : 0);
}

static void test_lines(void **state)
{
    (void)state;
    one("black=0", SAMPLE_U8, 77, 77);
    one("50:200", SAMPLE_U8, 50, 0);
    one("50:200", SAMPLE_U8, 49, 0);
    one("50:200", SAMPLE_U8, 51, 2);    /* 1.7 */
    one("50:200", SAMPLE_U8, 125, 128); /* 127.5 */
    one("50:200", SAMPLE_U8, 65, 26);   /* 25.5 */
    one("50:200", SAMPLE_U8, 55, 8);    /* 8.5 */
    one("50:200", SAMPLE_U8, 199, 253); /* 253.3 */
    one("50:200", SAMPLE_U8, 201, 255);
    one("200:50", SAMPLE_U8, 51, 253); /* turned round */
    one("200:50", SAMPLE_U8, 230, 0);
    one("0:10:low=100:high=101", SAMPLE_U8, 5, 100); /* 100.5 */
    one("0:10:low=101:high=102", SAMPLE_U8, 5, 102); /* 101.5 */
    one("0:255:low=255:high=0", SAMPLE_U8, 3, 252);
    one("0:255:low=-255:high=510", SAMPLE_U8, 84, 0); /* −3 */
    one("0:255:low=-255:high=510", SAMPLE_U8, 100, 45);
    one("0:255:low=-255:high=510", SAMPLE_U8, 200, 255);
    one("-255:255", SAMPLE_U8, 0, 128);                /* 127.5 */
    one("-255:765", SAMPLE_U8, 255, 128);              /* 127.5 */
    one("10.5:11.5", SAMPLE_U8, 11, 128);              /* 127.5 */
    one("10.25:11.25", SAMPLE_U8, 11, 191);            /* 191.25 */
    one("1000:2000", SAMPLE_U16, 1500, 32768);         /* 32767.5 */
    one("1000:2000", SAMPLE_U16, 1001, 66);            /* 65.535 */
    one("0:65535:low=0:high=255", SAMPLE_U16, 129, 1); /* 0.502 */
    one("0:65535:low=0:high=255", SAMPLE_U16, 128, 0);
}

static void test_curves(void **state)
{
    (void)state;
    one("gamma=2", SAMPLE_U8, 64, 128); /* 127.75 */
    one("gamma=2", SAMPLE_U8, 1, 16);   /* 15.97 */
    one("gamma=2", SAMPLE_U8, 255, 255);
    one("gamma=0.5", SAMPLE_U8, 128, 64);                     /* 64.25 */
    one("gamma=0.5", SAMPLE_U8, 16, 1);                       /* 1.004 */
    one("gamma=0.5:black=100:white=200", SAMPLE_U8, 150, 64); /* 63.75 */
    one("gamma=0.5:low=10:high=20", SAMPLE_U8, 153, 14);      /* 13.6 */
    one("gamma=2.2", SAMPLE_U8, 128, 186);                    /* 186.42 */
    one("gamma=2.2", SAMPLE_U8, 10, 59);          /* 58.51 */
    one("gamma=2", SAMPLE_U16, 16384, 32768);                 /* 32767.75 */
    one("gamma=0.5", SAMPLE_U16, 32768, 16384);               /* 16384.25 */
    one("gamma=2", SAMPLE_F32, 63.75, 127.5); /* of 255, where nothing tells of white */
    harness_white(1);
    one("gamma=2", SAMPLE_F32, 0.25, 0.5);
    one("gamma=0.5", SAMPLE_F32, 0.5, 0.25);
    one("gamma=2:white=255:high=255", SAMPLE_F32, 63.75, 127.5);
    one("gamma=0.5:black=1:white=3:low=-1:high=7", SAMPLE_F32, 2, 1);
    harness_white(0);
}

static void test_floats(void **state)
{
    (void)state;
    one("black=0", SAMPLE_F32, 300, 255);
    one("55", SAMPLE_F32, 155, 127.5);
    harness_white(1);
    one("black=0", SAMPLE_F32, 0.375, 0.375);
    one("black=0", SAMPLE_F32, -3, 0);
    one("black=0", SAMPLE_F32, 3, 1);
    one("0.25:0.75", SAMPLE_F32, 0.5, 0.5);
    one("0.25:0.75", SAMPLE_F32, 0.625, 0.75);
    one("0:255:low=0:high=255", SAMPLE_F32, 77.125, 77.125);
    one("-1:1:low=-10:high=10", SAMPLE_F32, 0.5, 5);
    one("200:200.125:high=256", SAMPLE_F32, 200.0625, 128); /* nothing is lost beside 200 */
    one("black=0", SAMPLE_F32, NAN, 0);
    one("black=0:low=0.5", SAMPLE_F32, NAN, 0.5);
    one("gamma=2:low=0.5", SAMPLE_F32, NAN, 0.5);
    one("1:0:low=0.5", SAMPLE_F32, NAN, 0.5);
    one("black=0", SAMPLE_F32, INFINITY, 1);
    harness_white(0);
}

/* All values at once; alpha stays. */
static void check_all(const char *arguments, enum sample_type type, double black, double white,
                      double gamma, double low, double high)
{
    static double in[65536], expected[65536];
    uint32_t count = type == SAMPLE_U8 ? 256 : 65536;
    char chain[96];
    for (uint32_t v = 0; v < count; v++) {
        double t = fmin(fmax((v - black) / (white - black), 0), 1);
        in[v] = v;
        expected[v] = (double)sample_saturate(type, low + (high - low) * pow(t, 1 / gamma));
    }
    snprintf(chain, sizeof chain, "levels:%s", arguments);
    harness_vector(chain, type, 256, count / 256, 1, in, type, 256, count / 256, 1, expected, 0);
    for (uint32_t v = 1; v < count; v += 2)
        expected[v] = in[v];
    harness_vector(chain, type, 128, count / 256, 2, in, type, 128, count / 256, 2, expected, 0);
}

static void test_all_values(void **state)
{
    (void)state;
    check_all("16:235", SAMPLE_U8, 16, 235, 1, 0, 255);
    check_all("gamma=2.2", SAMPLE_U8, 0, 255, 2.2, 0, 255);
    check_all("30:200:0.7:10:240", SAMPLE_U8, 30, 200, 0.7, 10, 240);
    check_all("0.1:254.9", SAMPLE_U8, 0.1, 254.9, 1, 0, 255);
    check_all("4096:60160", SAMPLE_U16, 4096, 60160, 1, 0, 65535);
    check_all("gamma=1.8", SAMPLE_U16, 0, 65535, 1.8, 0, 65535);
}

static void test_against_reference(void **state)
{
    (void)state;
    for (uint32_t channels = 1; channels <= 4; channels++) {
        harness_sweep("levels:20:230:1.5", SAMPLE_U8, channels);
        harness_few("levels:20:230", SAMPLE_U8, channels);
        harness_few("levels:20:60000:0.8", SAMPLE_U16, channels);
        harness_few("levels:20:60000", SAMPLE_U16, channels);
        harness_few("levels:-500:700:high=100", SAMPLE_F32, channels);
        harness_few("levels:0:300:0.01:high=1e15", SAMPLE_F32, channels);
        harness_few("levels:0:300:100:low=-1e15", SAMPLE_F32, channels);
        harness_few("levels:-1e15:1e15:low=1e15:high=-1e15", SAMPLE_F32, channels);
        harness_few("levels:-1e15:1e15:0.01", SAMPLE_F32, channels);
        harness_few("levels:100:100.0001:low=-1e15:high=1e15", SAMPLE_F32, channels);
        harness_few("levels:-500:700:2.2:high=100", SAMPLE_F32, channels);
    }
}

/* In one kernel with others: tables of several stages, in front of a stencil and behind it. */
static void test_joined(void **state)
{
    static const char *const chains[] = {
        "levels:gamma=2,invert,levels:gamma=0.5",
        "levels:gamma=2,sobel,levels:gamma=3",
        "sobel,levels:10:90",
        "luminance,levels:gamma=2.2,fir:gaussian3,levels:30:200:1.3,invert",
        "levels:gamma=2,convert:type=u16,levels:0:255:0.9",
        "box:3,levels:gamma=1.7,resize:by=0.5",
    };
    (void)state;
    for (size_t i = 0; i < sizeof chains / sizeof *chains; i++)
        for (uint32_t channels = 1; channels <= 3; channels += 2)
            harness_few(chains[i], SAMPLE_U8, channels);
}

static void test_refusals(void **state)
{
    (void)state;
    harness_refuses("levels:gamma=0", SAMPLE_U8, 3, 3, 1, FAULT_CHAIN, "from 0.01 to 100");
    harness_refuses("levels:gamma=-1", SAMPLE_U8, 3, 3, 1, FAULT_CHAIN, "from 0.01 to 100");
    harness_refuses("levels:gamma=0.001", SAMPLE_F32, 3, 3, 1, FAULT_CHAIN, "from 0.01 to 100");
    harness_refuses("levels:black=1e16", SAMPLE_F32, 3, 3, 1, FAULT_CHAIN, "black");
    harness_refuses("levels:high=-1e300", SAMPLE_F32, 3, 3, 1, FAULT_CHAIN, "high");
    harness_refuses("levels:0:1e-30", SAMPLE_F32, 3, 3, 1, FAULT_CHAIN, "nothing lies between");
    harness_refuses("levels:20:20", SAMPLE_U8, 3, 3, 1, FAULT_CHAIN, "black and white are both 20");
    harness_refuses("levels:255", SAMPLE_U8, 3, 3, 1, FAULT_SHAPE, "black and white are both 255");
    harness_refuses("levels:black=255", SAMPLE_F32, 3, 3, 1, FAULT_SHAPE, "both 255");
    harness_refuses("levels", SAMPLE_I16, 3, 3, 1, FAULT_SHAPE, "convert:type=f32");
    harness_refuses("levels", SAMPLE_F64, 3, 3, 1, FAULT_SHAPE, "convert:type=f32");
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_lines),
        cmocka_unit_test(test_curves),
        cmocka_unit_test(test_floats),
        cmocka_unit_test(test_all_values),
        cmocka_unit_test(test_against_reference),
        cmocka_unit_test(test_joined),
        cmocka_unit_test(test_refusals),
        cmocka_unit_test(harness_enough_vectors),
    };
    return HARNESS_MAIN(tests);
}
