/* test_element [HOW]: the element `sluice` by itself, in GStreamer's harness: what it makes of
 * caps, buffers and events; or, with a driver that is played, of dma-bufs alone. Results are
 * compared with the library's own, which tests/library holds to the references.
 */
#include <gst/allocators/gstdmabuf.h>
#include <gst/check/gstharness.h>
#include <gst/video/gstvideopool.h>
#include <gst/video/video.h>
#include <sluice/sluice.h>

#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cmocka.h>

/* ---- a harness with a bus ---- */

struct stand {
    GstHarness *harness;
    GstBus *bus;
};

static struct stand stand_of(const char *properties)
{
    struct stand stand;
    char *text = g_strdup_printf("sluice device=native threads=1 %s", properties);
    stand.harness = gst_harness_new_parse(text);
    assert_non_null(stand.harness);
    stand.bus = gst_bus_new();
    gst_element_set_bus(stand.harness->element, stand.bus);
    g_free(text);
    return stand;
}

/* The element in the bin that the harness has made of its description, or itself. */
static GstElement *element_of(const struct stand *stand)
{
    GstElement *found = NULL;
    if (!GST_IS_BIN(stand->harness->element))
        return gst_object_ref(stand->harness->element);
    GstIterator *all = gst_bin_iterate_elements(GST_BIN(stand->harness->element));
    GValue value = G_VALUE_INIT;
    if (gst_iterator_next(all, &value) == GST_ITERATOR_OK)
        found = g_value_dup_object(&value);
    g_value_unset(&value);
    gst_iterator_free(all);
    assert_non_null(found);
    return found;
}

static void stand_finish(struct stand *stand)
{
    gst_element_set_bus(stand->harness->element, NULL);
    gst_harness_teardown(stand->harness);
    gst_object_unref(stand->bus);
}

static void set_chain(const struct stand *stand, const char *chain)
{
    GstElement *element = element_of(stand);
    g_object_set(element, "chain", chain, NULL);
    gst_object_unref(element);
}

static uint64_t stat_of(const struct stand *stand, const char *name)
{
    GstElement *element = element_of(stand);
    GstStructure *stats;
    guint64 value = 0;
    g_object_get(element, "stats", &stats, NULL);
    assert_true(gst_structure_get_uint64(stats, name, &value));
    gst_structure_free(stats);
    gst_object_unref(element);
    return value;
}

/* The next message of that type, which has to be of the domain and code, and to have the words. */
static void expect_message(const struct stand *stand, GstMessageType type, GQuark domain, int code,
                           const char *words)
{
    GstMessage *message = gst_bus_pop_filtered(stand->bus, type);
    GError *error = NULL;
    if (!message)
        fail_msg("no message where '%s' is expected", words);
    if (type == GST_MESSAGE_ERROR)
        gst_message_parse_error(message, &error, NULL);
    else if (type == GST_MESSAGE_WARNING)
        gst_message_parse_warning(message, &error, NULL);
    else
        gst_message_parse_info(message, &error, NULL);
    if (error->domain != domain || error->code != code || !strstr(error->message, words))
        fail_msg("message %s %d '%s', where '%s' is expected", g_quark_to_string(error->domain),
                 error->code, error->message, words);
    g_error_free(error);
    gst_message_unref(message);
}

static void expect_quiet(const struct stand *stand)
{
    GstMessage *message = gst_bus_pop_filtered(stand->bus, GST_MESSAGE_ERROR | GST_MESSAGE_WARNING);
    if (message) {
        GError *error = NULL;
        gst_structure_get(gst_message_get_structure(message), "gerror", G_TYPE_ERROR, &error, NULL);
        fail_msg("a message: %s", error->message);
    }
}

/* ---- frames ---- */

static uint32_t random_state = 7;

static uint8_t next_byte(void)
{
    random_state = random_state * 1664525 + 1013904223;
    return (uint8_t)(random_state >> 24);
}

static GstCaps *caps_of(const char *format, int width, int height)
{
    return gst_caps_new_simple("video/x-raw", "format", G_TYPE_STRING, format, "width", G_TYPE_INT,
                               width, "height", G_TYPE_INT, height, "framerate", GST_TYPE_FRACTION,
                               30, 1, NULL);
}

static void set_caps(const struct stand *stand, const char *format, int width, int height)
{
    gst_harness_set_src_caps(stand->harness, caps_of(format, width, height));
}

static GstVideoInfo info_of(const char *format, int width, int height)
{
    GstVideoInfo info;
    gst_video_info_set_format(&info, gst_video_format_from_string(format), (guint)width,
                              (guint)height);
    return info;
}

/* How a buffer is made: where its planes lie. */
enum way {
    PLAIN,  /* GStreamer's default layout, without GstVideoMeta */
    SPREAD, /* odd offsets and strides */
    SPLIT,  /* a memory for each plane, the last plane first */
    TORN,   /* memories that end within planes */
    FAR,    /* a memory for each plane, 8 GiB apart */
    DMABUF, /* one descriptor */
    N_WAYS
};

static size_t rows_of(const GstVideoInfo *info, guint plane)
{
    gint components[GST_VIDEO_MAX_COMPONENTS];
    gst_video_format_info_component(info->finfo, plane, components);
    return (size_t)GST_VIDEO_INFO_COMP_HEIGHT(info, components[0]);
}

