/* libsluice by its public header alone, as a program would use it: test_library [DEVICE], by
 * default native. On another device that computes in the caller's memory only what depends on the
 * device is run. */
#include <sluice/sluice.h>

#include <dirent.h>
#include <fcntl.h>
#include <limits.h>
#include <malloc.h>
#include <math.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

#define GUARD_BYTE 0xa5

static struct sluice_device *native, *reference;
static const char *selected = "native";

static struct sluice_chain *chain_of(const char *text)
{
    struct sluice_error error = SLUICE_INIT(error);
    struct sluice_chain *chain;
    if (sluice_chain_parse(&chain, text, NULL, &error, 1) != 0)
        fail_msg("%s: %s", text, error.message);
    return chain;
}

static struct sluice_device *open_device(const char *select, unsigned threads)
{
    struct sluice_device_options options = SLUICE_INIT(options);
    struct sluice_error error = SLUICE_INIT(error);
    struct sluice_device *device;
    options.select = select;
    options.threads = threads;
    if (sluice_device_open(&device, &options, &error) != 0)
        fail_msg("device %s: %s", select, error.message);
    return device;
}

static int setup(void **state)
{
    native = open_device(selected, 2);
    reference = open_device("reference", 0);
    return 0;
}

static int teardown(void **state)
{
    sluice_device_unref(&native);
    sluice_device_unref(&reference);
    return 0;
}

static uint32_t random_state = 1;

static uint32_t next_random(void)
{
    random_state = random_state * 1664525 + 1013904223;
    return random_state >> 8;
}

/* ---- frames with guards ---- */

#define PLANES_MAX 64

struct block {
    struct sluice_plane planes[PLANES_MAX];
    struct sluice_layout layout;
    uint8_t *data;
    size_t bytes;
};

static size_t sample_bytes(uint32_t type)
{
    static const size_t sizes[] = {0, 1, 1, 2, 2, 4, 4, 8};
    return sizes[type];
}

/* Spreads the planes of a layout out: odd offsets and strides, as far as samples allow. */
static void spread(struct sluice_layout *layout)
{
    size_t at = 0;
    for (size_t i = 0; i < layout->n_planes; i++) {
        struct sluice_plane *p = &layout->planes[i];
        size_t sample = sample_bytes(p->type);
        at = (at / sample + 1 + i % 3) * sample;
        p->offset = at;
        p->stride = p->width * p->channels * sample + sample * (1 + i % 2 * 4);
        at += p->stride * p->height;
    }
}

/* Memory of exactly the bytes that the layout needs, so that a sanitizer sees what is beyond. */
static void fill_block(struct block *block, bool random)
{
    block->bytes = sluice_layout_bytes(&block->layout);
    assert_int_not_equal(block->bytes, 0);
    block->data = malloc(block->bytes);
    assert_non_null(block->data);
    for (size_t i = 0; i < block->bytes; i++)
        block->data[i] = random ? (uint8_t)next_random() : GUARD_BYTE;
}

static void set_sample(uint8_t *at, uint32_t type)
{
    uint32_t r = next_random();
    float f = (float)(r % 30000) / 100;
    double d = f;
    int32_t i = (int32_t)(r % 2000) - 1000;
    if (type == SLUICE_F32)
        memcpy(at, &f, sizeof f);
    else if (type == SLUICE_F64)
        memcpy(at, &d, sizeof d);
    else if (type == SLUICE_I32)
        memcpy(at, &i, sizeof i);
    else
        memcpy(at, &r, sample_bytes(type));
}

static void make_input(struct block *block, uint32_t width, uint32_t height, uint32_t channels,
                       uint32_t type)
{
    *block = (struct block){.layout = SLUICE_INIT(block->layout)};
    block->planes[0] =
        (struct sluice_plane){.width = width, .height = height, .channels = channels, .type = type};
    block->layout.planes = block->planes;
    block->layout.n_planes = 1;
    spread(&block->layout);
    fill_block(block, true);
    struct sluice_plane *p = &block->planes[0];
    for (uint32_t y = 0; y < height; y++)
        for (uint32_t x = 0; x < width * channels; x++)
            set_sample(block->data + p->offset + y * p->stride + x * sample_bytes(type), type);
}

static void check_guards(const struct block *block, const char *what)
{
    uint8_t *mask = calloc(1, block->bytes);
    assert_non_null(mask);
    for (size_t i = 0; i < block->layout.n_planes; i++) {
        const struct sluice_plane *p = &block->planes[i];
        for (uint32_t y = 0; y < p->height; y++)
            memset(mask + p->offset + y * p->stride, 1,
                   p->width * p->channels * sample_bytes(p->type));
    }
    for (size_t i = 0; i < block->bytes; i++)
        if (!mask[i] && block->data[i] != GUARD_BYTE)
            fail_msg("%s: byte %zu between the rows was written", what, i);
    free(mask);
}

static int plan_on(struct sluice_device *device, const char *text, const struct block *in,
                   struct block *out, struct sluice_plan **plan, struct sluice_error *error)
{
    struct sluice_chain *chain = chain_of(text);
    *out = (struct block){.layout = SLUICE_INIT(out->layout)};
    out->layout.planes = out->planes;
    out->layout.n_planes = PLANES_MAX;
    int result = sluice_chain_result(chain, &in->layout, &out->layout, error);
    if (result == 0) {
        assert_in_range(out->layout.n_planes, 1, PLANES_MAX);
        spread(&out->layout);
        fill_block(out, false);
        result = sluice_plan_create(plan, chain, device, &in->layout, &out->layout, 0, error);
    }
    sluice_chain_unref(&chain);
    return result;
}

/* Runs a chain on a device; false if it does not take such a frame. */
static bool run_on(struct sluice_device *device, const char *text, const struct block *in,
                   struct block *out)
{
    struct sluice_error error = SLUICE_INIT(error);
    struct sluice_memory *from, *to;
    struct sluice_plan *plan;
    struct sluice_times times = SLUICE_INIT(times);
    int result = plan_on(device, text, in, out, &plan, &error);
    if (result == SLUICE_E_SHAPE)
        return false;
    if (result != 0)
        fail_msg("%s: %s", text, error.message);
    assert_int_equal(sluice_memory_wrap(&from, device, in->data, in->bytes, SLUICE_READ, &error),
                     0);
    assert_int_equal(sluice_memory_wrap(&to, device, out->data, out->bytes, SLUICE_WRITE, &error),
                     0);
    if (sluice_process(plan, from, to, &times, &error) != 0)
        fail_msg("%s: %s", text, error.message);
    if (device == native)
        assert_int_equal(times.bytes_copied, 0);
    sluice_memory_unref(&from);
    sluice_memory_unref(&to);
    sluice_plan_unref(&plan);
    return true;
}

