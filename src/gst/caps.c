/* What a chain makes of frames is asked of the chain, for frames of fixed sizes exactly. Ranges of
 * sizes, and the way back from results to inputs, follow from a rule for each format: what the
 * chain does with frames of some sizes. */
#include <stdio.h>
#include <string.h>

#include "gst/caps.h"

static const struct {
    GstVideoFormat gst;
    int own;
    const char *drm;
    enum mosaic mosaic;
} formats[] = {
    {GST_VIDEO_FORMAT_NV12, SLUICE_NV12, "NV12"},
    {GST_VIDEO_FORMAT_NV21, SLUICE_NV21, "NV21"},
    {GST_VIDEO_FORMAT_I420, SLUICE_I420, "YU12"},
    {GST_VIDEO_FORMAT_YUY2, SLUICE_YUY2, "YUYV"},
    {GST_VIDEO_FORMAT_UYVY, SLUICE_UYVY, "UYVY"},
    {GST_VIDEO_FORMAT_GRAY8, SLUICE_GRAY8, "R8"},
    {GST_VIDEO_FORMAT_GRAY16_LE, SLUICE_GRAY16_LE, ""},
    {GST_VIDEO_FORMAT_RGB, SLUICE_RGB, "BG24"}, /* DRM's names begin with the highest byte */
    {GST_VIDEO_FORMAT_BGR, SLUICE_BGR, "RG24"},
    {GST_VIDEO_FORMAT_RGBx, SLUICE_RGBX, "XB24"},
    {GST_VIDEO_FORMAT_BGRx, SLUICE_BGRX, "XR24"},
    {GST_VIDEO_FORMAT_RGBA, SLUICE_RGBA, "AB24"},
    {GST_VIDEO_FORMAT_BGRA, SLUICE_BGRA, "AR24"},
    {GST_VIDEO_FORMAT_NV16, SLUICE_NV16, "NV16"},
    {GST_VIDEO_FORMAT_P010_10LE, SLUICE_P010, "P010"},
    {GST_VIDEO_FORMAT_GRAY8, SLUICE_GRAY8, "", MOSAIC_RGGB},
    {GST_VIDEO_FORMAT_GRAY8, SLUICE_GRAY8, "", MOSAIC_GRBG},
    {GST_VIDEO_FORMAT_GRAY8, SLUICE_GRAY8, "", MOSAIC_GBRG},
    {GST_VIDEO_FORMAT_GRAY8, SLUICE_GRAY8, "", MOSAIC_BGGR},
    {GST_VIDEO_FORMAT_GRAY16_LE, SLUICE_GRAY16_LE, "", MOSAIC_RGGB},
    {GST_VIDEO_FORMAT_GRAY16_LE, SLUICE_GRAY16_LE, "", MOSAIC_GRBG},
    {GST_VIDEO_FORMAT_GRAY16_LE, SLUICE_GRAY16_LE, "", MOSAIC_GBRG},
    {GST_VIDEO_FORMAT_GRAY16_LE, SLUICE_GRAY16_LE, "", MOSAIC_BGGR},
};

static const char *const orders[MOSAICS] = {NULL, "rggb", "grbg", "gbrg", "bggr"};
/* What caps add to an order: a sample's bits that are in use, of 8 or of 16. */
static const char *const depths[] = {"", "16le", "14le", "12le", "10le"};
#define N_FORMATS G_N_ELEMENTS(formats)

static const struct {
    GstVideoFormat gst;
    uint32_t type, channels;
} results[] = {
    {GST_VIDEO_FORMAT_GRAY8, SLUICE_U8, 1},      {GST_VIDEO_FORMAT_RGB, SLUICE_U8, 3},
    {GST_VIDEO_FORMAT_RGBA, SLUICE_U8, 4},       {GST_VIDEO_FORMAT_GRAY16_LE, SLUICE_U16, 1},
    {GST_VIDEO_FORMAT_RGBA64_LE, SLUICE_U16, 4},
};

