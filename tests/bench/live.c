/* live WIDTH HEIGHT FRAMES FPS FORMAT=DESCRIPTION…: how long elements take for a frame, in turns.
 *
 * Each description (of gst-launch-1.0's kind) gets frames of its format, filled with noise, from a
 * pool of 4; a sink that drops them is behind it. A frame's time is that of the push, which ends
 * when the result has been dropped. FPS 0: one after another; else so many a second. FORMAT may
 * have a colorimetry behind it (`NV12/bt709`), or be `copy`, and DESCRIPTION a number of bytes that
 * memcpy copies. Prints a line each: p50 and p99 in microseconds, and the bytes that the element
 * sluice copied. */
#include <gst/check/gstharness.h>
#include <gst/video/video.h>

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define N_POOL 4
#define N_TURN 30 /* frames of one candidate before the next has its turn */

struct candidate {
    const char *text;
    GstHarness *harness;
    GstElement *sluice;
    GstBuffer *buffers[N_POOL];
    uint8_t *from[N_POOL], *to;
    size_t bytes;
    double *times;
    long n;
};

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec * 1e6 + (double)t.tv_nsec / 1e3;
}

static uint8_t *noise(size_t bytes)
{
    uint8_t *data = g_malloc(bytes);
    uint32_t state = 1;
    for (size_t i = 0; i < bytes; i++) {
        state = state * 1664525 + 1013904223;
        data[i] = (uint8_t)(state >> 24);
    }
    return data;
}

static void prepare(struct candidate *c, int width, int height, long frames)
{
    char *format = g_strdup(c->text), *text = strchr(format, '=');
    if (!text)
        exit(64);
    *text++ = 0;
    c->times = g_new(double, (size_t)frames);
    if (strcmp(format, "copy") == 0) {
        c->bytes = strtoul(text, NULL, 10);
        for (int i = 0; i < N_POOL; i++)
            c->from[i] = noise(c->bytes);
        c->to = noise(c->bytes);
        g_free(format);
        return;
    }
    c->harness = gst_harness_new_parse(text);
    gst_harness_set_drop_buffers(c->harness, TRUE);
    gst_harness_add_propose_allocation_meta(c->harness, GST_VIDEO_META_API_TYPE, NULL);
    char *colours = strchr(format, '/');
    if (colours)
        *colours++ = 0;
    GstCaps *caps = gst_caps_new_simple("video/x-raw", "format", G_TYPE_STRING, format, "width",
                                        G_TYPE_INT, width, "height", G_TYPE_INT, height,
                                        "framerate", GST_TYPE_FRACTION, 60, 1, NULL);
    if (colours)
        gst_caps_set_simple(caps, "colorimetry", G_TYPE_STRING, colours, NULL);
    GstVideoInfo info;
    if (!gst_video_info_from_caps(&info, caps))
        exit(64);
    gst_harness_set_src_caps(c->harness, caps);
    for (int i = 0; i < N_POOL; i++)
        c->buffers[i] = gst_buffer_new_wrapped(noise(info.size), info.size);
    GstIterator *all = gst_bin_iterate_recurse(GST_BIN(c->harness->element));
    GValue value = G_VALUE_INIT;
    while (gst_iterator_next(all, &value) == GST_ITERATOR_OK) {
        GstElement *element = g_value_get_object(&value);
        if (g_object_class_find_property(G_OBJECT_GET_CLASS(element), "chain"))
            c->sluice = element;
        g_value_reset(&value);
    }
    gst_iterator_free(all);
    g_free(format);
}

static void run_one(struct candidate *c)
{
    double begin = now();
    if (c->to)
        memcpy(c->to, c->from[c->n % N_POOL], c->bytes);
    else if (gst_harness_push(c->harness, gst_buffer_ref(c->buffers[c->n % N_POOL])) !=
             GST_FLOW_OK) {
        fprintf(stderr, "live: %s: a frame was not taken\n", c->text);
        exit(1);
    }
    c->times[c->n++] = now() - begin;
}

static int compare(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return x < y ? -1 : x > y;
}

static void print(struct candidate *c)
{
    guint64 copied = 0;
    qsort(c->times, (size_t)c->n, sizeof *c->times, compare);
    if (c->sluice) {
        GstStructure *stats;
        g_object_get(c->sluice, "stats", &stats, NULL);
        gst_structure_get_uint64(stats, "bytes-copied", &copied);
        gst_structure_free(stats);
    }
    printf("%.1f %.1f %" G_GUINT64_FORMAT "\n", c->times[c->n / 2], c->times[c->n * 99 / 100],
           copied);
}

int main(int argc, char **argv)
{
    gst_init(&argc, &argv);
    if (argc < 6)
        return 64;
    int width = atoi(argv[1]), height = atoi(argv[2]), n = argc - 5;
    long frames = atol(argv[3]);
    double period = atof(argv[4]) > 0 ? 1e6 / atof(argv[4]) : 0;
    struct candidate *all = g_new0(struct candidate, (size_t)n);
    for (int i = 0; i < n; i++) {
        all[i].text = argv[5 + i];
        prepare(&all[i], width, height, frames);
        for (int k = 0; k < 10; k++)
            run_one(&all[i]); /* pages, threads and pools are there from now on */
        all[i].n = 0;
    }
    double next = now();
    while (all[0].n < frames)
        for (int i = 0; i < n; i++)
            for (int k = 0; k < N_TURN && all[i].n < frames; k++) {
                if (period > 0) {
                    next = next + period > now() ? next + period : now();
                    while (now() < next)
                        g_usleep((gulong)MAX(next - now(), 1));
                }
                run_one(&all[i]);
            }
    for (int i = 0; i < n; i++)
        print(&all[i]);
    return 0;
}
