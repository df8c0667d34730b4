/* camera [DEVICE]: frames of a V4L2 camera (/dev/video0) as dma-bufs through the element, on the
 * processor. Each has to come as a dma-buf, to be read where it lies, and to give what the plain
 * definitions (device=reference) make of a copy of it; the element may copy nothing. 77: there is
 * no camera. The kernel's test camera will do, too:
 *
 *     modprobe vivid n_devs=1 node_types=1 num_inputs=1 input_types=0 */
#include <gst/allocators/gstdmabuf.h>
#include <gst/check/gstharness.h>
#include <gst/video/video.h>

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define FRAMES 300

static const struct kind {
    const char *format, *chain;
} kinds[] = {
    {"NV12", "luminance:bt709,sobel"},
    {"GRAY8", "sobel"},
    {"RGB", "luminance,box:3"},
    {"NV12", "resize:w=160:h=90,invert"},
};

static void give_up(const char *what, const char *why)
{
    printf("FAIL %s: %s\n", what, why);
    exit(1);
}

/* The two ends of the element, which one thread goes through for each frame. */
struct ends {
    GstHarness *reference;
    GstBuffer *copy; /* of the frame that went in last */
    unsigned frames, dmabufs, equal, changed;
    uint32_t sum; /* of the frame before */
};

static uint32_t sum_of(GstBuffer *buffer)
{
    GstMapInfo map;
    uint32_t sum = 0;
    if (!gst_buffer_map(buffer, &map, GST_MAP_READ))
        give_up("a frame", "cannot be mapped");
    for (size_t i = 0; i < map.size; i++)
        sum = sum * 31 + map.data[i];
    gst_buffer_unmap(buffer, &map);
    return sum;
}

static GstPadProbeReturn go_in(GstPad *pad, GstPadProbeInfo *info, gpointer ends_)
{
    struct ends *ends = ends_;
    GstBuffer *buffer = GST_PAD_PROBE_INFO_BUFFER(info);
    bool is_dmabuf = gst_buffer_n_memory(buffer) > 0;
    for (guint i = 0; i < gst_buffer_n_memory(buffer); i++)
        is_dmabuf = is_dmabuf && gst_is_dmabuf_memory(gst_buffer_peek_memory(buffer, i));
    ends->dmabufs += is_dmabuf;
    if (ends->frames++ == 0)
        gst_harness_set_src_caps(ends->reference, gst_pad_get_current_caps(pad));
    gst_clear_buffer(&ends->copy);
    ends->copy = gst_buffer_copy_deep(buffer);
    uint32_t sum = sum_of(ends->copy);
    ends->changed += sum != ends->sum;
    ends->sum = sum;
    return GST_PAD_PROBE_OK;
}

static bool are_equal(GstBuffer *a, GstBuffer *b, const GstVideoInfo *info)
{
    GstVideoFrame x, y;
    size_t row = (size_t)info->width * (size_t)GST_VIDEO_INFO_COMP_PSTRIDE(info, 0);
    bool equal = true;
    if (!gst_video_frame_map(&x, (GstVideoInfo *)info, a, GST_MAP_READ) ||
        !gst_video_frame_map(&y, (GstVideoInfo *)info, b, GST_MAP_READ))
        give_up("a result", "cannot be mapped");
    for (int i = 0; i < info->height && equal; i++)
        equal = memcmp((uint8_t *)GST_VIDEO_FRAME_PLANE_DATA(&x, 0) +
                           i * GST_VIDEO_FRAME_PLANE_STRIDE(&x, 0),
                       (uint8_t *)GST_VIDEO_FRAME_PLANE_DATA(&y, 0) +
                           i * GST_VIDEO_FRAME_PLANE_STRIDE(&y, 0),
                       row) == 0;
    gst_video_frame_unmap(&x);
    gst_video_frame_unmap(&y);
    return equal;
}