static const char *const type_names[] = {"?", "u8", "i8", "u16", "i16", "i32", "f32", "f64", "f16"};

/* What a chain does with frames of a format. */
struct rule {
    GstVideoFormat out; /* UNKNOWN: there is no result, or it is no video */
    enum {
        SIZE_ANY,   /* it depends on the size in another way */
        SIZE_FIXED, /* always width and height */
        SIZE_MOVED, /* width and height more (or less, < 0) than the input's */
        SIZE_TURNED /* the same, of the input's height and width */
    } size;
    int width, height;
    struct sluice_error why;
};

struct rules {
    gatomicrefcount users;
    struct sluice_chain *chains[MOSAICS]; /* NULL: the text is none for such frames */
    char *text;                           /* short, or as it was given */
    struct rule rule[N_FORMATS];
};

/* ---- layouts ---- */

static int fail(struct sluice_error *error, const char *message)
{
    if (error) {
        error->code = SLUICE_E_SHAPE;
        error->position = -1;
        error->length = 0;
        g_strlcpy(error->word, "shape", sizeof error->word);
        g_strlcpy(error->message, message, sizeof error->message);
    }
    return SLUICE_E_SHAPE;
}

static gboolean matrix_of(const GstVideoInfo *info, int *matrix)
{
    switch (info->colorimetry.matrix) {
    case GST_VIDEO_COLOR_MATRIX_BT709:
        *matrix = SLUICE_BT709;
        return TRUE;
    case GST_VIDEO_COLOR_MATRIX_BT2020:
        *matrix = SLUICE_BT2020;
        return TRUE;
    case GST_VIDEO_COLOR_MATRIX_SMPTE240M:
        return FALSE;
    default: /* FCC's differs from it by a hundredth */
        *matrix = SLUICE_BT601;
        return TRUE;
    }
}

int caps_layout(const GstVideoInfo *info, struct sluice_layout *layout, struct sluice_plane *plane,
                struct sluice_error *error)
{
    GstVideoFormat format = GST_VIDEO_INFO_FORMAT(info);
    *layout = (struct sluice_layout){
        .size = sizeof *layout, .width = (uint32_t)info->width, .height = (uint32_t)info->height};
    for (size_t i = 0; i < N_FORMATS; i++) {
        if (formats[i].gst != format)
            continue;
        layout->format = formats[i].own;
        layout->range =
            info->colorimetry.range == GST_VIDEO_COLOR_RANGE_0_255 ? SLUICE_FULL : SLUICE_LIMITED;
        if (GST_VIDEO_INFO_IS_YUV(info) && !matrix_of(info, &layout->matrix))
            return fail(error, "frames of YCbCr by SMPTE 240M are not taken: BT.601, BT.709 and "
                               "BT.2020 are (videoconvert makes one of the other)");
        for (guint p = 0; p < GST_VIDEO_INFO_N_PLANES(info); p++) {
            layout->offset[p] = GST_VIDEO_INFO_PLANE_OFFSET(info, p);
            layout->stride[p] = (size_t)GST_VIDEO_INFO_PLANE_STRIDE(info, p);
        }
        return 0;
    }
    for (size_t i = 0; i < G_N_ELEMENTS(results); i++)
        if (results[i].gst == format) {
            *plane = (struct sluice_plane){.width = layout->width,
                                           .height = layout->height,
                                           .channels = results[i].channels,
                                           .type = results[i].type,
                                           .offset = GST_VIDEO_INFO_PLANE_OFFSET(info, 0),
                                           .stride = (size_t)GST_VIDEO_INFO_PLANE_STRIDE(info, 0)};
            layout->planes = plane;
            layout->n_planes = 1;
            return 0;
        }
    return fail(error, "frames of this format are not taken");
}

