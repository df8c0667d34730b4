/* canny: small pictures by hand, then device against reference. cli-canny and tests/peers compare
 * with OpenCV. */
#include "harness.h"

#include <stdio.h>
#include <string.h>

/* A picture as text: a digit each pixel, times `by`; # in what comes out is white. Rows end with |.
 */
static void drawn(const char *chain, enum sample_type type, double by, const char *in,
                  const char *out)
{
    double samples[400], edges[400];
    uint32_t n = 0, width = (uint32_t)strcspn(in, "|");
    for (size_t i = 0, k = 0; in[i]; i++) {
        if (in[i] == '|')
            continue;
        while (out[k] == '|')
            k++;
        samples[n] = (in[i] - '0') * by;
        edges[n++] = out[k++] == '#' ? 255 : 0;
    }
    harness_vector(chain, type, width, n / width, 1, samples, SAMPLE_U8, width, n / width, 1, edges,
                   0);
}

static void test_lines(void **state)
{
    (void)state;
    /* Nothing changes. */
    drawn("canny:0:0", SAMPLE_U8, 9, "5", ".");
    drawn("canny:0:0", SAMPLE_U8, 9, "555|555|555", "...|...|...");
    /* A step between columns 1 and 2 has a gradient of 4 times its height in both: the first of
     * equals is the edge. */
    drawn("canny:0:0", SAMPLE_U8, 10, "0011|0011|0011", ".#..|.#..|.#..");
    drawn("canny:39:39", SAMPLE_U8, 10, "0011|0011|0011", ".#..|.#..|.#..");
    drawn("canny:40:40", SAMPLE_U8, 10, "0011|0011|0011", "....|....|....");
    drawn("canny:39.9:39.9", SAMPLE_U8, 10, "0011|0011|0011", ".#..|.#..|.#..");
    drawn("canny:20:40", SAMPLE_U8, 10, "0011|0011|0011", "....|....|....");
    drawn("canny:20:39", SAMPLE_U8, 10, "1100|1100|1100", ".#..|.#..|.#..");
    drawn("canny:0:0", SAMPLE_U8, 10, "000|000|111|111", "...|###|...|...");
    drawn("canny:0:0", SAMPLE_U8, 10, "111|111|000|000", "...|###|...|...");
    drawn("canny:39:39:norm=l2", SAMPLE_U8, 10, "0011|0011|0011", ".#..|.#..|.#..");
    drawn("canny:40:40:norm=l2", SAMPLE_U8, 10, "0011|0011|0011", "....|....|....");
    drawn("canny:0:0", SAMPLE_U16, 7000, "0011|0011|0011", ".#..|.#..|.#..");
    drawn("canny:27999:27999", SAMPLE_U16, 7000, "0011|0011|0011", ".#..|.#..|.#..");
    drawn("canny:28000:28000", SAMPLE_U16, 7000, "0011|0011|0011", "....|....|....");
    drawn("canny:27999:27999:norm=l2", SAMPLE_U16, 7000, "0011|0011|0011", ".#..|.#..|.#..");
    drawn("canny:28000:28000:norm=l2", SAMPLE_U16, 7000, "0011|0011|0011", "....|....|....");
    /* One row, one column: what is outside repeats the edge. */
    drawn("canny:0:0", SAMPLE_U8, 10, "0001111", "..#....");
    drawn("canny:0:0", SAMPLE_U8, 10, "0|0|0|1|1", ".|.|#|.|.");
    /* A slope is highest in its middle. */
    drawn("canny:0:0", SAMPLE_U8, 10, "01399|01399|01399", "..#..|..#..|..#..");
}