static double sample_at(const uint8_t *at, uint32_t type)
{
    float f;
    double d;
    int32_t i;
    uint16_t u;
    switch (type) {
    case SLUICE_U8:
        return *at;
    case SLUICE_I8:
        return (int8_t)*at;
    case SLUICE_U16:
        memcpy(&u, at, sizeof u);
        return u;
    case SLUICE_I16:
        memcpy(&u, at, sizeof u);
        return (int16_t)u;
    case SLUICE_I32:
        memcpy(&i, at, sizeof i);
        return i;
    case SLUICE_F32:
        memcpy(&f, at, sizeof f);
        return f;
    default:
        memcpy(&d, at, sizeof d);
        return d;
    }
}

/* Integers are equal, unless they were computed by floats (white > 0): then one may be rounded to
 * the next. Floats are nearly equal, as the stages say of themselves. */
static void compare(const struct block *a, const struct block *b, double white, const char *what)
{
    assert_int_equal(a->layout.n_planes, b->layout.n_planes);
    for (size_t i = 0; i < a->layout.n_planes; i++) {
        const struct sluice_plane *p = &a->planes[i], *q = &b->planes[i];
        size_t size = sample_bytes(p->type);
        for (uint32_t y = 0; y < p->height; y++)
            for (uint32_t x = 0; x < p->width * p->channels; x++) {
                double v = sample_at(a->data + p->offset + y * p->stride + x * size, p->type);
                double w = sample_at(b->data + q->offset + y * q->stride + x * size, q->type);
                double limit =
                    p->type < SLUICE_F32 ? white > 0 : 2e-6 * white + 1e-4 * (v < 0 ? -v : v);
                if (v != w && !(v - w <= limit && w - v <= limit))
                    fail_msg("%s: plane %zu sample %u,%u: %g, by the reference %g", what, i, x, y,
                             v, w);
            }
    }
}

/* The chain on native and by the references, in memories of odd layouts. */
static bool check_chain(const char *text, const struct block *in, const char *what)
{
    struct block got = {0}, wanted = {0};
    uint8_t *before = malloc(in->bytes);
    assert_non_null(before);
    memcpy(before, in->data, in->bytes);
    bool taken = run_on(native, text, in, &got);
    assert_memory_equal(before, in->data, in->bytes);
    free(before);
    if (taken) {
        assert_true(run_on(reference, text, in, &wanted));
        check_guards(&got, what);
        check_guards(&wanted, what);
        bool is_wide = in->planes[0].type == SLUICE_U16 || in->planes[0].type == SLUICE_I16;
        bool by_floats =
            strstr(text, "idwt") || strstr(text, "synthesis") || got.planes[0].type >= SLUICE_F32;
        compare(&got, &wanted, !by_floats ? 0 : is_wide ? 65535 : 1000, what);
    }
    free(got.data);
    free(wanted.data);
    return taken;
}

/* Chains whose last stage is each of them, in each of its ways to work; and chains in which a view
 * is last, or nothing computes. */
static const char *const chains[] = {
    "",
    "abs",
    "analysis:haar",
    "analysis:cdf97,synthesis:cdf97",
    "box:radius=1",
    "box:radius=9",
    "box:radius=4:method=sat",
    "box:table=1",
    "canny:30:90",
    "canny:30:90:norm=l2",
    "clahe",
    "clahe:tiles=2x2",
    "close:width=5:height=3",
    "close:radius=3",
    "colour:m=0_1_0/1_0_0/0_0_1",
    "convert:type=f32",
    "convert:type=u16",
    "crop:1:1:9:5",
    "sobel,crop:2:1:8:6",
    "crop:3:2:10:8,sobel",
    "blend:200:opacity=0.4",
    "demosaic:rggb",
    "demosaic:bggr:bilinear",
    "dilate:radius=1",
    "dilate:radius=5",
    "dwt",
    "dwt:levels=2:wavelet=cdf53",
    "dwt,idwt",
    "dwt:mode=periodization:wavelet=db4,idwt",
    "equalize",
    "erode:radius=1",
    "erode:radius=2",
    "fir:1_2_1/2_4_2/1_2_1:divisor=16",
    "fir:1_2_3_2_1",
    "flip:x",
    "flip:y",
    "gain:by=1.5",
    "gauss:sigma=1",
    "gauss:sigma=4",
    "dwt,gain:by=2,idwt",
    "histogram",
    "invert",
    "levels:10:200",
    "luminance",
    "luminance:bt709",
    "median",
    "median:radius=3",
    "normalize",
    "open:radius=1",
    "pad:3",
    "pad:left=2:bottom=1:border=reflect",
    "resize:w=20",
    "resize:w=41:h=9:fit=exact",
    "resize:w=7:filter=nearest",
    "resize:w=60:filter=nearest:enlarge=1",
    "rotate:90",
    "rotate:180",
    "rotate:270",
    "rotate:30",
    "dwt,shrink:threshold=2,idwt",
    "subtract:20",
    "difference:90",
    "divide:3:scale=2",
    "mask:1",
    "sobel",
    "sobel:border=crop",
    "sobel:out=dx",
    "sobel:out=both",
    "statistics:over=99:across=2",
    "threshold:t=90",
    "threshold:t=otsu",
    "threshold:t=local:radius=3",
    "undistort:matrix=30_0_15/0_30_10/0_0_1:distortion=-0.2_0.05",
    "unsharp:sigma=1",
    "unsharp:sigma=3",
    "warp:0.9_-0.3_5/0.3_0.9_-4",
    "warp:from=0_0/20_1/19_9/1_8:filter=cubic",
    "luminance,sobel",
    "luminance,invert,sobel,threshold:90",
    "invert,gain:by=2",
    "sobel,convert:type=f32",
    "invert,crop:1:1:5:5,invert",
    "crop:0:0:12:7,crop:1:1:4:3",
};

/* What the list calls for may be written otherwise one day: then this says so. */
static bool parses(const char *text)
{
    struct sluice_error error = SLUICE_INIT(error);
    struct sluice_chain *chain;
    int result = sluice_chain_parse(&chain, text, NULL, &error, 1);
    sluice_chain_unref(&chain);
    if (result != 0)
        print_message("%s: %s\n", text, error.message);
    return result == 0;
}