/* Whether a value of caps, a string or a list of them, has the word. */
static gboolean has_word(const GValue *value, const char *word)
{
    if (!value)
        return TRUE;
    if (G_VALUE_HOLDS_STRING(value))
        return g_strcmp0(g_value_get_string(value), word) == 0;
    for (guint i = 0; GST_VALUE_HOLDS_LIST(value) && i < gst_value_list_get_size(value); i++)
        if (g_strcmp0(g_value_get_string(gst_value_list_get_value(value, i)), word) == 0)
            return TRUE;
    return FALSE;
}

/* Whether a value of drm-format has the format without a modifier, or with that of rows one behind
 * the other, 0. */
static gboolean has_drm(const GValue *value, const char *drm)
{
    char linear[24], padded[40];
    if (*drm == 0)
        return FALSE;
    snprintf(linear, sizeof linear, "%s:0x0", drm);
    snprintf(padded, sizeof padded, "%s:0x0000000000000000", drm);
    return has_word(value, drm) || has_word(value, linear) || has_word(value, padded);
}

static gboolean is_drm(const GstStructure *s)
{
    const GValue *format = gst_structure_get_value(s, "format");
    return format && G_VALUE_HOLDS_STRING(format) &&
           g_str_equal(g_value_get_string(format), "DMA_DRM");
}

static const char mosaic_name[] = "video/x-bayer";

static gboolean is_mosaic(const GstStructure *s)
{
    return gst_structure_has_name(s, mosaic_name);
}

/* Whether a value of caps has the order of a mosaic, of so many bytes a sample. */
static gboolean has_mosaic(const GValue *value, size_t index)
{
    gboolean wide = formats[index].gst == GST_VIDEO_FORMAT_GRAY16_LE, has = FALSE;
    for (size_t i = wide ? 1 : 0; i < (wide ? G_N_ELEMENTS(depths) : 1); i++) {
        char name[16];
        snprintf(name, sizeof name, "%s%s", orders[formats[index].mosaic], depths[i]);
        has |= has_word(value, name);
    }
    return has;
}

static gboolean has_format(const GstStructure *s, size_t index)
{
    if (is_mosaic(s) != (formats[index].mosaic != MOSAIC_NONE))
        return FALSE;
    if (is_mosaic(s))
        return has_mosaic(gst_structure_get_value(s, "format"), index);
    if (is_drm(s))
        return has_drm(gst_structure_get_value(s, "drm-format"), formats[index].drm);
    return has_word(gst_structure_get_value(s, "format"),
                    gst_video_format_to_string(formats[index].gst));
}

gboolean caps_info(const GstCaps *caps, GstVideoInfo *info)
{
    const GstStructure *s = gst_caps_get_structure(caps, 0);
    int width, height;
    if (!is_drm(s) && !is_mosaic(s))
        return gst_video_info_from_caps(info, caps);
    for (size_t i = 0; i < N_FORMATS; i++) {
        if (!has_format(s, i) || !gst_structure_get_int(s, "width", &width) ||
            !gst_structure_get_int(s, "height", &height))
            continue;
        const char *colours = gst_structure_get_string(s, "colorimetry");
        gst_video_info_set_format(info, formats[i].gst, (guint)width, (guint)height);
        if (colours)
            gst_video_colorimetry_from_string(&info->colorimetry, colours);
        gst_structure_get_fraction(s, "framerate", &info->fps_n, &info->fps_d);
        return TRUE;
    }
    return FALSE;
}

enum mosaic caps_mosaic(const GstCaps *caps)
{
    const GstStructure *s = gst_caps_get_structure(caps, 0);
    for (size_t i = 0; i < N_FORMATS; i++)
        if (is_mosaic(s) && has_format(s, i))
            return formats[i].mosaic;
    return MOSAIC_NONE;
}

/* ---- what a chain makes ---- */

/* GStreamer's format of a result; UNKNOWN: it is no video. */
static GstVideoFormat video_of(const struct sluice_layout *layout)
{
    for (size_t i = 0; i < G_N_ELEMENTS(results) && layout->n_planes == 1; i++)
        if (layout->planes->type == results[i].type &&
            layout->planes->channels == results[i].channels)
            return results[i].gst;
    return GST_VIDEO_FORMAT_UNKNOWN;
}