/* Memory of the test's that is never given back, at addresses that are far from each other. */
static uint8_t *far_away(size_t index, size_t bytes)
{
    static uint8_t *places[GST_VIDEO_MAX_PLANES];
    const size_t most = 1 << 20;
    assert_true(index < GST_VIDEO_MAX_PLANES && bytes <= most);
    if (!places[index]) {
        void *place = mmap((void *)(uintptr_t)(0x100000000000 + (index << 33)), most,
                           PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        assert_ptr_not_equal(place, MAP_FAILED);
        places[index] = place;
    }
    return places[index];
}

/* The frame is the same for the same seed, in all ways. */
static GstBuffer *buffer_of(const GstVideoInfo *info, enum way way, uint32_t seed)
{
    GstVideoInfo at = *info;
    gsize end = way == SPREAD ? 2 * 17 : 0;
    guint n = GST_VIDEO_INFO_N_PLANES(info);
    bool is_default = way == PLAIN || way == TORN;
    for (guint p = 0; p < n && !is_default; p++) {
        if (way == SPREAD)
            at.stride[p] += 2 * (5 + (gint)p);
        at.offset[p] = end;
        end += (gsize)at.stride[p] * rows_of(info, p) + (way == SPREAD ? 2 * 9 : 0);
    }
    if (is_default)
        end = info->size;
    uint8_t *data = g_malloc(end);
    for (gsize i = 0; i < end; i++)
        data[i] = 0xa5;
    random_state = seed;
    for (guint p = 0; p < n; p++)
        for (size_t y = 0; y < rows_of(info, p); y++)
            for (gint x = 0; x < info->stride[p]; x++)
                data[at.offset[p] + y * (size_t)at.stride[p] + (size_t)x] = next_byte();
    GstBuffer *buffer = gst_buffer_new();
    if (way == DMABUF) {
        GstAllocator *allocator = gst_dmabuf_allocator_new();
        int fd = memfd_create("frame", 0);
        assert_true(fd >= 0 && write(fd, data, end) == (ssize_t)end);
        gst_buffer_append_memory(buffer, gst_dmabuf_allocator_alloc(allocator, fd, end));
        gst_object_unref(allocator);
        g_free(data);
    } else if (way == SPLIT || way == TORN || way == FAR) {
        uint8_t *arena = way == FAR ? NULL : g_malloc(4 * end + 400);
        GBytes *parts = g_bytes_new_take(arena, arena ? 4 * end + 400 : 0);
        for (gsize from = 0, p = 0; from < end; p++) {
            gsize to = way == TORN ? MIN(end, from + end / 3 + 1)
                       : p + 1 < n ? at.offset[p + 1]
                                   : end;
            uint8_t *part = arena + (end + 100) * (3 - p);
            if (way == FAR)
                part = far_away(p, to - from);
            memcpy(part, data + from, to - from);
            gst_buffer_append_memory(buffer, gst_memory_new_wrapped(0, part, to - from, 0,
                                                                    to - from, g_bytes_ref(parts),
                                                                    (GDestroyNotify)g_bytes_unref));
            from = to;
        }
        g_bytes_unref(parts);
        g_free(data);
    } else {
        gst_buffer_append_memory(buffer,
                                 gst_memory_new_wrapped(0, data, end, 0, end, data, g_free));
    }
    if (!is_default)
        gst_buffer_add_video_meta_full(buffer, GST_VIDEO_FRAME_FLAG_NONE,
                                       GST_VIDEO_INFO_FORMAT(info), (guint)info->width,
                                       (guint)info->height, n, at.offset, at.stride);
    return buffer;
}

/* The rows of a result, packed, of a buffer with any layout. */
static GBytes *rows_packed(GstBuffer *buffer, const GstVideoInfo *info)
{
    GstVideoFrame frame;
    assert_true(gst_video_frame_map(&frame, (GstVideoInfo *)info, buffer, GST_MAP_READ));
    assert_int_equal(GST_VIDEO_FRAME_N_PLANES(&frame), 1);
    size_t row = (size_t)info->width * (size_t)GST_VIDEO_FRAME_COMP_PSTRIDE(&frame, 0);
    uint8_t *all = g_malloc(row * (size_t)info->height);
    for (int y = 0; y < info->height; y++)
        memcpy(all + row * (size_t)y,
               (uint8_t *)GST_VIDEO_FRAME_PLANE_DATA(&frame, 0) +
                   y * GST_VIDEO_FRAME_PLANE_STRIDE(&frame, 0),
               row);
    gst_video_frame_unmap(&frame);
    return g_bytes_new_take(all, row * (size_t)info->height);
}

static GstVideoInfo out_info(const struct stand *stand)
{
    GstVideoInfo info;
    GstCaps *caps = gst_pad_get_current_caps(stand->harness->sinkpad);
    assert_non_null(caps);
    assert_true(gst_video_info_from_caps(&info, caps));
    gst_caps_unref(caps);
    return info;
}

static GstBuffer *push_pull(const struct stand *stand, GstBuffer *buffer)
{
    GstFlowReturn flow = gst_harness_push(stand->harness, buffer);
    if (flow != GST_FLOW_OK) {
        expect_quiet(stand);
        fail_msg("a buffer was not taken: %s", gst_flow_get_name(flow));
    }
    GstBuffer *out = gst_harness_try_pull(stand->harness);
    assert_non_null(out);
    return out;
}

/* What the library makes of the same frame: on the plain references, unless floats are rounded. */
static GBytes *by_library(const char *text, const GstVideoInfo *info, int format, uint32_t seed)
{
    struct sluice_error error = SLUICE_INIT(error);
    struct sluice_device_options options = SLUICE_INIT(options);
    struct sluice_layout in = SLUICE_INIT(in), out = SLUICE_INIT(out);
    struct sluice_memory *from, *to;
    struct sluice_device *device;
    struct sluice_chain *chain;
    struct sluice_plan *plan;
    struct sluice_plane plane;
    GstMapInfo map;
    options.select = "reference";
    in.format = format;
    in.width = (uint32_t)info->width;
    in.height = (uint32_t)info->height;
    in.matrix = info->colorimetry.matrix == GST_VIDEO_COLOR_MATRIX_BT709    ? SLUICE_BT709
                : info->colorimetry.matrix == GST_VIDEO_COLOR_MATRIX_BT2020 ? SLUICE_BT2020
                                                                            : SLUICE_BT601;
    for (guint p = 0; p < GST_VIDEO_INFO_N_PLANES(info); p++) {
        in.offset[p] = info->offset[p];
        in.stride[p] = (size_t)info->stride[p];
    }
    out.planes = &plane;
    out.n_planes = 1;
    GstBuffer *buffer = buffer_of(info, PLAIN, seed);
    gst_buffer_map(buffer, &map, GST_MAP_READ);
    if (sluice_device_open(&device, &options, &error) != 0 ||
        sluice_chain_parse(&chain, text, NULL, &error, 1) != 0 ||
        sluice_chain_result(chain, &in, &out, &error) != 0)
        fail_msg("%s: %s", text, error.message);
    assert_int_equal(out.n_planes, 1);
    size_t bytes = sluice_layout_fill(&out, 1);
    uint8_t *data = g_malloc(bytes);
    if (sluice_plan_create(&plan, chain, device, &in, &out, 0, &error) != 0 ||
        sluice_memory_wrap(&from, device, map.data, map.size, SLUICE_READ, &error) != 0 ||
        sluice_memory_wrap(&to, device, data, bytes, SLUICE_WRITE, &error) != 0 ||
        sluice_process(plan, from, to, NULL, &error) != 0)
        fail_msg("%s: %s", text, error.message);
    sluice_memory_unref(&from);
    sluice_memory_unref(&to);
    sluice_plan_unref(&plan);
    sluice_chain_unref(&chain);
    sluice_device_unref(&device);
    gst_buffer_unmap(buffer, &map);
    gst_buffer_unref(buffer);
    return g_bytes_new_take(data, bytes);
}

static const char *const formats[] = {"NV12", "NV21", "I420", "YUY2", "UYVY", "GRAY8", "GRAY16_LE",
                                      "RGB",  "BGR",  "RGBx", "BGRx", "RGBA", "BGRA", "NV16", "P010_10LE"};
#define N_FORMATS G_N_ELEMENTS(formats) /* numbered as the library's, from 1 on */

/* ---- tests ---- */

/* Every format in every layout, of even and odd sizes. */
static void test_layouts(void **state)
{
    static const int sizes[][2] = {{64, 48}, {37, 21}, {1, 1}, {2, 3}};
    static const char *const chains[] = {"luminance,sobel", "invert", "gauss:sigma=1"};
    for (size_t f = 0; f < N_FORMATS; f++)
        for (size_t s = 0; s < G_N_ELEMENTS(sizes); s++) {
            const char *chain = chains[f == N_FORMATS - 1 ? 0 : (f + s) % 3]; /* RGB of u16 is no video */
            char *property = g_strdup_printf("chain=%s", chain);
            struct stand stand = stand_of(property);
            GstVideoInfo info = info_of(formats[f], sizes[s][0], sizes[s][1]);
            set_caps(&stand, formats[f], sizes[s][0], sizes[s][1]);
            GBytes *wanted = by_library(chain, &info, (int)f + 1, 11);
            for (int way = 0; way < N_WAYS; way++) {
                GstBuffer *out = push_pull(&stand, buffer_of(&info, way, 11));
                GstVideoInfo result = out_info(&stand);
                GBytes *got = rows_packed(out, &result);
                if (!g_bytes_equal(got, wanted))
                    fail_msg("%s %dx%d, %s, way %d: other samples", formats[f], sizes[s][0],
                             sizes[s][1], chain, way);
                g_bytes_unref(got);
                gst_buffer_unref(out);
                if (way < TORN)
                    assert_int_equal(stat_of(&stand, "bytes-copied"), 0);
            }
            assert_int_equal(stat_of(&stand, "imported"), 1);
            assert_int_equal(stat_of(&stand, "frames"), N_WAYS);
            expect_quiet(&stand);
            g_bytes_unref(wanted);
            g_free(property);
            stand_finish(&stand);
        }
}

/* Matrix and range of caps are those that the chain sees, and leave with the format. */
static void test_colorimetry(void **state)
{
    static const char *const colours[] = {"bt601", "bt709", "1:4:0:0", "bt2020"};
    GBytes *seen[4];
    for (size_t i = 0; i < 4; i++) {
        struct stand stand = stand_of("chain=gain:by=1.0,invert");
        GstVideoInfo info = info_of("NV12", 32, 16);
        GstCaps *caps = caps_of("NV12", 32, 16);
        gst_caps_set_simple(caps, "colorimetry", G_TYPE_STRING, colours[i], NULL);
        gst_harness_set_src_caps(stand.harness, caps);
        GstBuffer *out = push_pull(&stand, buffer_of(&info, PLAIN, 3));
        GstVideoInfo result = out_info(&stand);
        GstCaps *out_caps = gst_pad_get_current_caps(stand.harness->sinkpad);
        assert_false(gst_structure_has_field(gst_caps_get_structure(out_caps, 0), "colorimetry"));
        gst_caps_unref(out_caps);
        seen[i] = rows_packed(out, &result);
        gst_buffer_unref(out);
        stand_finish(&stand);
    }
    for (size_t i = 0; i < 4; i++)
        for (size_t k = 0; k < i; k++)
            assert_false(g_bytes_equal(seen[i], seen[k]));
    for (size_t i = 0; i < 4; i++)
        g_bytes_unref(seen[i]);
    struct stand stand = stand_of("chain=invert");
    GstCaps *caps = caps_of("GRAY8", 32, 16);
    gst_caps_set_simple(caps, "colorimetry", G_TYPE_STRING, "1:1:5:1", NULL);
    gst_harness_set_src_caps(stand.harness, caps);
    GstVideoInfo info = info_of("GRAY8", 32, 16);
    gst_buffer_unref(push_pull(&stand, buffer_of(&info, PLAIN, 3)));
    caps = gst_pad_get_current_caps(stand.harness->sinkpad);
    assert_true(gst_structure_has_field(gst_caps_get_structure(caps, 0), "colorimetry"));
    gst_caps_unref(caps);
    stand_finish(&stand);
}

/* Whether the element says that it takes such frames. */
static void expect_taken(const struct stand *stand, const char *text, bool wanted)
{
    GstCaps *caps = gst_caps_from_string(text);
    GstCaps *found = gst_pad_peer_query_caps(stand->harness->srcpad, caps);
    if (gst_caps_is_empty(found) == wanted)
        fail_msg("%s: it says %s", text, gst_caps_to_string(found));
    gst_caps_unref(found);
    gst_caps_unref(caps);
}

/* Caps forward, and backward as far as the chain tells. */
static void test_caps(void **state)
{
    static const struct {
        const char *chain, *out, *in;
        bool taken;
    } cases[] = {
        {"luminance,sobel", "GRAY8,width=64,height=48", "NV12,width=64,height=48", true},
        {"luminance,sobel", "GRAY8,width=64,height=48", "NV12,width=65,height=48", false},
        {"luminance,sobel", "RGB,width=64,height=48", "NV12,width=64,height=48", false},
        {"luminance,sobel", "GRAY8,width=64,height=48", "GRAY8,width=64,height=48", true},
        {"luminance,sobel:border=crop", "GRAY8,width=62,height=46", "NV12,width=64,height=48",
         true},
        {"luminance,sobel:border=crop", "GRAY8,width=64,height=46", "NV12,width=64,height=48",
         false},
        {"rotate:90", "RGB,width=48,height=64", "BGRx,width=64,height=48", true},
        {"rotate:90", "RGB,width=64,height=48", "BGRx,width=64,height=48", false},
        {"crop:0:0:16:8", "RGB,width=16,height=8", "RGB,width=4000,height=3000", true},
        {"crop:0:0:16:8", "RGB,width=16,height=9", "RGB,width=4000,height=3000", false},
        {"resize:w=16", "RGB,width=16,height=9", "RGB,width=160,height=90", true},
        {"convert:type=u16", "GRAY16_LE,width=16,height=9", "GRAY8,width=16,height=9", true},
        {"convert:type=u16:channels=4", "RGBA64_LE,width=16,height=9", "NV12,width=16,height=9",
         true},
        {"pad:left=3:top=1", "RGBA,width=19,height=10", "BGRA,width=16,height=9", true},
        {"invert", "GRAY16_LE,width=16,height=9", "GRAY16_LE,width=16,height=9", true},
    };
    for (size_t i = 0; i < G_N_ELEMENTS(cases); i++) {
        char *property = g_strdup_printf("chain=%s", cases[i].chain);
        struct stand stand = stand_of(property);
        char *in = g_strdup_printf("video/x-raw,format=%s", cases[i].in);
        char *out = g_strdup_printf("video/x-raw,format=%s", cases[i].out);
        gst_harness_set_sink_caps_str(stand.harness, out);
        expect_taken(&stand, in, cases[i].taken);
        g_free(property);
        g_free(in);
        g_free(out);
        stand_finish(&stand);
    }
    /* Dma-bufs, in the words of GStreamer 1.22 and of 1.24. */
    struct stand stand = stand_of("chain=luminance,sobel");
    expect_taken(&stand, "video/x-raw(memory:DMABuf),format=NV12,width=64,height=48", true);
    expect_taken(&stand,
                 "video/x-raw(memory:DMABuf),format=DMA_DRM,drm-format=NV12,width=64,height=48",
                 true);
    expect_taken(&stand,
                 "video/x-raw(memory:DMABuf),format=DMA_DRM,drm-format=(string)NV12:0x0,width=64,"
                 "height=48",
                 true);
    expect_taken(&stand,
                 "video/x-raw(memory:DMABuf),format=DMA_DRM,drm-format=(string)NV12:"
                 "0x0100000000000002,width=64,height=48",
                 false); /* tiles */
    gst_harness_set_src_caps_str(
        stand.harness, "video/x-raw(memory:DMABuf),format=DMA_DRM,drm-format=NV12,width=64,height="
                       "48,framerate=30/1");
    GstVideoInfo info = info_of("NV12", 64, 48);
    GBytes *wanted = by_library("luminance,sobel", &info, SLUICE_NV12, 5);
    GstBuffer *out = push_pull(&stand, buffer_of(&info, DMABUF, 5));
    GstVideoInfo result = out_info(&stand);
    GBytes *got = rows_packed(out, &result);
    assert_true(g_bytes_equal(got, wanted));
    g_bytes_unref(got);
    g_bytes_unref(wanted);
    gst_buffer_unref(out);
    stand_finish(&stand);
}

/* The caps change before every frame. */
static void test_caps_changes(void **state)
{
    struct stand stand = stand_of("chain=luminance,gauss:sigma=1 in-flight=2");
    int n = 0;
    for (int i = 0; i < 1000; i++) {
        const char *format = formats[(size_t)i % N_FORMATS];
        int width = 1 + i % 37, height = 1 + i % 23;
        GstVideoInfo info = info_of(format, width, height);
        set_caps(&stand, format, width, height);
        for (int k = 0; k <= i % 2; k++, n++)
            assert_int_equal(gst_harness_push(stand.harness, buffer_of(&info, PLAIN, (uint32_t)i)),
                             GST_FLOW_OK);
    }
    gst_harness_push_event(stand.harness, gst_event_new_eos());
    assert_int_equal(gst_harness_buffers_received(stand.harness), n);
    expect_quiet(&stand);
    stand_finish(&stand);
}

static void expect_result(const struct stand *stand, const char *chain, const char *format,
                          uint32_t seed)
{
    GstVideoInfo info = info_of(format, 40, 30);
    size_t index = 0;
    while (strcmp(formats[index], format) != 0)
        index++;
    GBytes *wanted = by_library(chain, &info, (int)index + 1, seed);
    GstBuffer *out = push_pull(stand, buffer_of(&info, PLAIN, seed));
    GstVideoInfo result = out_info(stand);
    GBytes *got = rows_packed(out, &result);
    if (!g_bytes_equal(got, wanted))
        fail_msg("%s: other samples", chain);
    g_bytes_unref(got);
    g_bytes_unref(wanted);
    gst_buffer_unref(out);
}

/* Chains that are set while frames flow: from the next frame on, and never a wrong one. */
static void test_chain_changes(void **state)
{
    struct stand stand = stand_of("chain=luminance,sobel");
    set_caps(&stand, "RGB", 40, 30);
    expect_result(&stand, "luminance,sobel", "RGB", 1);
    set_chain(&stand, "luminance,invert"); /* the same caps */
    expect_result(&stand, "luminance,invert", "RGB", 2);
    set_chain(&stand, "resize:w=20"); /* other caps */
    expect_result(&stand, "resize:w=20", "RGB", 3);
    set_chain(&stand, "luminance,sobal"); /* no stage */
    expect_message(&stand, GST_MESSAGE_WARNING, GST_LIBRARY_ERROR, GST_LIBRARY_ERROR_SETTINGS,
                   "luminance,sobal\n            ^^^^^");
    expect_result(&stand, "resize:w=20", "RGB", 4);
    set_chain(&stand, "dwt"); /* no video */
    expect_message(&stand, GST_MESSAGE_WARNING, GST_STREAM_ERROR, GST_STREAM_ERROR_FORMAT,
                   "append ,idwt");
    expect_result(&stand, "resize:w=20", "RGB", 5);
    set_chain(&stand, "crop:0:0:400:300"); /* larger than the frame */
    expect_result(&stand, "resize:w=20", "RGB", 6);
    expect_message(&stand, GST_MESSAGE_WARNING, GST_STREAM_ERROR, GST_STREAM_ERROR_FORMAT, "crop");
    GstElement *element = element_of(&stand);
    char *chain;
    g_object_get(element, "chain", &chain, NULL);
    assert_string_equal(chain, "resize:w=20");
    g_free(chain);
    gst_object_unref(element);
    set_chain(&stand, "");
    GstVideoInfo info = info_of("RGB", 40, 30);
    gst_buffer_unref(push_pull(&stand, buffer_of(&info, PLAIN, 9)));
    assert_int_equal(out_info(&stand).width, 40);
    set_chain(&stand, "luminance,sobel");
    expect_result(&stand, "luminance,sobel", "RGB", 10);
    expect_quiet(&stand);
    stand_finish(&stand);
    /* What is behind takes grey alone. */
    stand = stand_of("chain=luminance,sobel");
    gst_harness_set_sink_caps_str(stand.harness, "video/x-raw,format=GRAY8");
    set_caps(&stand, "RGB", 40, 30);
    expect_result(&stand, "luminance,sobel", "RGB", 11);
    set_chain(&stand, "invert");
    expect_result(&stand, "luminance,sobel", "RGB", 12);
    expect_message(&stand, GST_MESSAGE_WARNING, GST_STREAM_ERROR, GST_STREAM_ERROR_FORMAT,
                   "not taken by what is behind");
    set_chain(&stand, "luminance,invert");
    expect_result(&stand, "luminance,invert", "RGB", 13);
    expect_quiet(&stand);
    stand_finish(&stand);
}

/* Nothing is lost, and nothing comes after what ends it, with any number of frames in flight. */
static void test_ends(void **state)
{
    for (int depth = 1; depth <= 4; depth++)
        for (int n = 0; n <= 6; n++)
            for (int flush = 0; flush < 2; flush++) {
                char *property = g_strdup_printf("chain=luminance,sobel in-flight=%d", depth);
                struct stand stand = stand_of(property);
                GstVideoInfo info = info_of("NV12", 16, 8);
                set_caps(&stand, "NV12", 16, 8);
                for (int i = 0; i < n; i++) {
                    GstBuffer *buffer = buffer_of(&info, PLAIN, (uint32_t)i);
                    GST_BUFFER_PTS(buffer) = (GstClockTime)i * GST_SECOND / 30;
                    assert_int_equal(gst_harness_push(stand.harness, buffer), GST_FLOW_OK);
                }
                int kept = MIN(n, depth - 1);
                assert_int_equal(gst_harness_buffers_received(stand.harness), n - kept);
                if (flush) {
                    gst_harness_push_event(stand.harness, gst_event_new_flush_start());
                    gst_harness_push_event(stand.harness, gst_event_new_flush_stop(TRUE));
                    GstSegment segment;
                    gst_segment_init(&segment, GST_FORMAT_TIME);
                    gst_harness_push_event(stand.harness, gst_event_new_segment(&segment));
                    assert_int_equal(gst_harness_buffers_received(stand.harness), n - kept);
                    assert_int_equal(gst_harness_push(stand.harness, buffer_of(&info, PLAIN, 1)),
                                     GST_FLOW_OK);
                    n -= kept;
                    n += 1;
                }
                gst_harness_push_event(stand.harness, gst_event_new_eos());
                assert_int_equal(gst_harness_buffers_received(stand.harness), n);
                if (flush)
                    n += kept - 1;
                for (int i = 0; !flush && i < n; i++) { /* in order */
                    GstBuffer *out = gst_harness_pull(stand.harness);
                    assert_int_equal(GST_BUFFER_PTS(out), (GstClockTime)i * GST_SECOND / 30);
                    gst_buffer_unref(out);
                }
                expect_quiet(&stand);
                g_free(property);
                stand_finish(&stand); /* with frames in flight, if it was flushed before */
            }
}

/* Stops, and starts again, with frames in flight. */
static void test_stops(void **state)
{
    for (int n = 0; n <= 4; n++) {
        struct stand stand = stand_of("chain=luminance,sobel in-flight=3");
        GstVideoInfo info = info_of("I420", 33, 17);
        set_caps(&stand, "I420", 33, 17);
        for (int i = 0; i < n; i++)
            gst_harness_push(stand.harness, buffer_of(&info, SPLIT, (uint32_t)i));
        stand_finish(&stand);
    }
}

/* Chains that compute nothing: the buffer itself, or the memory itself. */
static void test_views(void **state)
{
    static const char *const same[] = {"", "luminance"};
    for (size_t i = 0; i < 2; i++) {
        char *property = g_strdup_printf("chain=\"%s\"", same[i]);
        struct stand stand = stand_of(property);
        GstVideoInfo info = info_of("GRAY8", 40, 30);
        set_caps(&stand, "GRAY8", 40, 30);
        GstBuffer *in = buffer_of(&info, SPREAD, 1), *out;
        out = push_pull(&stand, gst_buffer_ref(in));
        assert_ptr_equal(in, out);
        gst_buffer_unref(in);
        gst_buffer_unref(out);
        assert_int_equal(stat_of(&stand, "frames"), 1);
        assert_int_equal(stat_of(&stand, "bytes-copied"), 0);
        g_free(property);
        stand_finish(&stand);
    }
    static const enum way ways[] = {PLAIN, SPREAD, DMABUF};
    for (size_t i = 0; i < 6; i++) {
        struct stand stand = stand_of("chain=crop:3:5:20:10");
        GstVideoInfo info = info_of("RGB", 40, 30);
        if (i < 3)
            gst_harness_add_propose_allocation_meta(stand.harness, GST_VIDEO_META_API_TYPE, NULL);
        set_caps(&stand, "RGB", 40, 30);
        GBytes *wanted = by_library("crop:3:5:20:10", &info, SLUICE_RGB, 4);
        GstBuffer *in = buffer_of(&info, ways[i % 3], 4);
        GstMemory *memory = gst_buffer_get_memory(in, 0);
        GstBuffer *out = push_pull(&stand, in);
        if (i < 3) {
            assert_ptr_equal(gst_buffer_peek_memory(out, 0), memory);
            assert_int_equal(stat_of(&stand, "bytes-copied"), 0);
        } else { /* what is behind would not see where the rows are */
            assert_ptr_not_equal(gst_buffer_peek_memory(out, 0), memory);
        }
        gst_memory_unref(memory);
        GstVideoInfo result = out_info(&stand);
        GBytes *got = rows_packed(out, &result);
        assert_true(g_bytes_equal(got, wanted));
        g_bytes_unref(got);
        g_bytes_unref(wanted);
        gst_buffer_unref(out);
        expect_quiet(&stand);
        stand_finish(&stand);
    }
}

/* Sources may lay rows out as they like, and have buffers enough. */
static void test_allocation(void **state)
{
    struct stand stand = stand_of("chain=luminance,sobel");
    set_caps(&stand, "NV12", 64, 48);
    GstCaps *caps = caps_of("NV12", 64, 48);
    GstQuery *query = gst_query_new_allocation(caps, TRUE);
    GstBufferPool *pool = NULL;
    guint size, least, most;
    assert_true(gst_pad_peer_query(stand.harness->srcpad, query));
    assert_true(gst_query_find_allocation_meta(query, GST_VIDEO_META_API_TYPE, NULL));
    assert_true(gst_query_get_n_allocation_pools(query) > 0);
    gst_query_parse_nth_allocation_pool(query, 0, &pool, &size, &least, &most);
    assert_non_null(pool);
    assert_true(size >= 64 * 48 * 3 / 2);
    assert_true(least >= 4);
    gst_object_unref(pool);
    gst_query_unref(query);
    gst_caps_unref(caps);
    stand_finish(&stand);
}

static void expect_start_fails(const char *properties, GQuark domain, int code, const char *words)
{
    GstBus *bus = gst_bus_new();
    GstElement *element = gst_parse_launch(properties, NULL);
    struct stand stand = {.bus = bus};
    assert_non_null(element);
    gst_element_set_bus(element, bus);
    assert_int_equal(gst_element_set_state(element, GST_STATE_PAUSED), GST_STATE_CHANGE_FAILURE);
    expect_message(&stand, GST_MESSAGE_ERROR, domain, code, words);
    gst_element_set_state(element, GST_STATE_NULL);
    gst_element_set_bus(element, NULL);
    gst_object_unref(element);
    gst_object_unref(bus);
}

static void test_errors(void **state)
{
    expect_start_fails("sluice device=native chain=luminance,sobal", GST_LIBRARY_ERROR,
                       GST_LIBRARY_ERROR_SETTINGS, "luminance,sobal\n            ^^^^^");
    expect_start_fails("sluice device=native chain=sobel:out=dx", GST_STREAM_ERROR,
                       GST_STREAM_ERROR_FORMAT, "append ,convert:type=u8");
    expect_start_fails("sluice device=native chain=convert:type=f32", GST_STREAM_ERROR,
                       GST_STREAM_ERROR_FORMAT, "append ,convert:type=u8");
    expect_start_fails("sluice device=native chain=sobel:out=both", GST_STREAM_ERROR,
                       GST_STREAM_ERROR_FORMAT, "2 planes");
    expect_start_fails("sluice device=nosuch fallback=none", GST_RESOURCE_ERROR,
                       GST_RESOURCE_ERROR_NOT_FOUND, "nosuch");
    /* With a fallback it is a warning. */
    struct stand stand = stand_of("chain=invert");
    stand_finish(&stand);
    GstElement *element = gst_parse_launch("sluice device=nosuch", NULL);
    stand.bus = gst_bus_new();
    gst_element_set_bus(element, stand.bus);
    assert_int_equal(gst_element_set_state(element, GST_STATE_PAUSED), GST_STATE_CHANGE_SUCCESS);
    expect_message(&stand, GST_MESSAGE_WARNING, GST_RESOURCE_ERROR, GST_RESOURCE_ERROR_FAILED,
                   "nosuch");
    gst_element_set_state(element, GST_STATE_NULL);
    gst_element_set_bus(element, NULL);
    gst_object_unref(element);
    gst_object_unref(stand.bus);
    /* Frames that the chain does not take. */
    stand = stand_of("chain=crop:0:0:400:300");
    GstVideoInfo info = info_of("RGB", 40, 30);
    set_caps(&stand, "RGB", 40, 30);
    assert_int_not_equal(gst_harness_push(stand.harness, buffer_of(&info, PLAIN, 1)), GST_FLOW_OK);
    expect_message(&stand, GST_MESSAGE_ERROR, GST_STREAM_ERROR, GST_STREAM_ERROR_FORMAT, "crop");
    stand_finish(&stand);
    /* It is told once, and again of others. */
    stand = stand_of("chain=crop:0:0:400:300");
    for (int width = 40; width <= 41; width++) {
        set_caps(&stand, "RGB", width, 30);
        info = info_of("RGB", width, 30);
        for (int i = 0; i < 3; i++)
            assert_int_not_equal(gst_harness_push(stand.harness, buffer_of(&info, PLAIN, 1)),
                                 GST_FLOW_OK);
        expect_message(&stand, GST_MESSAGE_ERROR, GST_STREAM_ERROR, GST_STREAM_ERROR_FORMAT,
                       "crop");
        expect_quiet(&stand);
    }
    stand_finish(&stand);
    /* A buffer that is too small. */
    stand = stand_of("chain=invert");
    set_caps(&stand, "RGB", 40, 30);
    assert_int_equal(gst_harness_push(stand.harness, gst_buffer_new_allocate(NULL, 100, NULL)),
                     GST_FLOW_ERROR);
    expect_message(&stand, GST_MESSAGE_ERROR, GST_STREAM_ERROR, GST_STREAM_ERROR_FORMAT,
                   "has 100 bytes");
    stand_finish(&stand);
}

/* What @names mean is read from a file, whichever of the two properties is set first. */
static void test_config(void **state)
{
    char path[] = "/tmp/sluice-test-XXXXXX";
    int fd = g_mkstemp(path);
    const char text[] = "kernels: {soft: 1_2_1/2_4_2/1_2_1}\n"
                        "banks: {half: {qmf: [0.70710678118654752, 0.70710678118654752]}}\n";
    assert_int_equal(write(fd, text, sizeof text - 1), sizeof text - 1);
    for (int i = 0; i < 2; i++) {
        char *properties = g_strdup_printf(i ? "chain=luminance,fir:@soft config=%s"
                                             : "config=%s chain=luminance,fir:@soft",
                                           path);
        struct stand stand = stand_of(properties);
        set_caps(&stand, "RGB", 40, 30);
        expect_result(&stand, "luminance,fir:1_2_1/2_4_2/1_2_1", "RGB", 1);
        set_chain(&stand, "luminance,analysis:@half,synthesis:@half");
        GstVideoInfo info = info_of("RGB", 40, 30);
        gst_buffer_unref(push_pull(&stand, buffer_of(&info, PLAIN, 2)));
        set_chain(&stand, "luminance,fir:@other");
        expect_message(&stand, GST_MESSAGE_WARNING, GST_LIBRARY_ERROR, GST_LIBRARY_ERROR_SETTINGS,
                       "no kernel 'other'");
        expect_quiet(&stand);
        stand_finish(&stand);
        g_free(properties);
    }
    expect_start_fails("sluice device=native chain=fir:@soft", GST_LIBRARY_ERROR,
                       GST_LIBRARY_ERROR_SETTINGS, "fir:@soft\n  ^^^^^^^^^");
    assert_int_equal(ftruncate(fd, 20), 0);
    char *properties = g_strdup_printf("sluice device=native config=%s", path);
    expect_start_fails(properties, GST_LIBRARY_ERROR, GST_LIBRARY_ERROR_SETTINGS, path);
    close(fd);
    unlink(path);
    expect_start_fails(properties, GST_LIBRARY_ERROR, GST_LIBRARY_ERROR_SETTINGS, "No such file");
    g_free(properties);
}

/* What comes too late is dropped, and counted. */
static void test_qos(void **state)
{
    struct stand stand = stand_of("chain=luminance,sobel");
    GstVideoInfo info = info_of("NV12", 16, 8);
    set_caps(&stand, "NV12", 16, 8);
    gst_buffer_unref(push_pull(&stand, buffer_of(&info, PLAIN, 1)));
    gst_harness_push_upstream_event(
        stand.harness, gst_event_new_qos(GST_QOS_TYPE_UNDERFLOW, 2.0, GST_SECOND, GST_SECOND));
    GstBuffer *late = buffer_of(&info, PLAIN, 2), *good = buffer_of(&info, PLAIN, 3);
    GST_BUFFER_PTS(late) = GST_SECOND / 2;
    GST_BUFFER_PTS(good) = 10 * GST_SECOND;
    assert_int_equal(gst_harness_push(stand.harness, late), GST_FLOW_OK);
    assert_int_equal(gst_harness_push(stand.harness, good), GST_FLOW_OK);
    assert_int_equal(gst_harness_buffers_received(stand.harness), 2);
    assert_int_equal(stat_of(&stand, "dropped"), 1);
    assert_int_equal(stat_of(&stand, "frames"), 2);
    assert_true(stat_of(&stand, "kernel-p50") > 0);
    assert_true(stat_of(&stand, "kernel-p99") >= stat_of(&stand, "kernel-p50"));
    stand_finish(&stand);
}

/* Answers what buffers there are: the pool. */
static GstPadProbeReturn propose_pool(GstPad *pad, GstPadProbeInfo *probe, gpointer pool)
{
    GstQuery *query = GST_PAD_PROBE_INFO_QUERY(probe);
    if (GST_QUERY_TYPE(query) != GST_QUERY_ALLOCATION)
        return GST_PAD_PROBE_OK;
    GstStructure *config = gst_buffer_pool_get_config(pool);
    guint size, least, most;
    gst_buffer_pool_config_get_params(config, NULL, &size, &least, &most);
    gst_query_add_allocation_pool(query, pool, size, least, most);
    gst_structure_free(config);
    return GST_PAD_PROBE_HANDLED;
}

/* What is behind has few buffers: then fewer frames are in flight, and none waits for ever. */
static void test_small_pools(void **state)
{
    for (guint most = 1; most <= 6; most++) {
        struct stand stand = stand_of("chain=luminance,sobel in-flight=4");
        GstVideoInfo info = info_of("NV12", 16, 8);
        GstCaps *caps = caps_of("GRAY8", 16, 8);
        GstBufferPool *pool = gst_video_buffer_pool_new();
        GstStructure *config = gst_buffer_pool_get_config(pool);
        gst_buffer_pool_config_set_params(config, caps, 16 * 8, 0, most);
        gst_buffer_pool_set_config(pool, config);
        gst_pad_add_probe(stand.harness->sinkpad, GST_PAD_PROBE_TYPE_QUERY_DOWNSTREAM, propose_pool,
                          pool, NULL);
        gst_harness_set_drop_buffers(stand.harness, TRUE);
        set_caps(&stand, "NV12", 16, 8);
        for (int i = 0; i < 10; i++)
            assert_int_equal(gst_harness_push(stand.harness, buffer_of(&info, PLAIN, 1)),
                             GST_FLOW_OK);
        expect_quiet(&stand);
        stand_finish(&stand);
        gst_object_unref(pool);
        gst_caps_unref(caps);
    }
}

/* Frames in flight are frames of delay. */
static void test_latency(void **state)
{
    for (int depth = 1; depth <= 3; depth++) {
        char *property = g_strdup_printf("chain=invert in-flight=%d", depth);
        struct stand stand = stand_of(property);
        gst_harness_set_upstream_latency(stand.harness, GST_SECOND);
        set_caps(&stand, "GRAY8", 16, 8);
        assert_int_equal(gst_harness_query_latency(stand.harness),
                         GST_SECOND + (GstClockTime)(depth - 1) * (GST_SECOND / 30));
        g_free(property);
        stand_finish(&stand);
    }
}

/* How the driver is that fault/cl_import.c plays: a run of its own. */
static const char *played;

/* Dma-bufs are imported on a driver that takes them in place; on all others they are mapped, which
 * is told once. Frames are the same. */
static void test_played_driver(void **state)
{
    const struct {
        const char *how, *told;
    } drivers[] = {{"accepts", NULL},
                   {"refuses", "the driver refuses"},
                   {"copies", "the driver copies"},
                   {"stale", "stale bytes"}};
    const char *told = NULL;
    for (size_t i = 0; i < G_N_ELEMENTS(drivers); i++)
        told = strcmp(drivers[i].how, played) == 0 ? drivers[i].told : told;
    struct stand stand = stand_of("device=gpu fallback=none in-flight=1 chain=luminance,sobel");
    GstVideoInfo info = info_of("NV12", 64, 48);
    set_caps(&stand, "NV12", 64, 48);
    for (uint32_t seed = 1; seed <= 3; seed++) {
        GBytes *wanted = by_library("luminance,sobel", &info, SLUICE_NV12, seed);
        GstBuffer *out = push_pull(&stand, buffer_of(&info, DMABUF, seed));
        GstVideoInfo result = out_info(&stand);
        GBytes *got = rows_packed(out, &result);
        assert_true(g_bytes_equal(got, wanted));
        g_bytes_unref(got);
        g_bytes_unref(wanted);
        gst_buffer_unref(out);
    }
    if (told)
        expect_message(&stand, GST_MESSAGE_INFO, GST_RESOURCE_ERROR, GST_RESOURCE_ERROR_SETTINGS,
                       told);
    assert_null(gst_bus_pop_filtered(stand.bus, GST_MESSAGE_INFO));
    assert_int_equal(stat_of(&stand, "imported"), told ? 0 : 3);
    /* what is in memory of the process is copied: the result, and mapped frames */
    uint64_t copied = stat_of(&stand, "bytes-copied");
    assert_true(told ? copied > 3 * 64 * 48 : copied == 3 * 64 * 48);
    stand_finish(&stand);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest by_played[] = {cmocka_unit_test(test_played_driver)};
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_layouts),       cmocka_unit_test(test_colorimetry),
        cmocka_unit_test(test_caps),          cmocka_unit_test(test_caps_changes),
        cmocka_unit_test(test_chain_changes), cmocka_unit_test(test_ends),
        cmocka_unit_test(test_stops),         cmocka_unit_test(test_views),
        cmocka_unit_test(test_allocation),    cmocka_unit_test(test_errors),
        cmocka_unit_test(test_config),        cmocka_unit_test(test_qos),
        cmocka_unit_test(test_latency),       cmocka_unit_test(test_small_pools),
    };
    char folder[] = "/tmp/sluice-import-XXXXXX", command[64];
    played = argc > 1 ? argv[1] : NULL;
    if (!played) {
        gst_init(&argc, &argv);
        return cmocka_run_group_tests(tests, NULL, NULL);
    }
    if (!mkdtemp(folder))
        return 1;
    setenv("IMPORT_PLAYS", played, 1);
    setenv("SLUICE_CACHE_DIR", folder, 1); /* where the probe's finding is kept */
    gst_init(NULL, NULL);
    int failed = cmocka_run_group_tests(by_played, NULL, NULL);
    snprintf(command, sizeof command, "rm -rf %s", folder);
    return failed || system(command);
}
