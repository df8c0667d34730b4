/* many [FRAMES]: frames without end through the element: chains, caps and ways to pass frames on
 * that change, flushes and restarts. Fails when memory (of GLib some 100 KiB in all), threads or
 * descriptors grow. A million frames by default. */
#include <gst/allocators/gstdmabuf.h>
#include <gst/check/gstharness.h>
#include <gst/video/video.h>

#include <dirent.h>
#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

static unsigned count_entries(const char *path)
{
    unsigned n = 0;
    DIR *folder = opendir(path);
    while (folder && readdir(folder))
        n++;
    if (folder)
        closedir(folder);
    return n;
}

static long resident_kib(void)
{
    long pages = 0;
    FILE *file = fopen("/proc/self/statm", "r");
    if (!file || fscanf(file, "%*d %ld", &pages) != 1)
        pages = 0;
    if (file)
        fclose(file);
    return pages * sysconf(_SC_PAGESIZE) / 1024;
}

static GstBuffer *dmabuf_of(GstAllocator *allocator, gsize size)
{
    GstBuffer *buffer = gst_buffer_new();
    int fd = memfd_create("frame", 0);
    if (fd < 0 || ftruncate(fd, (off_t)size) != 0)
        exit(1);
    gst_buffer_append_memory(buffer, gst_dmabuf_allocator_alloc(allocator, fd, size));
    return buffer;
}

int main(int argc, char **argv)
{
    static const char *const chains[] = {"luminance,sobel", "invert", "crop:0:0:4:4", "",
                                         "resize:w=8",      "nosuch", "dwt"};
    static const char *const formats[] = {"NV12", "RGB", "GRAY8", "YUY2"};
    gst_init(&argc, &argv);
    long frames = argc > 1 ? atol(argv[1]) : 1000000;
    long done = 0, first_rss = 0;
    size_t first_heap = 0;
    unsigned first_descriptors = 0, first_threads = 0, round = 0;
    GstAllocator *dmabufs = gst_dmabuf_allocator_new();
    gst_debug_set_default_threshold(GST_LEVEL_NONE); /* two of the chains are wrong */
    GstElement *element = gst_element_factory_make("sluice", NULL);
    if (!element)
        return 77;
    gst_object_ref_sink(element);
    g_object_set(element, "device", "native", "threads", 2, NULL);
    for (; done < frames; round++) {
        g_object_set(element, "chain", "luminance,sobel", "in-flight", 1 + round % 3, NULL);
        GstHarness *harness = gst_harness_new_with_element(element, "sink", "src");
        if (round % 2)
            gst_harness_add_propose_allocation_meta(harness, GST_VIDEO_META_API_TYPE, NULL);
        gst_harness_set_drop_buffers(harness, TRUE);
        GstCaps *caps =
            gst_caps_new_simple("video/x-raw", "format", G_TYPE_STRING, formats[round % 4], "width",
                                G_TYPE_INT, 16 + (int)(round % 5), "height", G_TYPE_INT, 12,
                                "framerate", GST_TYPE_FRACTION, 30, 1, NULL);
        GstVideoInfo info;
        gst_video_info_from_caps(&info, caps);
        gst_harness_set_src_caps(harness, caps);
        GstBufferPool *pool = gst_buffer_pool_new();
        GstStructure *config = gst_buffer_pool_get_config(pool);
        gst_buffer_pool_config_set_params(config, NULL, (guint)info.size, 4, 0);
        gst_buffer_pool_set_config(pool, config);
        gst_buffer_pool_set_active(pool, TRUE);
        for (unsigned i = 0; i < 10000; i++, done++) {
            GstBuffer *buffer = NULL;
            if (i % 64 == 0)
                g_object_set(element, "chain", chains[i / 64 % G_N_ELEMENTS(chains)], NULL);
            if (i % 1000 == 999) {
                gst_harness_push_event(harness, gst_event_new_flush_start());
                gst_harness_push_event(harness, gst_event_new_flush_stop(TRUE));
                GstSegment segment;
                gst_segment_init(&segment, GST_FORMAT_TIME);
                gst_harness_push_event(harness, gst_event_new_segment(&segment));
            }
            if (i % 100 == 0)
                buffer = dmabuf_of(dmabufs, info.size);
            else
                gst_buffer_pool_acquire_buffer(pool, &buffer, NULL);
            if (gst_harness_push(harness, buffer) != GST_FLOW_OK) {
                fprintf(stderr, "many: frame %ld was not taken\n", done);
                return 1;
            }
        }
        gst_buffer_pool_set_active(pool, FALSE);
        gst_object_unref(pool);
        gst_harness_teardown(harness);
        gst_element_set_state(element, GST_STATE_NULL);
        if (round == 9) { /* all ways have been gone once */
            first_heap = mallinfo2().uordblks;
            first_rss = resident_kib();
            first_descriptors = count_entries("/proc/self/fd");
            first_threads = count_entries("/proc/self/task");
        }
    }
    size_t heap = mallinfo2().uordblks;
    unsigned descriptors = count_entries("/proc/self/fd"),
             threads = count_entries("/proc/self/task");
    printf("%ld frames, %u starts: heap %zu to %zu bytes, resident %ld to %ld KiB, descriptors %u "
           "to %u, threads %u to %u\n",
           done, round, first_heap, heap, first_rss, resident_kib(), first_descriptors, descriptors,
           first_threads, threads);
    gst_object_unref(element);
    gst_object_unref(dmabufs);
    return round > 10 && (heap > first_heap + 262144 || descriptors > first_descriptors ||
                          threads > first_threads);
}