static void test_layouts_of_every_stage(void **state)
{
    static const uint32_t sizes[][2] = {{37, 21}, {64, 16}, {13, 10}, {130, 70}};
    size_t n_chains = sizeof chains / sizeof *chains;
    bool *taken = calloc(n_chains, sizeof *taken);
    struct sluice_stage stage = SLUICE_INIT(stage);
    char what[200];
    bool all = true;
    for (size_t c = 0; c < n_chains; c++)
        all &= parses(chains[c]);
    assert_true(all);
    for (size_t c = 0; c < n_chains; c++)
        for (uint32_t type = SLUICE_U8; type <= SLUICE_F64; type++)
            for (uint32_t channels = 1; channels <= 4; channels++) {
                const uint32_t *size = sizes[(c + type + channels) % 4];
                struct block in;
                make_input(&in, size[0], size[1], channels, type);
                snprintf(what, sizeof what, "%s on %ux%ux%u of type %u", chains[c], size[0],
                         size[1], channels, type);
                taken[c] |= check_chain(chains[c], &in, what);
                free(in.data);
            }
    for (size_t c = 0; c < n_chains; c++)
        if (!taken[c])
            fail_msg("%s: takes no frame", chains[c]);
    for (size_t i = 0; sluice_stage_get(i, &stage) == 0; i++) { /* each of them is in the list */
        bool found = false;
        for (size_t c = 0; c < n_chains && !found; c++)
            for (const char *at = chains[c]; at; at = strchr(at, ',')) {
                at += *at == ',';
                size_t length = strcspn(at, ":,");
                found |= length == strlen(stage.name) && memcmp(at, stage.name, length) == 0;
            }
        if (!found)
            fail_msg("stage %s is in no chain of this test", stage.name);
    }
    free(taken);
}

static void test_some_layouts(void **state)
{
    static const char *const some[] = {"",          "sobel",        "invert,sobel",
                                       "median",    "crop:1:1:9:5", "flip:x",
                                       "luminance", "gauss:sigma=2"};
    static const uint32_t types[] = {SLUICE_U8, SLUICE_U16, SLUICE_F32};
    char what[200];
    for (size_t c = 0; c < sizeof some / sizeof *some; c++)
        for (size_t t = 0; t < 3; t++)
            for (uint32_t channels = 1; channels <= 4; channels += 2) {
                struct block in;
                make_input(&in, 37, 21, channels, types[t]);
                snprintf(what, sizeof what, "%s on %u channels of type %u", some[c], channels,
                         types[t]);
                assert_true(check_chain(some[c], &in, what));
                free(in.data);
            }
}

/* ---- video ---- */

static void make_video(struct block *block, int format, uint32_t width, uint32_t height, int matrix,
                       int range)
{
    *block = (struct block){.layout = SLUICE_INIT(block->layout)};
    block->layout.format = format;
    block->layout.width = width;
    block->layout.height = height;
    block->layout.matrix = matrix;
    block->layout.range = range;
    assert_int_not_equal(sluice_layout_fill(&block->layout, 1), 0);
    size_t sample = format == SLUICE_GRAY16_LE || format == SLUICE_P010 ? 2 : 1;
    for (size_t i = 0; i < 4; i++) { /* apart from each other, at odd places */
        block->layout.offset[i] += sample * (3 + 50 * height * i);
        block->layout.stride[i] += sample * (1 + i);
    }
    fill_block(block, true);
}

static bool is_ycbcr(int format)
{
    return format <= SLUICE_UYVY || format == SLUICE_NV16 || format == SLUICE_P010;
}

static void test_video(void **state)
{
    static const char *const ways[] = {
        "",
        "luminance",
        "luminance:bt709",
        "luminance:exact=1",
        "luminance,sobel",
        "invert",
        "sobel",
        "gauss:sigma=1",
        "resize:w=20",
        "crop:1:1:5:5",
        "convert:type=f32",
        "luminance,invert,sobel,threshold:90",
    };
    static const uint32_t sizes[][2] = {{37, 21}, {64, 32}, {1, 1}, {2, 3}, {130, 66}};
    char what[200];
    for (int format = SLUICE_NV12; format <= SLUICE_RAW12; format++)
        for (int matrix = 0; matrix < (is_ycbcr(format) ? 3 : 1); matrix++)
            for (int range = 0; range < (is_ycbcr(format) ? 2 : 1); range++)
                for (size_t w = 0; w < sizeof ways / sizeof *ways; w++)
                    for (size_t s = 0; s < sizeof sizes / sizeof *sizes; s++) {
                        struct block in;
                        make_video(&in, format, sizes[s][0], sizes[s][1], matrix, range);
                        snprintf(what, sizeof what, "%s on format %d %ux%u matrix %d range %d",
                                 ways[w], format, sizes[s][0], sizes[s][1], matrix, range);
                        check_chain(ways[w], &in, what);
                        free(in.data);
                    }
}

/* Colours that are known by definition, independent of the references. */
static void test_video_colours(void **state)
{
    static const struct {
        int matrix, range;
        uint8_t y, cb, cr, rgb[3];
    } known[] = {
        {SLUICE_BT601, SLUICE_LIMITED, 16, 128, 128, {0, 0, 0}},
        {SLUICE_BT601, SLUICE_LIMITED, 235, 128, 128, {255, 255, 255}},
        {SLUICE_BT709, SLUICE_FULL, 200, 128, 128, {200, 200, 200}},
        {SLUICE_BT601, SLUICE_LIMITED, 81, 90, 240, {254, 0, 0}},
        {SLUICE_BT709, SLUICE_LIMITED, 63, 102, 240, {255, 1, 0}},
        {SLUICE_BT709, SLUICE_LIMITED, 173, 42, 26, {0, 255, 1}},
        {SLUICE_BT601, SLUICE_FULL, 29, 255, 107, {0, 0, 254}},
    };
    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        struct block in, out = {0};
        make_video(&in, SLUICE_NV12, 2, 2, known[i].matrix, known[i].range);
        for (int y = 0; y < 2; y++)
            memset(in.data + in.layout.offset[0] + y * in.layout.stride[0], known[i].y, 2);
        in.data[in.layout.offset[1]] = known[i].cb;
        in.data[in.layout.offset[1] + 1] = known[i].cr;
        assert_true(run_on(native, "", &in, &out));
        for (int c = 0; c < 3; c++)
            assert_in_range(out.data[out.planes[0].offset + c] + 1, known[i].rgb[c],
                            known[i].rgb[c] + 2);
        free(in.data);
        free(out.data);
    }
}

/* The same of 10 bits, and numbers that a sensor packs, by hand. */
static void test_video_numbers(void **state)
{
    static const struct {
        int format;
        uint32_t width;
        uint8_t bytes[2][6];
        uint16_t expected[4];
    } known[] = {
        {SLUICE_P010, 2, {{0, 0x10, 0xc0, 0xea}, {0, 0x80, 0, 0x80}}, {0, 0, 0, 65460}}, /* 64, 939 of 940 */
        {SLUICE_RAW10, 4, {{0x12, 0xff, 0, 0x80, 0x1b}}, {0x12 << 2 | 3, 0xff << 2 | 2, 1, 0x80 << 2}},
        {SLUICE_RAW12, 4, {{0x12, 0xff, 0xa5, 0, 0x80, 0x0f}}, {0x125, 0xffa, 0x00f, 0x800}},
    };
    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        struct block in, out = {0};
        make_video(&in, known[i].format, known[i].width, 1, SLUICE_BT709, SLUICE_LIMITED);
        for (int p = 0; p < 2; p++)
            memcpy(in.data + in.layout.offset[p], known[i].bytes[p], p && i ? 0 : p ? 4 : i ? 4 + i : 4);
        assert_true(run_on(native, "", &in, &out));
        assert_memory_equal(out.data + out.planes[0].offset, known[i].expected, 8);
        free(in.data);
        free(out.data);
    }
}