/* A line that fades: weak parts count as far as they hang together with a strong one. */
static void test_hysteresis(void **state)
{
    (void)state;
    drawn("canny:8:200", SAMPLE_U8, 10, "000|000|000|000|000|111|111|111", /* 40 everywhere */
          "...|...|...|...|...|...|...|...");
    drawn("canny:8:39", SAMPLE_U8, 10, "000|000|111|111", "...|###|...|...");
    /* The step is 10 high, then 60: its lower part is strong. Where it grows lines turn. (OpenCV
     * gives the same.) */
    drawn("canny:8:200", SAMPLE_U8, 10, "0011|0011|0011|0066|0066|0066",
          ".#..|.#..|..##|..#.|.#..|.#..");
    drawn("canny:50:200", SAMPLE_U8, 10, "0011|0011|0011|0011|0066|0066|0066",
          "....|....|....|..##|..#.|.#..|.#..");
    drawn("canny:8:500", SAMPLE_U8, 10, "0011|0011|0011|0066|0066|0066",
          "....|....|....|....|....|....");
    drawn("canny:8:200", SAMPLE_U8, 10, "00011|00022|00033|00044|00055|00066|00066",
          ".....|...##|...#.|...#.|...#.|...#.|..#..");
    drawn("canny:8:200", SAMPLE_U8, 10, "000111|000111|000122|000144|000188|000188|000188",
          "......|......|......|....##|....#.|...#..|...#..");
    /* Two steps, of which one is strong. */
    drawn("canny:8:200", SAMPLE_U8, 10, "0000111111999999|0000111111999999|0000111111999999",
          ".........#......|.........#......|.........#......");
    drawn("canny:8:20", SAMPLE_U8, 10, "0000111111999999|0000111111999999|0000111111999999",
          "...#.....#......|...#.....#......|...#.....#......");
}

static void test_colours(void **state)
{
    /* Red steps by 10, green by 20 one column further: the greatest counts, of equals the first. */
    static const double in[] = {0, 0, 0, 0, 0, 0, 0, 0, 10, 0, 0, 0, 10, 20, 0, 0, 10, 20, 0, 0},
                        out[] = {0, 0, 255, 0, 0};
    static const double rgb[] = {0, 0, 0, 0, 0, 0, 10, 0, 0, 10, 20, 0, 10, 20, 0},
                        grey[] = {0, 9, 0, 0, 40, 255, 40, 1}, line[] = {0, 255, 0, 0};
    (void)state;
    harness_vector("canny:0:0", SAMPLE_U8, 5, 1, 4, in, SAMPLE_U8, 5, 1, 1, out, 0);
    harness_vector("canny:0:0", SAMPLE_U8, 5, 1, 3, rgb, SAMPLE_U8, 5, 1, 1, out, 0);
    harness_vector("canny:0:0", SAMPLE_U8, 4, 1, 2, grey, SAMPLE_U8, 4, 1, 1, line, 0);
    harness_vector("canny:0:0", SAMPLE_U16, 5, 1, 3, rgb, SAMPLE_U8, 5, 1, 1, out, 0);
}

static void test_against_reference(void **state)
{
    char chain[64];
    (void)state;
    for (uint32_t channels = 1; channels <= 4; channels++) {
        harness_sweep("canny:300:700", SAMPLE_U8, channels);
        harness_few("canny:200:500:norm=l2", SAMPLE_U8, channels);
        harness_few("canny:40000:180000", SAMPLE_U16, channels);
        harness_few("canny:40000:140000:norm=l2", SAMPLE_U16, channels);
    }
    /* Long winding lines: random pixels with few strong ones, and slopes. */
    for (int high = 300; high <= 1900; high += 400) {
        snprintf(chain, sizeof chain, "canny:1:%d", high);
        harness_check(chain, SAMPLE_U8, 300, 211, 1, HARNESS_RANDOM);
        snprintf(chain, sizeof chain, "gauss:1,canny:1:%d", high / 10);
        harness_check(chain, SAMPLE_U8, 300, 211, 1, HARNESS_RANDOM);
    }
    harness_check("canny:0:0", SAMPLE_U8, 700, 300, 1, HARNESS_EXTREMES);
    harness_check("canny:1:3", SAMPLE_U8, 700, 300, 1, HARNESS_RAMP);
    harness_check("luminance,canny:100:600", SAMPLE_U8, 300, 211, 3, HARNESS_RANDOM);
}

static void test_refusals(void **state)
{
    (void)state;
    harness_refuses("canny", SAMPLE_U8, 3, 3, 1, FAULT_CHAIN, "low is missing");
    harness_refuses("canny:100", SAMPLE_U8, 3, 3, 1, FAULT_CHAIN, "high is missing");
    harness_refuses("canny:100:50", SAMPLE_U8, 3, 3, 1, FAULT_CHAIN, "swap");
    harness_refuses("canny:-1:50", SAMPLE_U8, 3, 3, 1, FAULT_CHAIN, "low");
    harness_refuses("canny:1:2", SAMPLE_F32, 3, 3, 1, FAULT_SHAPE, "convert");
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_lines),    cmocka_unit_test(test_hysteresis),
        cmocka_unit_test(test_colours),  cmocka_unit_test(test_against_reference),
        cmocka_unit_test(test_refusals), cmocka_unit_test(harness_enough_vectors),
    };
    return HARNESS_MAIN(tests);
}