/* Says what the result is, and which stages make a video of it: the first of those that do. */
static int explain(const struct sluice_chain *chain, const struct sluice_layout *in,
                   const struct sluice_layout *result, struct sluice_error *error)
{
    static const char *const appendices[] = {
        "convert:type=u8",
        "convert:channels=4",
        "convert:channels=1",
        "convert:type=u8:channels=1",
        "idwt",
        "synthesis",
        "convert:type=u8,idwt",
        "idwt,convert:type=u8",
        "synthesis,convert:type=u8",
    };
    const char *found = NULL;
    char message[400];
    for (size_t i = 0; i < G_N_ELEMENTS(appendices) && !found; i++) {
        struct sluice_plane plane;
        struct sluice_layout out = {.size = sizeof out, .planes = &plane, .n_planes = 1};
        struct sluice_chain *longer = NULL;
        char *text = g_strdup_printf("%s,%s", sluice_chain_short(chain), appendices[i]);
        if (sluice_chain_parse(&longer, text, NULL, NULL, 0) == 0 &&
            sluice_chain_result(longer, in, &out, NULL) == 0 &&
            video_of(&out) != GST_VIDEO_FORMAT_UNKNOWN)
            found = appendices[i];
        sluice_chain_unref(&longer);
        g_free(text);
    }
    if (result->n_planes > 1)
        snprintf(message, sizeof message,
                 "the chain's result is %zu planes, which is no video (one plane of u8 or u16 is)",
                 result->n_planes);
    else
        snprintf(message, sizeof message,
                 "the chain's result is %s with %u channel%s, which is no video (u8 of 1, 3 and 4 "
                 "channels and u16 of 1 and 4 are)",
                 type_names[result->planes->type <= SLUICE_F16 ? result->planes->type : 0],
                 result->planes->channels, result->planes->channels == 1 ? "" : "s");
    if (found) {
        g_strlcat(message, ": append ,", sizeof message);
        g_strlcat(message, found, sizeof message);
    }
    return fail(error, message);
}

/* Says why the chain is none for such frames. */
static int refuse(const struct rules *rules, enum mosaic mosaic, struct sluice_error *error)
{
    char message[200];
    if (mosaic == MOSAIC_NONE)
        return fail(error, "demosaic takes the order of the colours from the caps of a mosaic "
                           "(video/x-bayer); for other frames name it, as demosaic:rggb");
    snprintf(message, sizeof message,
             "the mosaic of these frames is %s, and the chain's is another", orders[mosaic]);
    return fail(error, message);
}

static int result_of(const struct sluice_chain *chain, const GstVideoInfo *in, GstVideoFormat *out,
                     uint32_t *width, uint32_t *height, struct sluice_error *error)
{
    struct sluice_plane in_plane, plane;
    struct sluice_layout layout, result = {.size = sizeof result, .planes = &plane, .n_planes = 1};
    int status = caps_layout(in, &layout, &in_plane, error);
    if (status == 0)
        status = sluice_chain_result(chain, &layout, &result, error);
    if (status != 0)
        return status;
    *out = video_of(&result);
    *width = plane.width;
    *height = plane.height;
    return *out == GST_VIDEO_FORMAT_UNKNOWN ? explain(chain, &layout, &result, error) : 0;
}

int rules_result(const struct rules *rules, enum mosaic mosaic, const GstVideoInfo *in,
                 GstVideoInfo *out, struct sluice_error *error)
{
    GstVideoFormat format = GST_VIDEO_INFO_FORMAT(in);
    uint32_t width = (uint32_t)in->width, height = (uint32_t)in->height;
    int status = 0;
    if (!rules->chains[mosaic])
        status = refuse(rules, mosaic, error);
    else if (!rules_is_empty(rules))
        status = result_of(rules->chains[mosaic], in, &format, &width, &height, error);
    if (status == 0 && !gst_video_info_set_format(out, format, width, height))
        status = fail(error, "the result is larger than a video can be");
    return status;
}