/* ---- views ---- */

static int view_of(const char *text, const struct block *in, struct sluice_layout *view)
{
    struct sluice_chain *chain = chain_of(text);
    struct sluice_error error = SLUICE_INIT(error);
    struct sluice_plan_info info = SLUICE_INIT(info);
    struct sluice_plan *plan;
    assert_int_equal(sluice_plan_create(&plan, chain, native, &in->layout, NULL, 0, &error), 0);
    sluice_plan_get_info(plan, &info);
    int result = sluice_plan_view(plan, view, &error);
    assert_int_equal(info.computes, result != 0);
    sluice_plan_unref(&plan);
    sluice_chain_unref(&chain);
    return result;
}

/* The planes of a transform, which the caller keeps and may change, give the picture again. */
static void test_transforms(void **state)
{
    static const struct {
        const char *forward, *back;
    } pairs[] = {
        {"dwt", "idwt:wavelet=cdf97:type=u8"},
        {"dwt:levels=3:wavelet=cdf53", "idwt:wavelet=cdf53:type=u8"},
        {"dwt:wavelet=db4:levels=2:mode=periodization",
         "idwt:wavelet=db4:mode=periodization:type=u8"},
        {"analysis:haar:levels=2", "synthesis:haar:size=64x48:type=u8"},
        {"analysis:cdf97", "synthesis:cdf97:size=64x48:type=u8"},
    };
    for (size_t i = 0; i < sizeof pairs / sizeof *pairs; i++) {
        struct block in, bands = {0}, out = {0};
        make_input(&in, 64, 48, 1, SLUICE_U8);
        assert_true(run_on(native, pairs[i].forward, &in, &bands));
        if (!run_on(native, pairs[i].back, &bands, &out))
            fail_msg("%s: the planes of %s are not taken", pairs[i].back, pairs[i].forward);
        assert_int_equal(out.layout.n_planes, 1);
        for (uint32_t y = 0; y < 48; y++)
            assert_memory_equal(out.data + out.planes[0].offset + y * out.planes[0].stride,
                                in.data + in.planes[0].offset + y * in.planes[0].stride, 64);
        free(in.data);
        free(bands.data);
        free(out.data);
    }
}

static void test_views(void **state)
{
    struct sluice_plane plane;
    struct sluice_layout view = SLUICE_INIT(view);
    struct block in;
    view.planes = &plane;
    view.n_planes = 1;
    make_input(&in, 40, 30, 3, SLUICE_U8);
    assert_int_equal(view_of("sobel", &in, &view), SLUICE_E_USAGE);
    assert_int_equal(view_of("", &in, &view), 0);
    assert_int_equal(plane.offset, in.planes[0].offset);
    view.n_planes = 1;
    assert_int_equal(view_of("crop:4:2:8:8", &in, &view), 0);
    assert_int_equal(plane.offset, in.planes[0].offset + 2 * in.planes[0].stride + 12);
    assert_int_equal(plane.stride, in.planes[0].stride);
    assert_int_equal(plane.width, 8);
    free(in.data);
    /* Luminance is plane Y of its own matrix in full range, and of no other. */
    static const char *const luminances[] = {"luminance", "luminance:bt709", "luminance:bt2020"};
    for (int matrix = 0; matrix < 3; matrix++)
        for (int range = 0; range < 2; range++) {
            make_video(&in, SLUICE_NV12, 40, 30, matrix, range);
            for (int wanted = 0; wanted < 3; wanted++) {
                bool is_y = matrix == wanted && range == SLUICE_FULL;
                view.n_planes = 1;
                assert_int_equal(view_of(luminances[wanted], &in, &view) == 0, is_y);
                if (is_y)
                    assert_int_equal(plane.offset, in.layout.offset[0]);
            }
            free(in.data);
        }
}

/* ---- rows ---- */

/* Puts and takes rows, as many at a time as chance says; returns how much memory was held. */
static size_t run_rows(const char *text, const struct block *in, const struct block *expected)
{
    struct sluice_error error = SLUICE_INIT(error);
    struct sluice_chain *chain = chain_of(text);
    struct sluice_rows *rows;
    const struct sluice_plane *p = &in->planes[0], *q = &expected->planes[0];
    size_t bytes = q->width * q->channels * sample_bytes(q->type), stride = bytes + 3;
    uint8_t *got = malloc(16 * stride);
    unsigned put = 0, taken = 0, idle = 0, n;
    assert_non_null(got);
    if (sluice_rows_begin(&rows, chain, native, &in->layout, &error) != 0)
        fail_msg("%s: %s", text, error.message);
    while (taken < q->height && idle < 100) {
        unsigned wanted = 1 + next_random() % 40, left = p->height - put;
        const uint8_t *from = in->data + p->offset + put * p->stride;
        assert_int_equal(sluice_rows_put(rows, from, p->stride, wanted < left ? wanted : left, &n,
                                         &error),
                         0);
        put += n;
        idle = n > 0 ? 0 : idle + 1;
        memset(got, GUARD_BYTE, 16 * stride);
        assert_int_equal(sluice_rows_take(rows, got, stride, 1 + next_random() % 15, &n, &error),
                         0);
        for (unsigned i = 0; i < n; i++, taken++) {
            if (memcmp(got + i * stride, expected->data + q->offset + taken * q->stride, bytes) != 0)
                fail_msg("%s: row %u differs", text, taken);
            assert_int_equal(got[i * stride + bytes], GUARD_BYTE);
        }
        assert_int_equal(got[n * stride], GUARD_BYTE);
        idle = n > 0 ? 0 : idle;
    }
    assert_int_equal(taken, q->height);
    assert_int_equal(sluice_rows_take(rows, got, stride, 4, &n, &error), 0);
    assert_int_equal(n, 0);
    assert_int_equal(sluice_rows_put(rows, in->data, p->stride, 1, &n, &error), SLUICE_E_USAGE);
    size_t memory = sluice_rows_memory(rows);
    sluice_rows_end(&rows);
    assert_null(rows);
    sluice_chain_unref(&chain);
    free(got);
    return memory;
}

static void test_rows(void **state)
{
    static const char *const texts[] = {"luminance,gauss:2,sobel", "invert", "resize:w=300", "",
                                         "threshold:otsu", "crop:10:500:700:300,box:radius=3",
                                         "convert:type=f32,median,flip:x",
                                         "crop:0:0:700:300,luminance,threshold:otsu"};
    static const uint32_t sides[][2] = {{1200, 900}, {37, 29}};
    for (size_t s = 0; s < 2; s++)
        for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
            struct block in, out;
            make_input(&in, sides[s][0], sides[s][1], 3, SLUICE_U8);
            if (run_on(native, texts[i], &in, &out)) {
                size_t memory = run_rows(texts[i], &in, &out);
                if (s == 0 && i < 3)
                    assert_in_range(memory, 1, in.bytes / 4 * 3); /* without the result */
            }
            free(in.data);
            free(out.data);
        }
}

