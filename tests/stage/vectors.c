#include "vectors.h"

#include <stdio.h>
#include <string.h>

#define PICTURE_MOST (24 * 18) /* samples */
#define RESULT_MOST  1024

/* A vector's picture, as vectors.h has it. */
struct drawing {
    enum sample_type type;
    unsigned width, height, channels;
    unsigned modulus, gain;
    int offset;
};

static bool read_number(struct drawing *to, char of, int n)
{
    switch (of) {
    case 'x':
        to->channels = (unsigned)n;
        return n > 0;
    case '%':
        to->modulus = (unsigned)n;
        return n > 0;
    case '*':
        to->gain = (unsigned)n;
        return n > 0;
    case '+':
        to->offset = n;
        return true;
    case '-':
        to->offset = -n;
        return true;
    default:
        return false;
    }
}

static void read_picture(const char *text, struct drawing *to)
{
    char type[8];
    int used, n;
    *to = (struct drawing){.channels = 1, .modulus = 256, .gain = 1};
    if (sscanf(text, "%7s %ux%u%n", type, &to->width, &to->height, &used) != 3 ||
        !sample_find(type, &to->type))
        fail_msg("picture '%s': expected TYPE WxH", text);
    for (const char *at = text + used; *at; at += used + (int)strspn(at + used, " ")) {
        char of;
        at += strspn(at, " ");
        if (sscanf(at, "%c%d%n", &of, &n, &used) != 2 || !read_number(to, of, n))
            fail_msg("picture '%s': expected xC, %%M, *G, +O or -O in place of '%s'", text, at);
    }
    if ((size_t)to->width * to->height * to->channels > PICTURE_MOST)
        fail_msg("picture '%s': more than %d samples", text, PICTURE_MOST);
}

static void draw(const struct drawing *d, double *at)
{
    for (unsigned y = 0; y < d->height; y++)
        for (unsigned x = 0; x < d->width; x++)
            for (unsigned c = 0; c < d->channels; c++)
                *at++ =
                    (int)((37 * x + 91 * y + 13 * x * y + 57 * c) % d->modulus * d->gain % 65536) +
                    d->offset;
}

/* Returns how many rows the text has; `width` becomes the samples of each. */
static unsigned read_rows(const char *text, double *samples, unsigned *width)
{
    unsigned n = 0, height = 0;
    for (const char *at = text;; at++) {
        char *end;
        do {
            samples[n++] = strtod(at, &end);
            if (end == at || n == RESULT_MOST)
                fail_msg("'%s': row %u has no sample at '%s', or there are %u", text, height, at,
                         RESULT_MOST);
            at = end + strspn(end, " ");
        } while (*at && *at != ',');
        if (height++ == 0)
            *width = n;
        if (n != height * *width)
            fail_msg("'%s': row %u has not %u samples, as the first has", text, height - 1, *width);
        if (!*at)
            return height;
    }
}

void vectors_check(const char *stage, const struct vector *vectors, size_t n)
{
    static double in[PICTURE_MOST], expected[RESULT_MOST];
    for (const struct vector *v = vectors; v < vectors + n; v++) {
        char chain[200];
        struct drawing d;
        assert_non_null(v->expected);
        unsigned width, height = read_rows(v->expected, expected, &width);
        snprintf(chain, sizeof chain, "%s:%s", stage, v->arguments);
        read_picture(v->picture, &d);
        if (width % d.channels != 0)
            fail_msg("%s of '%s': rows of %u samples", chain, v->picture, width);
        draw(&d, in);
        harness_vector(chain, d.type, d.width, d.height, d.channels, in, d.type, width / d.channels,
                       height, d.channels, expected, d.type == SAMPLE_F32 ? 1e-3 : 0);
    }
}

struct window_test {
    const char *stage;
    const struct vector *vectors;
    size_t n;
};

static void test_vectors(void **state)
{
    const struct window_test *test = *state;
    vectors_check(test->stage, test->vectors, test->n);
}

static void test_against_reference(void **state)
{
    const struct window_test *test = *state;
    harness_window(test->stage);
}

int window_main(int argc, char **argv, const char *stage, const struct vector *vectors, size_t n)
{
    struct window_test test = {stage, vectors, n};
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_prestate(test_vectors, &test),
        cmocka_unit_test_prestate(test_against_reference, &test),
        cmocka_unit_test(harness_enough_vectors),
    };
    return HARNESS_MAIN(tests);
}