/* Finds the rule of a format from frames of some sizes. */
static void find_rule(const struct sluice_chain *chain, GstVideoFormat format, struct rule *rule)
{
    static const int sizes[][2] = {
        {1920, 1080}, {641, 367}, {64, 48}, {4099, 3001}, {20000, 16001}};
    gboolean moved = TRUE, turned = TRUE, fixed = TRUE, first = TRUE;
    int dx = 0, dy = 0, tx = 0, ty = 0;
    rule->out = GST_VIDEO_FORMAT_UNKNOWN;
    rule->why = (struct sluice_error)SLUICE_INIT(rule->why);
    for (size_t i = 0; i < G_N_ELEMENTS(sizes); i++) {
        struct sluice_error error = SLUICE_INIT(error);
        int w = sizes[i][0], h = sizes[i][1];
        GstVideoFormat out;
        GstVideoInfo in;
        uint32_t width, height;
        if (!gst_video_info_set_format(&in, format, (guint)w, (guint)h))
            continue;
        if (result_of(chain, &in, &out, &width, &height, &error) != 0) {
            if (rule->why.code == 0)
                rule->why = error;
            continue;
        }
        int ow = (int)width, oh = (int)height;
        if (first) {
            rule->out = out;
            rule->width = ow;
            rule->height = oh;
            dx = ow - w;
            dy = oh - h;
            tx = ow - h;
            ty = oh - w;
        }
        moved &= ow - w == dx && oh - h == dy;
        turned &= ow - h == tx && oh - w == ty;
        fixed &= ow == rule->width && oh == rule->height;
        first = FALSE;
    }
    rule->size = moved ? SIZE_MOVED : turned ? SIZE_TURNED : fixed ? SIZE_FIXED : SIZE_ANY;
    if (rule->size != SIZE_FIXED) {
        rule->width = moved ? dx : tx;
        rule->height = moved ? dy : ty;
    }
}

/* The text for frames of a mosaic: a `demosaic` that names no order has that one. NULL: it names
 * another. */
static char *text_for(const char *text, enum mosaic mosaic)
{
    GString *made = g_string_new(NULL);
    gboolean fits = TRUE;
    for (const char *stage = text; *stage && mosaic != MOSAIC_NONE;) {
        size_t length = strcspn(stage, ","), name = strcspn(stage, ":,");
        char *one = g_strndup(stage, length);
        gboolean demosaics = name == strlen("demosaic") && g_str_has_prefix(stage, "demosaic");
        enum mosaic named = MOSAIC_NONE;
        for (int order = 1; order < MOSAICS && demosaics; order++)
            if (strstr(one + name, orders[order]))
                named = order;
        fits &= named == MOSAIC_NONE || named == mosaic;
        g_string_append_len(made, stage, (gssize)name);
        if (demosaics && named == MOSAIC_NONE)
            g_string_append_printf(made, ":%s", orders[mosaic]);
        g_string_append(made, one + name);
        g_string_append(made, stage[length] ? "," : "");
        stage += length + (stage[length] ? 1 : 0);
        g_free(one);
    }
    if (mosaic == MOSAIC_NONE)
        g_string_append(made, text);
    return g_string_free(made, !fits);
}

