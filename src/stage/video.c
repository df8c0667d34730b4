#include "stage/video.h"

#include <math.h>

#include "stage/common.h"

struct video_factors video_factors(const struct video *video)
{
    static const double shares[VIDEO_MATRICES][2] = {
        [VIDEO_BT601] = {0.299, 0.114},
        [VIDEO_BT709] = {0.2126, 0.0722},
        [VIDEO_BT2020] = {0.2627, 0.0593},
    };
    double kr = shares[video->matrix][0], kb = shares[video->matrix][1], kg = 1 - kr - kb;
    bool limited = video->range == VIDEO_LIMITED, is_10 = video_has_10_bits(video->format);
    double one = is_10 ? 8192 : 65536, most = is_10 ? 65535 : 255, full = is_10 ? 1023 : 255;
    double a = one * most / (limited ? is_10 ? 876 : 219 : full);
    double b = one * most / (limited ? is_10 ? 896 : 224 : full);
    return (struct video_factors){
        .y_zero = !limited ? 0
                  : is_10  ? 64
                           : 16,
        .y = (int32_t)rint(a),
        .cr_to_r = (int32_t)rint(b * 2 * (1 - kr)),
        .cb_to_g = (int32_t)rint(b * 2 * (1 - kb) * kb / kg),
        .cr_to_g = (int32_t)rint(b * 2 * (1 - kr) * kr / kg),
        .cb_to_b = (int32_t)rint(b * 2 * (1 - kb)),
    };
}

static int shape(const void *config_, const struct frame *in, size_t alignment, struct frame *out,
                 struct fault *fault)
{
    const struct video_config *config = config_;
    struct plane picture = video_picture(&config->video);
    if (config->luma)
        picture.channels = 1;
    return stage_add_plane(out, &picture, alignment, fault);
}

/* Y as it lies is what is wanted. */
static bool is_plane_y(const struct video_config *config)
{
    enum video_format format = config->video.format;
    return config->luma && config->video.range == VIDEO_FULL &&
           (format == VIDEO_NV12 || format == VIDEO_NV21 || format == VIDEO_I420 ||
            format == VIDEO_NV16);
}

/* Where a format has its samples: the kernel, with its definitions of Y and of all else. */
#define PLANE_Y "Y_STEP 1\nY_AT 0\n"
static const struct {
    const char *name, *kernel, *y, *others;
} kinds[VIDEO_FORMATS] = {
    [VIDEO_NV12] = {"nv12", "pairs", PLANE_Y, "EACH_ROW 0\nCB_AT 0\nCR_AT 1\n"},
    [VIDEO_NV21] = {"nv21", "pairs", PLANE_Y, "EACH_ROW 0\nCB_AT 1\nCR_AT 0\n"},
    [VIDEO_NV16] = {"nv16", "pairs", PLANE_Y, "EACH_ROW 1\nCB_AT 0\nCR_AT 1\n"},
    [VIDEO_P010] = {"p010", "pairs", PLANE_Y, "EACH_ROW 0\nCB_AT 0\nCR_AT 1\n"},
    [VIDEO_I420] = {"i420", "thirds", PLANE_Y, "CB_AT 0\nCR_AT 1\n"},
    [VIDEO_YUY2] = {"yuy2", "fours", "Y_STEP 2\nY_AT 0\n", "CB_AT 1\nCR_AT 3\n"},
    [VIDEO_UYVY] = {"uyvy", "fours", "Y_STEP 2\nY_AT 1\n", "CB_AT 0\nCR_AT 2\n"},
    [VIDEO_BGR] = {"bgr", "moved", "", "SOURCE_CH 3\nDST_CH 3\nR_AT 2\nB_AT 0\n"},
    [VIDEO_RGBX] = {"rgbx", "moved", "", "SOURCE_CH 4\nDST_CH 3\nR_AT 0\nB_AT 2\n"},
    [VIDEO_BGRX] = {"bgrx", "moved", "", "SOURCE_CH 4\nDST_CH 3\nR_AT 2\nB_AT 0\n"},
    [VIDEO_BGRA] = {"bgra", "moved", "", "SOURCE_CH 4\nDST_CH 4\nR_AT 2\nB_AT 0\n"},
    [VIDEO_RAW10] = {"raw10", "packed", "", "PACKED 10\n"},
    [VIDEO_RAW12] = {"raw12", "packed", "", "PACKED 12\n"},
};

static int passes(const void *config_, struct stage_plan *plan, struct fault *fault)
{
    const struct video_config *config = config_;
    enum video_format format = config->video.format;
    const struct plane *out = &plan->out->planes[0];
    if (is_plane_y(config))
        return 0;
    enum kernel_form form = plan->profile->form == FORM_ROWS ? FORM_ROWS : FORM_SCALAR;
    const char *kernel = config->luma ? "luma" : kinds[format].kernel;
    struct pass *pass = pass_begin(plan, "video", kernel, form, 0, out->width, out->height);
    bool ten_bits = video_has_10_bits(format);
    pass->goes_on = true;
    if (!config->luma)
        pass_name(pass, kinds[format].name);
    pass_name(pass, kernel_form_name(form));
    pass_define(pass, "SRC", "%s", pass_type_name(plan->in->planes[0].type));
    pass_define(pass, "DST", "%s", pass_type_name(out->type));
    pass_define(pass, "ALPHA", "%d", out->channels == 4);
    pass_define(pass, "TEN_BITS", "%d", ten_bits);
    pass_define(pass, "WIDE", "%d", plan->profile->prebuilt && !ten_bits);
    pass_define_lines(pass, kinds[format].y);
    if (!config->luma)
        pass_define_lines(pass, kinds[format].others);
    pass->work = config->luma ? 4 : video_is_ycbcr(format) ? 20 : 3;
    unsigned n_planes = config->luma ? 1 : (unsigned)plan->in->n_planes;
    for (unsigned i = 0; i < n_planes; i++) {
        pass_plane(pass, OPERAND_IN, i);
        pass->bytes_read += plane_bytes(&plan->in->planes[i]);
    }
    pass_plane(pass, OPERAND_OUT, 0);
    pass->bytes_written = plane_bytes(out);
    struct video_factors f = video_factors(&config->video);
    if (video_is_ycbcr(format))
        pass_ints(pass, f.y_zero, f.y);
    if (video_is_ycbcr(format) && !config->luma)
        pass_ints(pass, f.cr_to_r, f.cb_to_g, f.cr_to_g, f.cb_to_b);
    return 0;
}

const struct stage stage_video = {
    .name = "video",
    .summary = "the picture that a video frame's planes mean",
    .config_size = sizeof(struct video_config),
    .internal = true,
    .window = stage_window_of_pixel,
    .shape = shape,
    .passes = passes,
    .at = video_at,
};
