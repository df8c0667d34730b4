// Frames between OpenCV and GStreamer without a copy: a cv::Mat goes into a pipeline as it is, and the
// result is read as a cv::Mat that lies over the pipeline's buffer.
//
//     c++ -std=c++17 mat.cpp -o mat $(pkg-config --cflags --libs opencv4 gstreamer-app-1.0 gstreamer-video-1.0)
//     ./mat [CHAIN]
#include <gst/app/gstappsink.h>
#include <gst/app/gstappsrc.h>
#include <gst/video/video.h>
#include <opencv2/core.hpp>

#include <cstdio>
#include <string>

// A buffer that is the Mat's memory, which it keeps until the pipeline has done with it. Rows may lie
// apart, as those of a rectangle of a larger Mat do: the GstVideoMeta says so.
static GstBuffer *buffer_of(const cv::Mat &grey)
{
    auto *kept = new cv::Mat(grey);
    gsize bytes = kept->step[0] * (kept->rows - 1) + kept->cols;
    GstBuffer *buffer = gst_buffer_new_wrapped_full(
        GST_MEMORY_FLAG_READONLY, kept->data, bytes, 0, bytes, kept,
        [](gpointer mat) { delete static_cast<cv::Mat *>(mat); });
    gsize offset[GST_VIDEO_MAX_PLANES] = {0};
    gint stride[GST_VIDEO_MAX_PLANES] = {static_cast<gint>(kept->step[0])};
    gst_buffer_add_video_meta_full(buffer, GST_VIDEO_FRAME_FLAG_NONE, GST_VIDEO_FORMAT_GRAY8,
                                   kept->cols, kept->rows, 1, offset, stride);
    return buffer;
}

int main(int argc, char **argv)
{
    gst_init(&argc, &argv);
    std::string text = "appsrc name=in format=time ! sluice name=it chain=" +
                       std::string(argc > 1 ? argv[1] : "sobel") + " ! appsink name=out sync=false";
    GstElement *pipeline = gst_parse_launch(text.c_str(), nullptr);
    GstElement *in = gst_bin_get_by_name(GST_BIN(pipeline), "in");
    GstElement *out = gst_bin_get_by_name(GST_BIN(pipeline), "out");
    GstElement *it = gst_bin_get_by_name(GST_BIN(pipeline), "it");

    cv::Mat large = cv::Mat::zeros(480, 640, CV_8UC1);
    cv::Mat frame = large(cv::Rect(100, 100, 320, 240)); // no copy: rows of 640 bytes
    frame(cv::Rect(80, 60, 160, 120)) = 255;

    GstCaps *caps = gst_caps_new_simple("video/x-raw", "format", G_TYPE_STRING, "GRAY8", "width",
                                        G_TYPE_INT, frame.cols, "height", G_TYPE_INT, frame.rows,
                                        "framerate", GST_TYPE_FRACTION, 30, 1, nullptr);
    gst_app_src_set_caps(GST_APP_SRC(in), caps);
    gst_caps_unref(caps);
    gst_element_set_state(pipeline, GST_STATE_PLAYING);

    for (int i = 0; i < 10; i++) {
        gst_app_src_push_buffer(GST_APP_SRC(in), buffer_of(frame));
        GstSample *sample = gst_app_sink_pull_sample(GST_APP_SINK(out));
        if (!sample)
            return 1;
        GstVideoInfo info;
        GstVideoFrame video;
        gst_video_info_from_caps(&info, gst_sample_get_caps(sample));
        gst_video_frame_map(&video, &info, gst_sample_get_buffer(sample), GST_MAP_READ);
        cv::Mat edges(GST_VIDEO_INFO_HEIGHT(&info), GST_VIDEO_INFO_WIDTH(&info), CV_8UC1,
                      GST_VIDEO_FRAME_PLANE_DATA(&video, 0),
                      GST_VIDEO_FRAME_PLANE_STRIDE(&video, 0));
        std::printf("%d × %d, %d pixels at edges\n", edges.cols, edges.rows,
                    cv::countNonZero(edges));
        gst_video_frame_unmap(&video); // from here on `edges` lies over nothing
        gst_sample_unref(sample);
    }

    GstStructure *stats;
    guint64 copied = 0;
    g_object_get(it, "stats", &stats, nullptr);
    gst_structure_get_uint64(stats, "bytes-copied", &copied);
    std::printf("%" G_GUINT64_FORMAT " bytes copied\n", copied);
    gst_structure_free(stats);
    gst_element_set_state(pipeline, GST_STATE_NULL);
    for (GstElement *element : {in, out, it, pipeline})
        gst_object_unref(element);
}