static void test_rows_refused(void **state)
{
    struct sluice_error error = SLUICE_INIT(error);
    struct sluice_chain *chain = chain_of("dwt"), *edges = chain_of("sobel");
    struct sluice_rows *rows;
    struct block in;
    unsigned n;
    make_input(&in, 2000, 1000, 1, SLUICE_U8);
    assert_int_equal(sluice_rows_begin(&rows, chain, native, &in.layout, &error), SLUICE_E_SHAPE);
    assert_null(rows);
    assert_non_null(strstr(error.message, "planes"));
    assert_int_equal(sluice_rows_begin(&rows, edges, reference, &in.layout, &error),
                     SLUICE_E_USAGE);
    assert_int_equal(sluice_rows_begin(&rows, edges, native, &in.layout, &error), 0);
    assert_int_equal(sluice_rows_put(rows, in.data, 0, 1001, &n, &error), SLUICE_E_USAGE);
    assert_int_equal(sluice_rows_put(rows, in.data, 0, 1000, &n, &error), 0);
    assert_in_range(n, 1, 999); /* rows of the result have to be taken first */
    sluice_rows_end(&rows);
    sluice_chain_unref(&chain);
    sluice_chain_unref(&edges);
    free(in.data);
}

/* ---- errors ---- */

static void test_errors(void **state)
{
    struct sluice_error errors[4];
    struct sluice_chain *chain;
    char text[800];
    memset(errors, 0x55, sizeof errors);
    errors[0].size = sizeof *errors;
    assert_int_equal(sluice_chain_parse(&chain, "sobal,box:radius=x,invert", NULL, errors, 4),
                     SLUICE_E_CHAIN);
    assert_null(chain);
    assert_string_equal(errors[0].word, "chain");
    assert_int_equal(errors[0].position, 0);
    assert_int_equal(errors[0].length, 5);
    assert_int_equal(errors[1].code, SLUICE_E_CHAIN);
    assert_int_equal(errors[1].position, 17);
    assert_int_equal(errors[2].code, 0);
    assert_int_equal(errors[3].code, 0);
    size_t length = sluice_error_print(&errors[0], "sobal,box:radius=x", text, sizeof text);
    assert_int_equal(length, strlen(text));
    assert_non_null(strstr(text, "\n  sobal,box:radius=x\n  ^^^^^"));
    assert_int_not_equal(text[length - 1], '\n');
    /* Shorter structs of an older program are not written beyond their end. */
    struct {
        struct sluice_error error;
        char beyond;
    } old = {.beyond = 7};
    memset(&old.error, 0x55, sizeof old.error);
    old.error.size = offsetof(struct sluice_error, word);
    assert_int_equal(sluice_chain_parse(&chain, "nosuch", NULL, &old.error, 1), SLUICE_E_CHAIN);
    assert_int_equal(old.error.code, SLUICE_E_CHAIN);
    assert_int_equal(old.error.word[0], 0x55);
    assert_int_equal(sluice_chain_parse(&chain, "nosuch", NULL, NULL, 0), SLUICE_E_CHAIN);
    struct sluice_device_options options = SLUICE_INIT(options);
    struct sluice_device *device;
    options.select = "no such device";
    assert_int_equal(sluice_device_open(&device, &options, &errors[0]), SLUICE_E_NO_DEVICE);
    assert_null(device);
    assert_string_equal(errors[0].word, "no-device");
}

static void test_wrong_uses(void **state)
{
    struct sluice_error error = SLUICE_INIT(error);
    struct sluice_memory *in, *out, *small, *other;
    struct sluice_plan *plan;
    struct sluice_chain *chain = chain_of("sobel");
    struct block from, to;
    make_input(&from, 40, 30, 1, SLUICE_U8);
    assert_int_equal(plan_on(native, "sobel", &from, &to, &plan, &error), 0);
    assert_int_equal(sluice_memory_wrap(&in, native, from.data, from.bytes, SLUICE_READ, NULL), 0);
    assert_int_equal(sluice_memory_wrap(&out, native, to.data, to.bytes, SLUICE_WRITE, NULL), 0);
    assert_int_equal(sluice_memory_wrap(&small, native, to.data, to.bytes - 1, SLUICE_WRITE, NULL),
                     0);
    assert_int_equal(sluice_memory_wrap(&other, reference, to.data, to.bytes, SLUICE_WRITE, NULL),
                     0);
    assert_int_equal(sluice_process(plan, in, small, NULL, &error), SLUICE_E_USAGE);
    assert_int_equal(sluice_process(plan, in, in, NULL, &error), SLUICE_E_USAGE);
    assert_int_equal(sluice_process(plan, out, out, NULL, &error), SLUICE_E_USAGE);
    assert_int_equal(sluice_process(plan, in, other, NULL, &error), SLUICE_E_USAGE);
    assert_int_equal(sluice_process(plan, in, out, NULL, &error), 0);
    sluice_plan_unref(&plan);
    to.planes[0].width--;
    assert_int_equal(sluice_plan_create(&plan, chain, native, &from.layout, &to.layout, 0, &error),
                     SLUICE_E_SHAPE);
    to.planes[0].width++;
    to.planes[0].stride = 39;
    assert_int_equal(sluice_plan_create(&plan, chain, native, &from.layout, &to.layout, 0, &error),
                     SLUICE_E_USAGE);
    assert_int_equal(sluice_plan_create(&plan, chain, native, &from.layout, NULL, 64, &error),
                     SLUICE_E_USAGE);
    assert_null(plan);
    sluice_memory_unref(&in);
    sluice_memory_unref(&out);
    sluice_memory_unref(&small);
    sluice_memory_unref(&other);
    sluice_chain_unref(&chain);
    free(from.data);
    free(to.data);
}

/* ---- definitions, stages ---- */

static void expect_planes(const struct sluice_chain *chain, size_t n)
{
    struct block in;
    struct sluice_layout out = SLUICE_INIT(out);
    struct sluice_error error = SLUICE_INIT(error);
    make_input(&in, 16, 16, 1, SLUICE_U8);
    if (sluice_chain_result(chain, &in.layout, &out, &error) != 0)
        fail_msg("%s", error.message);
    assert_int_equal(out.n_planes, n);
    free(in.data);
}