struct rules *rules_create(const char *text, struct sluice_definitions *definitions,
                           struct sluice_error *error)
{
    struct rules *rules = g_new0(struct rules, 1);
    gboolean some = FALSE;
    g_atomic_ref_count_init(&rules->users);
    for (int m = 0; m < MOSAICS; m++) {
        char *own = text_for(text ? text : "", m);
        /* What is wrong with the text as it is says more. */
        if (own)
            sluice_chain_parse(&rules->chains[m], own, definitions, m == 0 ? error : NULL, m == 0);
        some |= rules->chains[m] != NULL;
        g_free(own);
    }
    if (!some) {
        rules_unref(rules);
        return NULL;
    }
    if (rules->chains[MOSAIC_NONE])
        rules->text = g_strdup(sluice_chain_short(rules->chains[MOSAIC_NONE]));
    else
        rules->text = g_strdup(text);
    for (size_t i = 0; i < N_FORMATS && !rules_is_empty(rules); i++) {
        struct sluice_chain *chain = rules->chains[formats[i].mosaic];
        if (chain)
            find_rule(chain, formats[i].gst, &rules->rule[i]);
        else
            refuse(rules, formats[i].mosaic, &rules->rule[i].why);
    }
    return rules;
}

struct rules *rules_ref(struct rules *rules)
{
    g_atomic_ref_count_inc(&rules->users);
    return rules;
}

void rules_unref(struct rules *rules)
{
    if (!rules || !g_atomic_ref_count_dec(&rules->users))
        return;
    for (int m = 0; m < MOSAICS; m++)
        sluice_chain_unref(&rules->chains[m]);
    g_free(rules->text);
    g_free(rules);
}

const char *rules_text(const struct rules *rules)
{
    return rules->text;
}

struct sluice_chain *rules_chain(const struct rules *rules, enum mosaic mosaic)
{
    return rules->chains[mosaic];
}

gboolean rules_is_empty(const struct rules *rules)
{
    return rules->text[0] == 0;
}

gboolean rules_check(const struct rules *rules, struct sluice_error *error)
{
    for (size_t i = 0; i < N_FORMATS; i++)
        if (rules_is_empty(rules) || rules->rule[i].out != GST_VIDEO_FORMAT_UNKNOWN)
            return TRUE;
    for (size_t i = 0; i < N_FORMATS; i++) /* RGB's reason, which people think of */
        if (formats[i].gst == GST_VIDEO_FORMAT_RGB)
            *error = rules->rule[i].why;
    return FALSE;
}

/* ---- caps ---- */

/* Adds `by` to a side: an integer, a range or a list of them. False: nothing is left of it. */
static gboolean move_side(const GValue *from, int by, GValue *to)
{
    if (from && G_VALUE_HOLDS_INT(from)) {
        gint64 side = (gint64)g_value_get_int(from) + by;
        g_value_init(to, G_TYPE_INT);
        g_value_set_int(to, (int)side);
        return side >= 1 && side <= G_MAXINT;
    }
    gint64 low = 1, high = G_MAXINT;
    if (from && GST_VALUE_HOLDS_INT_RANGE(from)) {
        low = gst_value_get_int_range_min(from);
        high = gst_value_get_int_range_max(from);
    } else if (from && GST_VALUE_HOLDS_LIST(from)) {
        gboolean some = FALSE;
        g_value_init(to, GST_TYPE_LIST);
        for (guint i = 0; i < gst_value_list_get_size(from); i++) {
            GValue one = G_VALUE_INIT;
            if (move_side(gst_value_list_get_value(from, i), by, &one)) {
                gst_value_list_append_and_take_value(to, &one);
                some = TRUE;
            } else {
                g_value_unset(&one);
            }
        }
        return some;
    }
    low = MAX(low + by, 1);
    high = high == G_MAXINT ? high : MIN(high + by, G_MAXINT);
    if (low > high)
        return FALSE;
    g_value_init(to, low == high ? G_TYPE_INT : GST_TYPE_INT_RANGE);
    if (low == high)
        g_value_set_int(to, (int)low);
    else
        gst_value_set_int_range(to, (int)low, (int)high);
    return TRUE;
}

static gboolean set_side(GstStructure *s, const char *name, const GValue *from, int by)
{
    GValue to = G_VALUE_INIT;
    gboolean some = move_side(from, by, &to);
    if (some)
        gst_structure_take_value(s, name, &to);
    else if (G_IS_VALUE(&to))
        g_value_unset(&to);
    return some;
}