static GstPadProbeReturn come_out(GstPad *pad, GstPadProbeInfo *info, gpointer ends_)
{
    struct ends *ends = ends_;
    GstVideoInfo video;
    GstCaps *caps = gst_pad_get_current_caps(pad);
    GstBuffer *wanted = gst_harness_push_and_pull(ends->reference, gst_buffer_ref(ends->copy));
    if (!wanted || !gst_video_info_from_caps(&video, caps))
        give_up("a frame", "has no reference");
    ends->equal += are_equal(GST_PAD_PROBE_INFO_BUFFER(info), wanted, &video);
    gst_buffer_unref(wanted);
    gst_caps_unref(caps);
    return GST_PAD_PROBE_OK;
}

static void add_probe(GstElement *element, const char *name, GstPadProbeCallback call,
                      struct ends *ends)
{
    GstPad *pad = gst_element_get_static_pad(element, name);
    gst_pad_add_probe(pad, GST_PAD_PROBE_TYPE_BUFFER, call, ends, NULL);
    gst_object_unref(pad);
}

static guint64 stat_of(GstElement *element, const char *name)
{
    GstStructure *stats;
    guint64 value = G_MAXUINT64;
    g_object_get(element, "stats", &stats, NULL);
    gst_structure_get_uint64(stats, name, &value);
    gst_structure_free(stats);
    return value;
}

static bool run(const char *device, const struct kind *kind)
{
    GError *error = NULL;
    struct ends ends = {0};
    char *what = g_strdup_printf("%s through %s", kind->format, kind->chain);
    char *text = g_strdup_printf("v4l2src device=%s io-mode=dmabuf num-buffers=%d ! "
                                 "video/x-raw,format=%s,width=320,height=180 ! "
                                 "sluice name=sluice device=native chain=%s ! fakesink",
                                 device, FRAMES, kind->format, kind->chain);
    char *plain = g_strdup_printf("sluice device=reference chain=%s", kind->chain);
    GstElement *pipeline = gst_parse_launch(text, &error);
    if (error)
        give_up(what, error->message);
    GstElement *sluice = gst_bin_get_by_name(GST_BIN(pipeline), "sluice");
    ends.reference = gst_harness_new_parse(plain);
    add_probe(sluice, "sink", go_in, &ends);
    add_probe(sluice, "src", come_out, &ends);
    gst_element_set_state(pipeline, GST_STATE_PLAYING);
    GstBus *bus = gst_element_get_bus(pipeline);
    GstMessage *message =
        gst_bus_timed_pop_filtered(bus, GST_CLOCK_TIME_NONE, GST_MESSAGE_EOS | GST_MESSAGE_ERROR);
    if (GST_MESSAGE_TYPE(message) == GST_MESSAGE_ERROR) {
        gst_message_parse_error(message, &error, NULL);
        give_up(what, error->message);
    }
    guint64 copied = stat_of(sluice, "bytes-copied"), imported = stat_of(sluice, "imported");
    bool good = ends.frames == FRAMES && ends.dmabufs == FRAMES && ends.equal == FRAMES &&
                imported == FRAMES && copied == 0 && ends.changed > 1;
    printf("%s %s: %u frames (%u unlike the one before), %u as dma-bufs, %llu imported, %llu bytes "
           "copied, %u exact\n",
           good ? "ok  " : "FAIL", what, ends.frames, ends.changed, ends.dmabufs,
           (unsigned long long)imported, (unsigned long long)copied, ends.equal);
    gst_message_unref(message);
    gst_object_unref(bus);
    gst_element_set_state(pipeline, GST_STATE_NULL);
    gst_object_unref(sluice);
    gst_object_unref(pipeline);
    gst_clear_buffer(&ends.copy);
    gst_harness_teardown(ends.reference);
    g_free(what);
    g_free(text);
    g_free(plain);
    return good;
}

int main(int argc, char **argv)
{
    gst_init(&argc, &argv);
    const char *device = argc > 1 ? argv[1] : "/dev/video0";
    bool good = true;
    if (access(device, R_OK | W_OK) != 0) {
        printf("there is no %s\n", device);
        return 77;
    }
    setvbuf(stdout, NULL, _IOLBF, 0);
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
        good = run(device, &kinds[i]) && good;
    return good ? 0 : 1;
}