/* A chain that takes 1 2 3, 4 5 6 off. */
static void expect_darker(struct sluice_chain *chain)
{
    static const uint16_t expected[6] = {9, 0, 0, 0, 65530, 0};
    uint16_t in[6] = {10, 1, 3, 0, 65535, 6}, out[6] = {0};
    struct sluice_plane plane = {.width = 3, .height = 2, .channels = 1, .type = SLUICE_U16, .stride = 6};
    struct sluice_layout layout = SLUICE_INIT(layout);
    struct sluice_error error = SLUICE_INIT(error);
    struct sluice_device_options options = SLUICE_INIT(options);
    struct sluice_device *device;
    struct sluice_plan *plan;
    struct sluice_memory *from, *to;
    layout.planes = &plane;
    layout.n_planes = 1;
    options.select = "reference";
    if (sluice_device_open(&device, &options, &error) != 0 ||
        sluice_plan_create(&plan, chain, device, &layout, &layout, 0, &error) != 0 ||
        sluice_memory_wrap(&from, device, in, sizeof in, SLUICE_READ, &error) != 0 ||
        sluice_memory_wrap(&to, device, out, sizeof out, SLUICE_WRITE, &error) != 0 ||
        sluice_process(plan, from, to, NULL, &error) != 0)
        fail_msg("%s", error.message);
    assert_memory_equal(out, expected, sizeof out);
    sluice_memory_unref(&from);
    sluice_memory_unref(&to);
    sluice_plan_unref(&plan);
    sluice_device_unref(&device);
}

static void test_definitions(void **state)
{
    static const double soft[] = {1, 2, 1, 2, 4, 2, 1, 2, 1};
    static const double low[] = {0.70710678118654752, 0.70710678118654752};
    static const double high[] = {-0.70710678118654752, 0.70710678118654752};
    static const double back[] = {0.70710678118654752, -0.70710678118654752}, one[] = {1};
    struct sluice_definitions *definitions;
    struct sluice_error error = SLUICE_INIT(error);
    struct sluice_chain *chain;
    assert_int_equal(sluice_definitions_create(&definitions, &error), 0);
    assert_int_equal(sluice_definitions_add_kernel(definitions, "soft", 3, 3, soft, &error), 0);
    assert_int_equal(sluice_definitions_add_kernel(definitions, "soft", 3, 3, soft, &error),
                     SLUICE_E_USAGE);
    assert_int_equal(sluice_definitions_add_kernel(definitions, "a b", 3, 3, soft, &error),
                     SLUICE_E_USAGE);
    /* a chain's word holds the @, too */
    char longest[] = "fir:@nnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnn__";
    char *name = strchr(longest, '@') + 1;
    assert_int_equal(sluice_definitions_add_kernel(definitions, name, 3, 3, soft, &error),
                     SLUICE_E_USAGE);
    assert_non_null(strstr(error.message, " 62 "));
    name[62] = '\0';
    assert_int_equal(sluice_definitions_add_kernel(definitions, name, 3, 3, soft, &error), 0);
    assert_int_equal(sluice_definitions_add_kernel(definitions, "wide", 64, 1, soft, &error),
                     SLUICE_E_USAGE);
    struct sluice_filter analysis[] = {{low, 2, 1, 0}, {high, 2, 1, 0}};
    struct sluice_filter synthesis[] = {{low, 2, 0, 0}, {back, 2, 0, 0}};
    const struct sluice_filter whole[] = {{one, 1, 0, 0}};
    const struct sluice_bank halves = {2, 2, analysis, synthesis}, same = {1, 1, whole, whole};
    if (sluice_definitions_add_bank(definitions, "halves", &halves, NULL, 0, &error) != 0 ||
        sluice_definitions_add_bank(definitions, "across", &halves, &same, 0, &error) != 0)
        fail_msg("%s", error.message);
    synthesis[1].taps = low;
    assert_int_equal(sluice_definitions_add_bank(definitions, "broken", &halves, NULL, 0, &error),
                     SLUICE_E_USAGE);
    assert_int_equal(sluice_definitions_add_bank(definitions, "broken", &halves, NULL, 1, &error),
                     0);
    static const double endless[] = {0.70710678118654752, NAN}, large[] = {1e10, 1};
    for (int i = 0; i < 3; i++) {
        const struct sluice_filter odd[] = {{low, 2, 1, 0}, {i == 0 ? endless : i == 1 ? large : high, 2, i < 2 ? 1 : INT_MIN, 0}};
        const struct sluice_bank none = {2, 2, odd, odd};
        assert_int_equal(sluice_definitions_add_bank(definitions, "odd", &none, NULL, i > 0, &error), SLUICE_E_USAGE);
        assert_non_null(strstr(error.message, "taps up to"));
    }
    struct sluice_bank wrong = halves;
    wrong.factor = 17;
    assert_int_equal(sluice_definitions_add_bank(definitions, "wrong", &halves, &wrong, 1, &error),
                     SLUICE_E_USAGE);
    static const double lens[] = {-0.2, 0.05}, pinhole[] = {20, 0, 16, 0, 20, 12, 0, 0, 1};
    const double skewed[] = {20, 1, 16, 0, 20, 12, 0, 0, 1};
    assert_int_equal(sluice_definitions_add_camera(definitions, "front", 0, 0, pinhole, 0, lens, 2, &error), 0);
    assert_int_equal(sluice_definitions_add_camera(definitions, "front", 0, 0, pinhole, 0, lens, 2, &error),
                     SLUICE_E_USAGE);
    assert_int_equal(sluice_definitions_add_camera(definitions, "back", 0, 0, skewed, 0, lens, 2, &error), SLUICE_E_USAGE);
    assert_int_equal(sluice_definitions_add_camera(definitions, "back", 9, 0, pinhole, 0, lens, 2, &error), SLUICE_E_USAGE);
    assert_int_equal(sluice_definitions_add_camera(definitions, "back", 0, 0, pinhole, 0, lens, 13, &error), SLUICE_E_USAGE);
    static const uint16_t samples[2][4] = {{1, 2, 3, 9}, {4, 5, 6, 9}}; /* 9 lies between the rows */
    struct sluice_plane dark = {.width = 3, .height = 2, .channels = 1, .type = SLUICE_U16, .stride = 8};
    struct sluice_layout of_dark = SLUICE_INIT(of_dark), of_video = SLUICE_INIT(of_video);
    of_dark.planes = &dark;
    of_dark.n_planes = 1;
    of_video.format = SLUICE_NV12;
    of_video.width = of_video.height = 2;
    of_video.stride[0] = of_video.stride[1] = 2;
    of_video.offset[1] = 4;
    assert_int_equal(sluice_definitions_add_picture(definitions, "dark", &of_dark, samples, &error), 0);
    assert_int_equal(sluice_definitions_add_picture(definitions, "dark", &of_dark, samples, &error), SLUICE_E_USAGE);
    assert_int_equal(sluice_definitions_add_picture(definitions, "video", &of_video, samples, &error), SLUICE_E_USAGE);
    assert_int_equal(sluice_definitions_add_picture(definitions, "none", &of_dark, NULL, &error), SLUICE_E_USAGE);
    dark.stride = 5;
    assert_int_equal(sluice_definitions_add_picture(definitions, "short", &of_dark, samples, &error), SLUICE_E_USAGE);
    assert_int_equal(sluice_chain_parse(&chain, "subtract:@none", definitions, &error, 1), SLUICE_E_CHAIN);
    assert_int_equal(sluice_chain_parse(&chain, "subtract:@dark", definitions, &error, 1), 0);
    expect_darker(chain);
    sluice_chain_unref(&chain);
    assert_int_equal(sluice_chain_parse(&chain, "undistort:@back", definitions, &error, 1), SLUICE_E_CHAIN);
    assert_int_equal(sluice_chain_parse(&chain, "undistort:@front", definitions, &error, 1), 0);
    expect_planes(chain, 1);
    sluice_chain_unref(&chain);
    assert_int_equal(sluice_chain_parse(&chain, "analysis:@across", definitions, &error, 1), 0);
    expect_planes(chain, 2);
    sluice_chain_unref(&chain);
    assert_int_equal(sluice_chain_parse(&chain, "fir:@soft,analysis:@halves,synthesis:@broken",
                                        definitions, &error, 1),
                     0);
    sluice_chain_unref(&chain);
    assert_int_equal(sluice_chain_parse(&chain, longest, definitions, &error, 1), 0);
    sluice_chain_unref(&chain);
    assert_int_equal(
        sluice_chain_parse(&chain, "fir:@soft,analysis:@halves", definitions, &error, 1), 0);
    assert_int_equal(sluice_definitions_add_kernel(definitions, "late", 3, 3, soft, &error),
                     SLUICE_E_USAGE);
    sluice_definitions_unref(&definitions); /* the chain keeps them */
    assert_non_null(strstr(sluice_chain_text(chain), "@halves"));
    expect_planes(chain, 4);
    sluice_chain_unref(&chain);
}