/* Whether a side may be `wanted`. */
static gboolean side_allows(const GValue *value, int wanted)
{
    GValue one = G_VALUE_INIT;
    g_value_init(&one, G_TYPE_INT);
    g_value_set_int(&one, wanted);
    gboolean good = !value || gst_value_can_intersect(value, &one);
    g_value_unset(&one);
    return good;
}

static void set_any_size(GstStructure *s)
{
    gst_structure_set(s, "width", GST_TYPE_INT_RANGE, 1, G_MAXINT, "height", GST_TYPE_INT_RANGE, 1,
                      G_MAXINT, NULL);
}

/* The format of a structure at the other pad. What says how colours are coded is another format's;
 * pixels that are not square lie across when the picture is turned. */
static void set_format(GstStructure *s, GstVideoFormat from, GstVideoFormat to, gboolean turned)
{
    int n, d;
    gboolean of_mosaic = is_mosaic(s);
    gst_structure_set_name(s, "video/x-raw");
    gst_structure_set(s, "format", G_TYPE_STRING, gst_video_format_to_string(to), NULL);
    gst_structure_remove_field(s, "drm-format");
    if (from != to || of_mosaic)
        gst_structure_remove_fields(s, "colorimetry", "chroma-site", NULL);
    if (turned && gst_structure_get_fraction(s, "pixel-aspect-ratio", &n, &d))
        gst_structure_set(s, "pixel-aspect-ratio", GST_TYPE_FRACTION, d, n, NULL);
}

/* Makes the structure that of a mosaic, whose samples lie like those of its format. */
static void set_mosaic(GstStructure *s, size_t index)
{
    gboolean wide = formats[index].gst == GST_VIDEO_FORMAT_GRAY16_LE;
    GValue names = G_VALUE_INIT, name = G_VALUE_INIT;
    g_value_init(&names, GST_TYPE_LIST);
    for (size_t i = wide ? 1 : 0; i < (wide ? G_N_ELEMENTS(depths) : 1); i++) {
        g_value_init(&name, G_TYPE_STRING);
        g_value_take_string(&name,
                            g_strdup_printf("%s%s", orders[formats[index].mosaic], depths[i]));
        gst_value_list_append_and_take_value(&names, &name);
    }
    gst_structure_set_name(s, mosaic_name);
    gst_structure_take_value(s, "format", &names);
    gst_structure_remove_fields(s, "colorimetry", "chroma-site", NULL);
}

static GstStructure *forward(const struct rules *rules, size_t index, const GstStructure *in)
{
    const struct rule *rule = &rules->rule[index];
    const GValue *w = gst_structure_get_value(in, "width"),
                 *h = gst_structure_get_value(in, "height");
    GstVideoFormat out = rule->out;
    GstStructure *s = gst_structure_copy(in);
    gboolean good = TRUE;
    if (!rules->chains[formats[index].mosaic]) {
        good = FALSE;
    } else if (w && h && G_VALUE_HOLDS_INT(w) && G_VALUE_HOLDS_INT(h)) {
        uint32_t width, height;
        GstVideoInfo info;
        good = gst_video_info_set_format(&info, formats[index].gst, (guint)g_value_get_int(w),
                                         (guint)g_value_get_int(h)) &&
               result_of(rules->chains[formats[index].mosaic], &info, &out, &width, &height,
                         NULL) == 0;
        if (good)
            gst_structure_set(s, "width", G_TYPE_INT, (int)width, "height", G_TYPE_INT, (int)height,
                              NULL);
    } else if (rule->out == GST_VIDEO_FORMAT_UNKNOWN) {
        good = FALSE;
    } else if (rule->size == SIZE_FIXED) {
        gst_structure_set(s, "width", G_TYPE_INT, rule->width, "height", G_TYPE_INT, rule->height,
                          NULL);
    } else if (rule->size == SIZE_ANY) {
        set_any_size(s);
    } else {
        gboolean turned = rule->size == SIZE_TURNED;
        good = set_side(s, "width", turned ? h : w, rule->width) &&
               set_side(s, "height", turned ? w : h, rule->height);
    }
    if (good)
        set_format(s, formats[index].gst, out, rule->size == SIZE_TURNED);
    else
        g_clear_pointer(&s, gst_structure_free);
    return s;
}

static GstStructure *backward(const struct rules *rules, size_t index, const GstStructure *out)
{
    const struct rule *rule = &rules->rule[index];
    const GValue *w = gst_structure_get_value(out, "width"),
                 *h = gst_structure_get_value(out, "height");
    gboolean turned = rule->size == SIZE_TURNED, good = TRUE;
    if (rule->out == GST_VIDEO_FORMAT_UNKNOWN ||
        !has_word(gst_structure_get_value(out, "format"), gst_video_format_to_string(rule->out)) ||
        (rule->size == SIZE_FIXED &&
         (!side_allows(w, rule->width) || !side_allows(h, rule->height))))
        return NULL;
    GstStructure *s = gst_structure_copy(out);
    if (rule->size == SIZE_FIXED || rule->size == SIZE_ANY)
        set_any_size(s);
    else
        good = set_side(s, "width", turned ? h : w, turned ? -rule->height : -rule->width) &&
               set_side(s, "height", turned ? w : h, turned ? -rule->width : -rule->height);
    set_format(s, rule->out, formats[index].gst, turned);
    if (formats[index].mosaic != MOSAIC_NONE)
        set_mosaic(s, index);
    if (!good)
        g_clear_pointer(&s, gst_structure_free);
    return s;
}

/* Adds an input's structure as it is in dma-bufs, too: with GStreamer 1.22's caps, and 1.24's, which
 * name the modifier of rows one behind the other or leave it out. */
static void add_dmabuf(GstCaps *caps, size_t index, const GstStructure *s)
{
    gst_caps_append_structure_full(caps, gst_structure_copy(s),
                                   gst_caps_features_new("memory:DMABuf", NULL));
    if (*formats[index].drm == 0)
        return;
    GstStructure *drm = gst_structure_copy(s);
    GValue names = G_VALUE_INIT, name = G_VALUE_INIT;
    g_value_init(&names, GST_TYPE_LIST);
    g_value_init(&name, G_TYPE_STRING);
    g_value_set_string(&name, formats[index].drm);
    gst_value_list_append_value(&names, &name);
    g_value_take_string(&name, g_strdup_printf("%s:0x0", formats[index].drm));
    gst_value_list_append_and_take_value(&names, &name);
    gst_structure_set(drm, "format", G_TYPE_STRING, "DMA_DRM", NULL);
    gst_structure_take_value(drm, "drm-format", &names);
    gst_caps_append_structure_full(caps, drm, gst_caps_features_new("memory:DMABuf", NULL));
}

GstCaps *rules_transform(const struct rules *rules, GstPadDirection direction, const GstCaps *caps)
{
    GstCaps *plain = gst_caps_new_empty(), *dmabufs = gst_caps_new_empty();
    if (rules_is_empty(rules)) {
        gst_caps_unref(plain);
        gst_caps_unref(dmabufs);
        return gst_caps_copy(caps);
    }
    for (guint c = 0; c < gst_caps_get_size(caps); c++) {
        const GstStructure *s = gst_caps_get_structure(caps, c);
        for (size_t i = 0; i < N_FORMATS; i++) {
            GstStructure *other = NULL;
            if (direction == GST_PAD_SINK && has_format(s, i))
                other = forward(rules, i, s);
            else if (direction == GST_PAD_SRC)
                other = backward(rules, i, s);
            if (!other)
                continue;
            if (direction == GST_PAD_SRC && formats[i].mosaic == MOSAIC_NONE)
                add_dmabuf(dmabufs, i, other);
            plain = gst_caps_merge_structure(plain, other);
        }
    }
    return gst_caps_merge(plain, dmabufs);
}