static void test_stages(void **state)
{
    struct sluice_stage stage = SLUICE_INIT(stage);
    struct sluice_parameter parameter = SLUICE_INIT(parameter);
    size_t n = 0;
    for (; sluice_stage_get(n, &stage) == 0; n++) {
        assert_non_null(stage.summary);
        for (unsigned i = 0; i < stage.n_parameters; i++) {
            assert_int_equal(sluice_stage_parameter(stage.name, i, &parameter), 0);
            assert_non_null(parameter.help);
            assert_in_range(parameter.kind, SLUICE_INTEGER, SLUICE_WORDS);
            assert_in_range(parameter.n_choices, 0, SLUICE_CHOICES - 1);
            assert_in_range(strlen(parameter.allowed), 1, sizeof parameter.allowed - 2);
        }
        assert_int_equal(sluice_stage_parameter(stage.name, stage.n_parameters, &parameter),
                         SLUICE_E_USAGE);
    }
    assert_in_range(n, 30, 1000);
    assert_int_equal(sluice_stage_parameter("sink", 0, &parameter), SLUICE_E_USAGE);
}

/* ---- runs ---- */

static void test_in_flight(void **state)
{
    enum {
        RUNS = 3
    };
    struct sluice_run *runs[RUNS];
    struct sluice_memory *in[RUNS], *out[RUNS];
    struct sluice_plan *plan = NULL;
    struct sluice_error error = SLUICE_INIT(error);
    struct sluice_times times = SLUICE_INIT(times);
    struct block from[RUNS], to[RUNS], wanted;
    for (int i = 0; i < RUNS; i++) {
        make_input(&from[i], 200, 150, 1, SLUICE_U8);
        sluice_plan_unref(&plan);
        assert_int_equal(plan_on(native, "sobel,median", &from[i], &to[i], &plan, &error), 0);
        assert_int_equal(
            sluice_memory_wrap(&in[i], native, from[i].data, from[i].bytes, SLUICE_READ, NULL), 0);
        assert_int_equal(
            sluice_memory_wrap(&out[i], native, to[i].data, to[i].bytes, SLUICE_WRITE, NULL), 0);
    }
    for (int i = 0; i < RUNS; i++)
        assert_int_equal(sluice_start(&runs[i], plan, in[i], out[i], &error), 0);
    sluice_plan_unref(&plan); /* runs keep it */
    for (int i = RUNS; i-- > 0;) {
        assert_int_equal(sluice_wait(&runs[i], &times, &error), 0);
        assert_null(runs[i]);
        assert_in_range(times.kernels, 1, times.total);
        assert_in_range(times.n_launches, 1, 100);
    }
    assert_int_equal(sluice_wait(&runs[0], NULL, NULL), SLUICE_E_USAGE);
    for (int i = 0; i < RUNS; i++) {
        assert_true(run_on(reference, "sobel,median", &from[i], &wanted));
        compare(&to[i], &wanted, 0, "in flight");
        free(wanted.data);
        sluice_memory_unref(&in[i]);
        sluice_memory_unref(&out[i]);
        free(from[i].data);
        free(to[i].data);
    }
}

/* A memory file stands for a dma-buf: it is mapped in the same way, and the hand-over, which it
 * does not know, is left out. */
static void test_imported(void **state)
{
    if (getenv("SLUICE_EMULATED")) /* qemu-user: ENOSYS in place of ENOTTY */
        skip();
    struct block in, wanted;
    struct sluice_memory *from, *to;
    struct sluice_plan *plan;
    struct sluice_error error = SLUICE_INIT(error);
    make_input(&in, 64, 48, 1, SLUICE_U8);
    assert_true(run_on(reference, "sobel", &in, &wanted));
    int in_fd = memfd_create("in", MFD_CLOEXEC), out_fd = memfd_create("out", MFD_CLOEXEC);
    assert_int_equal(write(in_fd, in.data, in.bytes), in.bytes);
    assert_int_equal(write(out_fd, in.data, in.bytes), in.bytes);
    assert_int_equal(ftruncate(out_fd, (off_t)wanted.bytes), 0);
    assert_int_equal(sluice_memory_import(&from, native, in_fd, in.bytes, SLUICE_READ, &error), 0);
    assert_int_equal(
        sluice_memory_import(&to, native, out_fd, wanted.bytes + 4096, SLUICE_WRITE, &error),
        SLUICE_E_USAGE);
    assert_int_equal(sluice_memory_import(&to, native, out_fd, wanted.bytes, SLUICE_WRITE, &error),
                     0);
    struct block out;
    assert_int_equal(plan_on(native, "sobel", &in, &out, &plan, &error), 0);
    assert_int_equal(sluice_process(plan, from, to, NULL, &error), 0);
    close(in_fd);
    assert_int_equal(pread(out_fd, out.data, out.bytes, 0), out.bytes);
    compare(&out, &wanted, 0, "imported");
    close(out_fd);
    sluice_memory_unref(&from);
    sluice_memory_unref(&to);
    sluice_plan_unref(&plan);
    free(in.data);
    free(out.data);
    free(wanted.data);
}

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec * 1e6 + (double)t.tv_nsec / 1e3;
}

/* The least of many is what it costs, whatever else the machine does. Microseconds. */
static void test_costs(void **state)
{
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
    skip();
#endif
    if (getenv("SLUICE_EMULATED"))
        skip();
    struct block in, out;
    struct sluice_memory *from, *to;
    struct sluice_plan *plan;
    struct sluice_chain *chain = chain_of("luminance,sobel");
    double call = 1e9, planning = 1e9;
    make_input(&in, 16, 16, 1, SLUICE_U8);
    assert_int_equal(plan_on(native, "sobel", &in, &out, &plan, NULL), 0);
    assert_int_equal(sluice_memory_wrap(&from, native, in.data, in.bytes, SLUICE_READ, NULL), 0);
    assert_int_equal(sluice_memory_wrap(&to, native, out.data, out.bytes, SLUICE_WRITE, NULL), 0);
    for (int i = 0; i < 20000; i++) {
        double begin = now();
        assert_int_equal(sluice_process(plan, from, to, NULL, NULL), 0);
        double took = now() - begin;
        call = took < call ? took : call;
    }
    sluice_memory_unref(&from);
    sluice_memory_unref(&to);
    sluice_plan_unref(&plan);
    free(in.data);
    make_video(&in, SLUICE_NV12, 1920, 1080, SLUICE_BT709, SLUICE_LIMITED);
    for (int i = 0; i < 500; i++) {
        double begin = now();
        assert_int_equal(sluice_plan_create(&plan, chain, native, &in.layout, NULL, 0, NULL), 0);
        double took = now() - begin;
        planning = took < planning ? took : planning;
        sluice_plan_unref(&plan);
    }
    print_message("a call at 16x16: %.2f us; a plan: %.1f us\n", call, planning);
    assert_true(call <= 5);
    assert_true(planning <= 200);
    sluice_chain_unref(&chain);
    free(in.data);
    free(out.data);
}

/* The signals that a thread of the process blocks, from /proc. */
static uint64_t blocked_by(int thread)
{
    char path[64], line[128];
    unsigned long long mask = 0;
    snprintf(path, sizeof path, "/proc/self/task/%d/status", thread);
    FILE *file = fopen(path, "r");
    while (file && fgets(line, sizeof line, file) && sscanf(line, "SigBlk: %llx", &mask) != 1)
        ;
    if (file)
        fclose(file);
    return mask;
}

static unsigned list_threads(int *threads, unsigned room)
{
    DIR *folder = opendir("/proc/self/task");
    unsigned n = 0;
    assert_non_null(folder);
    for (struct dirent *entry; n < room && (entry = readdir(folder));)
        if (entry->d_name[0] != '.')
            threads[n++] = atoi(entry->d_name);
    closedir(folder);
    return n;
}

/* The threads of a device handle no signals, and the program's own are what they were. (Drivers of
 * OpenCL have threads, too, which are theirs.) */
static void test_signals(void **state)
{
    /* SIGKILL, SIGSTOP, and C's own two for cancelling and for setuid */
    uint64_t unblockable = 1ULL << (SIGKILL - 1) | 1ULL << (SIGSTOP - 1) | 3ULL << 31;
    if (getenv("SLUICE_EMULATED")) /* qemu-user's own: faults, and two more at the end of C's */
        unblockable |= 1ULL << (SIGSEGV - 1) | 1ULL << (SIGBUS - 1) | 3ULL << 33;
    int before[64], after[64];
    unsigned n_before, n_after, others = 0;
    struct block in, out;
    n_before = list_threads(before, 64);
    uint64_t own = blocked_by(getpid());
    struct sluice_device *device = open_device("native", 3);
    make_input(&in, 1920, 1080, 1, SLUICE_U8);
    assert_true(run_on(device, "sobel", &in, &out));
    assert_int_equal(blocked_by(getpid()), own);
    n_after = list_threads(after, 64);
    for (unsigned i = 0; i < n_after; i++) {
        bool is_new = true;
        for (unsigned k = 0; k < n_before; k++)
            is_new = is_new && before[k] != after[i];
        others += is_new;
        if (is_new && (blocked_by(after[i]) | unblockable) != UINT64_MAX)
            fail_msg("a thread blocks %llx alone", (unsigned long long)blocked_by(after[i]));
    }
    assert_int_equal(others, 2);
    sluice_device_unref(&device);
    free(in.data);
    free(out.data);
}

static unsigned count_descriptors(void)
{
    unsigned n = 0;
    for (int fd = 0; fd < 1024; fd++)
        n += fcntl(fd, F_GETFD) >= 0;
    return n;
}

/* Everything is opened and closed again ten thousand times. */
static void test_nothing_is_kept(void **state)
{
    size_t kept = 0;
    unsigned descriptors = count_descriptors();
    struct block in;
    make_input(&in, 16, 16, 1, SLUICE_U8);
    for (int i = 0; i <= 10000; i++) {
        struct sluice_device *device = open_device("native", 1);
        struct sluice_chain *chain = chain_of("luminance,sobel,dwt");
        struct sluice_memory *memory;
        struct sluice_plan *plan;
        assert_int_equal(sluice_plan_create(&plan, chain, device, &in.layout, NULL, 0, NULL), 0);
        assert_int_equal(sluice_memory_wrap(&memory, device, in.data, in.bytes, SLUICE_READ, NULL),
                         0);
        sluice_device_unref(&device);
        sluice_chain_unref(&chain);
        sluice_memory_unref(&memory);
        sluice_plan_unref(&plan);
        if (i == 100)
            kept = mallinfo2().uordblks;
    }
    assert_in_range(mallinfo2().uordblks, 0, kept + 4096);
    assert_int_equal(count_descriptors(), descriptors);
    free(in.data);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest of_device[] = {cmocka_unit_test(test_some_layouts),
                                           cmocka_unit_test(test_video_colours)};
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_errors),
        cmocka_unit_test(test_wrong_uses),
        cmocka_unit_test(test_definitions),
        cmocka_unit_test(test_stages),
        cmocka_unit_test(test_layouts_of_every_stage),
        cmocka_unit_test(test_video),
        cmocka_unit_test(test_video_colours),
        cmocka_unit_test(test_video_numbers),
        cmocka_unit_test(test_transforms),
        cmocka_unit_test(test_views),
        cmocka_unit_test(test_rows),
        cmocka_unit_test(test_rows_refused),
        cmocka_unit_test(test_in_flight),
        cmocka_unit_test(test_imported),
        cmocka_unit_test(test_costs),
        cmocka_unit_test(test_signals),
        cmocka_unit_test(test_nothing_is_kept),
    };
    selected = argc > 1 ? argv[1] : selected;
    return argc > 1 ? cmocka_run_group_tests(of_device, setup, teardown)
                    : cmocka_run_group_tests(tests, setup, teardown);
}
