/* The element `sluice`: video through a chain.
 *
 * Caps: what comes out of the chain for the input's caps is asked of the chain (caps.h). A new
 * chain is parsed where the property is set, and taken by the streaming thread before the next
 * frame; if it is wrong there, the old one stays.
 *
 * Frames: a plan is made for where the planes of input and result lie, and kept while buffers lie
 * like that. A chain that changes nothing passes buffers through; one whose result lies in the
 * input's memory (a lone crop) passes that memory on, with a GstVideoMeta that says where. All
 * other frames are computed from the memory of the one buffer into that of the other (memory.h). Up
 * to `in-flight` of them are begun before the first is waited for; whatever must not overtake them
 * waits until they are pushed. */
#include <gst/video/gstvideofilter.h>
#include <gst/video/gstvideopool.h>

#include <stdlib.h>
#include <string.h>

#include "gst/caps.h"
#include "gst/definitions.h"
#include "gst/memory.h"

GST_DEBUG_CATEGORY_STATIC(sluice_debug);
#define GST_CAT_DEFAULT sluice_debug

#define N_PLANS       16
#define IN_FLIGHT_MAX 16
#define N_TIMES       1024
#define N_BUFFERS     4

/* A plan and what it was made for. */
struct made_plan {
    struct sluice_layout in, out;
    struct sluice_plane in_plane, out_plane;
    gboolean has_out;
    unsigned flags;
    struct sluice_plan *plan;
};

/* A frame that was begun. */
struct begun {
    struct side in, out;
    struct sluice_device *device; /* to be compared; the plan holds it */
    struct sluice_plan *plan;
    struct sluice_run *run;
};

typedef struct _GstSluice {
    GstVideoFilter parent;

    /* Under the object's lock. */
    char *chain_text;    /* as it was set */
    struct rules *rules; /* NULL: the chain that was set before the start is wrong */
    struct rules *next;  /* what the streaming thread is to take */
    struct sluice_error chain_error;
    char *config; /* the file that has what @names mean; NULL: none */
    struct sluice_definitions *definitions;
    struct sluice_error config_error;
    char *select, *fallback;
    guint threads, in_flight;
    gboolean started, explained;
    guint64 frames, dropped, bytes_copied, imported;
    guint64 times[N_TIMES]; /* of kernels; the last ones, round */
    guint64 n_times;
    char *device_name;
    GstClockTime latency; /* of the frames in flight */

    /* The streaming thread's. */
    struct sluice_device *device;
    gboolean is_fallback;
    guint depth; /* frames in flight, at most */
    guint room;  /* so many may be, by the buffers that there are */
    struct made_plan plans[N_PLANS];
    guint n_plans;
    GstVideoInfo in_info, out_info;
    enum mosaic mosaic;               /* of the input */
    GstCaps *refused;                 /* it was told why these, which came last, are not taken */
    gboolean configured, views;       /* the result lies in the input's memory */
    gboolean takes_meta;              /* what is behind reads GstVideoMeta */
    gboolean in_refused, out_refused; /* dma-bufs cannot be imported */
    struct begun begun[IN_FLIGHT_MAX];
    guint first, n_begun;
} GstSluice;

typedef struct _GstSluiceClass {
    GstVideoFilterClass parent_class;
} GstSluiceClass;

GType gst_sluice_get_type(void);
#define GST_SLUICE(object) ((GstSluice *)(object))
G_DEFINE_TYPE(GstSluice, gst_sluice, GST_TYPE_VIDEO_FILTER)

enum {
    PROPERTY_CHAIN = 1,
    PROPERTY_CONFIG,
    PROPERTY_DEVICE,
    PROPERTY_THREADS,
    PROPERTY_IN_FLIGHT,
    PROPERTY_FALLBACK,
    PROPERTY_STATS
};

static GstStaticPadTemplate sink_template = GST_STATIC_PAD_TEMPLATE(
    "sink", GST_PAD_SINK, GST_PAD_ALWAYS,
    GST_STATIC_CAPS(GST_VIDEO_CAPS_MAKE(CAPS_INPUTS) "; " GST_VIDEO_CAPS_MAKE_WITH_FEATURES(
        "memory:DMABuf",
        CAPS_INPUTS) "; video/x-raw(memory:DMABuf), format = (string) DMA_DRM, drm-format = "
                     "(string) " CAPS_DRM ", width = " GST_VIDEO_SIZE_RANGE
                     ", height = " GST_VIDEO_SIZE_RANGE ", framerate = " GST_VIDEO_FPS_RANGE
                     "; video/x-bayer, format = (string) " CAPS_MOSAICS
                     ", width = " GST_VIDEO_SIZE_RANGE ", height = " GST_VIDEO_SIZE_RANGE
                     ", framerate = " GST_VIDEO_FPS_RANGE));

static GstStaticPadTemplate src_template = GST_STATIC_PAD_TEMPLATE(
    "src", GST_PAD_SRC, GST_PAD_ALWAYS,
    GST_STATIC_CAPS(GST_VIDEO_CAPS_MAKE(CAPS_RESULTS) "; " GST_VIDEO_CAPS_MAKE_WITH_FEATURES(
        "memory:DMABuf",
        CAPS_INPUTS) "; video/x-raw(memory:DMABuf), format = (string) DMA_DRM, drm-format = "
                     "(string) " CAPS_DRM ", width = " GST_VIDEO_SIZE_RANGE
                     ", height = " GST_VIDEO_SIZE_RANGE ", framerate = " GST_VIDEO_FPS_RANGE));

/* ---- errors ---- */

static char *message_of(const struct sluice_error *error, const char *text)
{
    char message[2000];
    sluice_error_print(error, text, message, sizeof message);
    return g_strdup(message);
}

/* Ends the stream with an error of GStreamer's domains. */
static void post_error(GstSluice *self, const struct sluice_error *error, const char *chain)
{
    char *text = message_of(error, chain);
    switch (error->code) {
    case SLUICE_E_CHAIN:
    case SLUICE_E_USAGE:
        GST_ELEMENT_ERROR(self, LIBRARY, SETTINGS, ("%s", text), (NULL));
        break;
    case SLUICE_E_SHAPE:
    case SLUICE_E_LIMIT:
        GST_ELEMENT_ERROR(self, STREAM, FORMAT, ("%s", text), (NULL));
        break;
    case SLUICE_E_NO_DEVICE:
        GST_ELEMENT_ERROR(self, RESOURCE, NOT_FOUND, ("%s", text), (NULL));
        break;
    case SLUICE_E_MEMORY:
        GST_ELEMENT_ERROR(self, RESOURCE, NO_SPACE_LEFT, ("%s", text), (NULL));
        break;
    default:
        GST_ELEMENT_ERROR(self, RESOURCE, FAILED, ("%s", text), (NULL));
    }
    g_free(text);
}

/* Says that a chain is wrong, and that the one before it stays. */
static void warn_chain(GstSluice *self, const struct sluice_error *error, const char *chain)
{
    char *text = message_of(error, chain);
    if (error->code == SLUICE_E_SHAPE || error->code == SLUICE_E_LIMIT)
        GST_ELEMENT_WARNING(self, STREAM, FORMAT, ("%s", text), ("the chain before it stays"));
    else
        GST_ELEMENT_WARNING(self, LIBRARY, SETTINGS, ("%s", text), ("the chain before it stays"));
    g_free(text);
}

/* ---- properties ---- */

static struct rules *get_rules(GstSluice *self)
{
    GST_OBJECT_LOCK(self);
    struct rules *rules = self->rules ? rules_ref(self->rules) : NULL;
    GST_OBJECT_UNLOCK(self);
    return rules;
}

static char *get_text(GstSluice *self)
{
    GST_OBJECT_LOCK(self);
    char *text = g_strdup(self->chain_text);
    GST_OBJECT_UNLOCK(self);
    return text;
}

static void set_chain(GstSluice *self, const char *text)
{
    struct sluice_error error = SLUICE_INIT(error);
    GST_OBJECT_LOCK(self);
    struct sluice_definitions *definitions =
        self->definitions ? sluice_definitions_ref(self->definitions) : NULL;
    GST_OBJECT_UNLOCK(self);
    struct rules *rules = rules_create(text, definitions, &error);
    sluice_definitions_unref(&definitions);
    if (rules && !rules_check(rules, &error))
        g_clear_pointer(&rules, rules_unref);
    GST_OBJECT_LOCK(self);
    gboolean started = self->started;
    if (started && rules) {
        rules_unref(self->next);
        self->next = rules;
    } else if (!started) {
        rules_unref(self->rules);
        self->rules = rules;
        self->chain_error = error;
        g_free(self->chain_text);
        self->chain_text = g_strdup(text);
    }
    GST_OBJECT_UNLOCK(self);
    if (started && !rules)
        warn_chain(self, &error, text);
}

/* Reads what @names mean, and the chain again, which may have been set before. Chains that are in
 * use keep what theirs mean. */
static void set_config(GstSluice *self, const char *path)
{
    struct sluice_error error = SLUICE_INIT(error);
    struct sluice_definitions *definitions = NULL;
    if (path && *path)
        definitions_read(&definitions, path, &error);
    GST_OBJECT_LOCK(self);
    struct sluice_definitions *old = self->definitions;
    self->definitions = definitions;
    self->config_error = error;
    g_free(self->config);
    self->config = g_strdup(path && *path ? path : NULL);
    char *text = self->started ? NULL : g_strdup(self->chain_text);
    GST_OBJECT_UNLOCK(self);
    sluice_definitions_unref(&old);
    if (text)
        set_chain(self, text);
    g_free(text);
}

static void set_text(GstSluice *self, char **at, const char *text, const char *otherwise)
{
    GST_OBJECT_LOCK(self);
    g_free(*at);
    *at = g_strdup(text && *text ? text : otherwise);
    GST_OBJECT_UNLOCK(self);
}

static void set_property(GObject *object, guint id, const GValue *value, GParamSpec *spec)
{
    GstSluice *self = GST_SLUICE(object);
    const char *text = G_VALUE_HOLDS_STRING(value) ? g_value_get_string(value) : NULL;
    switch (id) {
    case PROPERTY_CHAIN:
        set_chain(self, text ? text : "");
        break;
    case PROPERTY_CONFIG:
        set_config(self, text);
        break;
    case PROPERTY_DEVICE:
        set_text(self, &self->select, text, "auto");
        break;
    case PROPERTY_FALLBACK:
        set_text(self, &self->fallback, text, "native");
        break;
    case PROPERTY_THREADS:
        GST_OBJECT_LOCK(self);
        self->threads = g_value_get_uint(value);
        GST_OBJECT_UNLOCK(self);
        break;
    case PROPERTY_IN_FLIGHT:
        GST_OBJECT_LOCK(self);
        self->in_flight = g_value_get_uint(value);
        GST_OBJECT_UNLOCK(self);
        break;
    default:
        G_OBJECT_WARN_INVALID_PROPERTY_ID(object, id, spec);
    }
}

static int compare_times(const void *a, const void *b)
{
    guint64 x = *(const guint64 *)a, y = *(const guint64 *)b;
    return x < y ? -1 : x > y;
}

static GstStructure *get_stats(GstSluice *self)
{
    guint64 *sorted = g_new(guint64, N_TIMES);
    GST_OBJECT_LOCK(self);
    size_t n = (size_t)MIN(self->n_times, N_TIMES);
    memcpy(sorted, self->times, n * sizeof *sorted);
    qsort(sorted, n, sizeof *sorted, compare_times);
    GstStructure *stats = gst_structure_new(
        "sluice-stats", "frames", G_TYPE_UINT64, self->frames, "dropped", G_TYPE_UINT64,
        self->dropped, "bytes-copied", G_TYPE_UINT64, self->bytes_copied, "imported", G_TYPE_UINT64,
        self->imported, "kernel-p50", G_TYPE_UINT64, n ? sorted[(n - 1) / 2] : (guint64)0,
        "kernel-p99", G_TYPE_UINT64, n ? sorted[(n - 1) * 99 / 100] : (guint64)0, "device",
        G_TYPE_STRING, self->device_name, NULL);
    GST_OBJECT_UNLOCK(self);
    g_free(sorted);
    return stats;
}

static void get_property(GObject *object, guint id, GValue *value, GParamSpec *spec)
{
    GstSluice *self = GST_SLUICE(object);
    if (id == PROPERTY_STATS) {
        g_value_take_boxed(value, get_stats(self));
        return;
    }
    GST_OBJECT_LOCK(self);
    switch (id) {
    case PROPERTY_CHAIN:
        g_value_set_string(value, self->chain_text);
        break;
    case PROPERTY_CONFIG:
        g_value_set_string(value, self->config);
        break;
    case PROPERTY_DEVICE:
        g_value_set_string(value, self->select);
        break;
    case PROPERTY_FALLBACK:
        g_value_set_string(value, self->fallback);
        break;
    case PROPERTY_THREADS:
        g_value_set_uint(value, self->threads);
        break;
    case PROPERTY_IN_FLIGHT:
        g_value_set_uint(value, self->in_flight);
        break;
    default:
        G_OBJECT_WARN_INVALID_PROPERTY_ID(object, id, spec);
    }
    GST_OBJECT_UNLOCK(self);
}

/* ---- devices ---- */

static void log_line(void *context, int level, const char *line)
{
    GstDebugLevel own = level == SLUICE_LOG_ERROR     ? GST_LEVEL_ERROR
                        : level == SLUICE_LOG_WARNING ? GST_LEVEL_WARNING
                        : level == SLUICE_LOG_INFO    ? GST_LEVEL_INFO
                                                      : GST_LEVEL_DEBUG;
    GST_CAT_LEVEL_LOG(sluice_debug, own, NULL, "%s", line);
}

static int open_device(GstSluice *self, const char *select, struct sluice_error *error)
{
    struct sluice_device_options options = SLUICE_INIT(options);
    struct sluice_device_info info = SLUICE_INIT(info);
    options.select = select;
    options.log = log_line;
    GST_OBJECT_LOCK(self);
    options.threads = self->threads;
    guint in_flight = self->in_flight;
    GST_OBJECT_UNLOCK(self);
    int result = sluice_device_open(&self->device, &options, error);
    if (result != 0)
        return result;
    sluice_device_get_info(self->device, &info);
    self->depth = in_flight ? in_flight : CLAMP(info.in_flight, 1, IN_FLIGHT_MAX);
    self->in_refused = self->out_refused = FALSE;
    GST_INFO_OBJECT(self, "device %s (%s), %u frames in flight", info.name, info.kind, self->depth);
    GST_OBJECT_LOCK(self);
    g_free(self->device_name);
    self->device_name = g_strdup(info.name);
    GST_OBJECT_UNLOCK(self);
    return 0;
}

static void forget_plans(GstSluice *self)
{
    for (guint i = 0; i < N_PLANS; i++)
        sluice_plan_unref(&self->plans[i].plan);
    self->n_plans = 0;
}

/* Takes the device that does the work while the wanted one fails. False: there is none, and the
 * error is posted. */
static gboolean fall_back(GstSluice *self, const struct sluice_error *error)
{
    struct sluice_error second = SLUICE_INIT(second);
    GST_OBJECT_LOCK(self);
    char *fallback = g_strdup(self->fallback);
    GST_OBJECT_UNLOCK(self);
    gboolean good = !self->is_fallback && !g_str_equal(fallback, "none") &&
                    (error->code == SLUICE_E_NO_DEVICE || error->code == SLUICE_E_DEVICE);
    if (good) {
        forget_plans(self);
        sluice_device_unref(&self->device);
        good = open_device(self, fallback, &second) == 0;
    }
    if (good) {
        self->is_fallback = TRUE;
        GST_ELEMENT_WARNING(self, RESOURCE, FAILED, ("%s", error->message),
                            ("goes on with the fallback, %s", fallback));
    } else {
        post_error(self, error, NULL);
    }
    g_free(fallback);
    return good;
}

static gboolean start(GstBaseTransform *transform)
{
    GstSluice *self = GST_SLUICE(transform);
    struct sluice_error error = SLUICE_INIT(error);
    GST_OBJECT_LOCK(self);
    gboolean good = self->rules && self->config_error.code == 0, blames_chain = FALSE;
    if (good) {
        self->started = TRUE;
        self->explained = FALSE;
        self->frames = self->dropped = self->bytes_copied = self->imported = self->n_times = 0;
    } else if (self->config_error.code != 0) {
        error = self->config_error;
    } else {
        error = self->chain_error;
        blames_chain = TRUE;
    }
    char *select = g_strdup(self->select), *text = g_strdup(self->chain_text);
    GST_OBJECT_UNLOCK(self);
    self->is_fallback = FALSE;
    if (!good)
        post_error(self, &error, blames_chain ? text : NULL);
    else if (open_device(self, select, &error) != 0)
        good = fall_back(self, &error);
    if (!good) {
        GST_OBJECT_LOCK(self);
        self->started = FALSE;
        GST_OBJECT_UNLOCK(self);
    }
    g_free(select);
    g_free(text);
    return good;
}

/* ---- plans ---- */

static gboolean is_alike(const struct sluice_layout *a, const struct sluice_plane *a_plane,
                         const struct sluice_layout *b, const struct sluice_plane *b_plane)
{
    if (a->format != b->format || a->width != b->width || a->height != b->height ||
        a->matrix != b->matrix || a->range != b->range)
        return FALSE;
    if (a->format == SLUICE_PLANES)
        return a_plane->offset == b_plane->offset && a_plane->stride == b_plane->stride &&
               a_plane->type == b_plane->type && a_plane->channels == b_plane->channels;
    return memcmp(a->offset, b->offset, sizeof a->offset) == 0 &&
           memcmp(a->stride, b->stride, sizeof a->stride) == 0;
}

static const struct sluice_plane no_plane;

/* The plan for frames that lie like that (`out` NULL: as the chain has it); it stays the element's.
 */
static struct sluice_plan *find_plan(GstSluice *self, const struct sluice_layout *in,
                                     const struct sluice_layout *out, unsigned flags,
                                     struct sluice_error *error)
{
    const struct sluice_plane *in_plane = in->planes ? in->planes : &no_plane,
                              *out_plane = out && out->planes ? out->planes : &no_plane;
    for (guint i = 0; i < MIN(self->n_plans, N_PLANS); i++) {
        struct made_plan *made = &self->plans[i];
        if (made->plan && made->flags == flags && made->has_out == (out != NULL) &&
            is_alike(&made->in, &made->in_plane, in, in_plane) &&
            (!out || is_alike(&made->out, &made->out_plane, out, out_plane)))
            return made->plan;
    }
    struct made_plan *made = &self->plans[self->n_plans++ % N_PLANS];
    struct rules *rules = get_rules(self);
    sluice_plan_unref(&made->plan);
    *made = (struct made_plan){
        .in = *in, .in_plane = *in_plane, .out_plane = *out_plane, .flags = flags};
    if (out)
        made->out = *out;
    made->has_out = out != NULL;
    if (sluice_plan_create(&made->plan, rules_chain(rules, self->mosaic), self->device, in, out,
                           flags, error) == 0) {
        struct sluice_plan_info info = SLUICE_INIT(info);
        sluice_plan_get_info(made->plan, &info);
        GST_DEBUG_OBJECT(self, "a plan with %u launches and %zu bytes of scratch%s%s",
                         info.n_launches, info.scratch, info.warning ? "; " : "",
                         info.warning ? info.warning : "");
    }
    rules_unref(rules);
    return made->plan;
}

/* Finds out how frames are done: passed through, passed on as a view, or computed. */
static int configure(GstSluice *self, struct sluice_error *error)
{
    GstBaseTransform *transform = GST_BASE_TRANSFORM(self);
    struct rules *rules = get_rules(self);
    struct sluice_plane in_plane, view_plane;
    struct sluice_layout in, view = {.size = sizeof view, .planes = &view_plane, .n_planes = 1};
    gboolean passes = rules_is_empty(rules);
    int result = 0;
    rules_unref(rules);
    forget_plans(self);
    self->views = FALSE;
    if (!passes) {
        struct sluice_plan *plan = NULL;
        result = caps_layout(&self->in_info, &in, &in_plane, error);
        if (result == 0) {
            plan = find_plan(self, &in, NULL, 0, error);
            result = plan ? 0 : error->code;
        }
        if (plan && sluice_plan_view(plan, &view, NULL) == 0) {
            self->views = TRUE;
            passes =
                GST_VIDEO_INFO_FORMAT(&self->in_info) == GST_VIDEO_INFO_FORMAT(&self->out_info) &&
                self->in_info.width == self->out_info.width &&
                self->in_info.height == self->out_info.height;
        }
    }
    gst_base_transform_set_passthrough(transform, passes);
    GstClockTime latency = 0;
    if (!passes && !self->views && self->in_info.fps_n > 0)
        latency = gst_util_uint64_scale((self->depth - 1) * GST_SECOND,
                                        (guint64)self->in_info.fps_d, (guint64)self->in_info.fps_n);
    GST_OBJECT_LOCK(self);
    gboolean other = latency != self->latency;
    self->latency = latency;
    GST_OBJECT_UNLOCK(self);
    if (other)
        gst_element_post_message(GST_ELEMENT(self), gst_message_new_latency(GST_OBJECT(self)));
    return result;
}

static void drain(GstSluice *self);

static gboolean set_caps(GstBaseTransform *transform, GstCaps *in_caps, GstCaps *out_caps)
{
    GstSluice *self = GST_SLUICE(transform);
    GstVideoFilter *filter = GST_VIDEO_FILTER(transform);
    struct sluice_error error = SLUICE_INIT(error);
    drain(self);
    self->configured = FALSE;
    if (!caps_info(in_caps, &self->in_info) || !caps_info(out_caps, &self->out_info))
        return FALSE;
    self->mosaic = caps_mosaic(in_caps);
    int status = configure(self, &error);
    while (status == SLUICE_E_DEVICE && fall_back(self, &error))
        status = configure(self, &error);
    if (status != 0 && status != SLUICE_E_DEVICE) {
        char *text = get_text(self);
        post_error(self, &error, text);
        g_free(text);
    }
    if (status == 0) {
        filter->in_info = self->in_info;
        filter->out_info = self->out_info;
        filter->negotiated = self->configured = TRUE;
    }
    return status == 0;
}

/* ---- caps ---- */

static GstCaps *transform_caps(GstBaseTransform *transform, GstPadDirection direction,
                               GstCaps *caps, GstCaps *filter)
{
    struct rules *rules = get_rules(GST_SLUICE(transform));
    GstCaps *other = rules ? rules_transform(rules, direction, caps) : gst_caps_copy(caps);
    rules_unref(rules);
    if (filter) {
        GstCaps *common = gst_caps_intersect_full(filter, other, GST_CAPS_INTERSECT_FIRST);
        gst_caps_unref(other);
        other = common;
    }
    return other;
}

/* Takes all that it can read: what the chain makes of it is found out, and told, by take_caps. */
static gboolean accept_caps(GstBaseTransform *transform, GstPadDirection direction, GstCaps *caps)
{
    if (direction == GST_PAD_SINK) {
        GstCaps *all = gst_static_pad_template_get_caps(&sink_template);
        gboolean good = gst_caps_can_intersect(all, caps);
        gst_caps_unref(all);
        return good;
    }
    return GST_BASE_TRANSFORM_CLASS(gst_sluice_parent_class)
        ->accept_caps(transform, direction, caps);
}

/* Says once why caps that are asked for cannot be: else all that is told is that two elements could
 * not agree. */
static void explain_caps(GstSluice *self, const GstCaps *wanted)
{
    struct sluice_error error = SLUICE_INIT(error);
    struct rules *rules = get_rules(self);
    GstCaps *fixed = gst_caps_fixate(gst_caps_truncate(gst_caps_copy(wanted)));
    GstVideoInfo in, out;
    GST_OBJECT_LOCK(self);
    gboolean tell = !self->explained && self->started;
    GST_OBJECT_UNLOCK(self);
    if (tell && rules && gst_caps_is_fixed(fixed) && caps_info(fixed, &in) &&
        rules_result(rules, caps_mosaic(fixed), &in, &out, &error) != 0) {
        char *chain = get_text(self), *text = message_of(&error, chain);
        GST_OBJECT_LOCK(self);
        self->explained = TRUE;
        GST_OBJECT_UNLOCK(self);
        GST_ELEMENT_WARNING(self, STREAM, FORMAT, ("%s", text),
                            ("chain=%s does not take %s", chain, GST_VIDEO_INFO_NAME(&in)));
        g_free(chain);
        g_free(text);
    }
    gst_caps_unref(fixed);
    rules_unref(rules);
}

static gboolean query(GstBaseTransform *transform, GstPadDirection direction, GstQuery *query)
{
    GstSluice *self = GST_SLUICE(transform);
    if (direction == GST_PAD_SINK && GST_QUERY_IS_SERIALIZED(query))
        drain(self);
    gboolean good =
        GST_BASE_TRANSFORM_CLASS(gst_sluice_parent_class)->query(transform, direction, query);
    if (good && GST_QUERY_TYPE(query) == GST_QUERY_CAPS && direction == GST_PAD_SINK) {
        GstCaps *filter, *found;
        gst_query_parse_caps(query, &filter);
        gst_query_parse_caps_result(query, &found);
        if (filter && found && gst_caps_is_empty(found) && !gst_caps_is_empty(filter) &&
            !gst_caps_is_any(filter))
            explain_caps(self, filter);
    }
    if (good && GST_QUERY_TYPE(query) == GST_QUERY_LATENCY && direction == GST_PAD_SRC) {
        GstClockTime min, max;
        gboolean live;
        gst_query_parse_latency(query, &live, &min, &max);
        GST_OBJECT_LOCK(self);
        min += self->latency;
        if (GST_CLOCK_TIME_IS_VALID(max))
            max += self->latency;
        GST_OBJECT_UNLOCK(self);
        gst_query_set_latency(query, live, min, max);
    }
    return good;
}

/* ---- buffers ---- */

/* Wants rows wherever they lie, and enough buffers that a source need not wait for one. */
static gboolean propose_allocation(GstBaseTransform *transform, GstQuery *decided, GstQuery *query)
{
    GstSluice *self = GST_SLUICE(transform);
    GstVideoInfo info;
    gboolean need_pool;
    GstCaps *caps;
    if (!decided) /* passes buffers through */
        return GST_BASE_TRANSFORM_CLASS(gst_sluice_parent_class)
            ->propose_allocation(transform, decided, query);
    gst_query_parse_allocation(query, &caps, &need_pool);
    if (!caps || !caps_info(caps, &info))
        return FALSE;
    guint least = MAX(N_BUFFERS, self->depth + 2);
    GstBufferPool *pool = NULL;
    if (need_pool) {
        pool = gst_video_buffer_pool_new();
        GstStructure *config = gst_buffer_pool_get_config(pool);
        gst_buffer_pool_config_set_params(config, caps, (guint)info.size, least, 0);
        gst_buffer_pool_config_add_option(config, GST_BUFFER_POOL_OPTION_VIDEO_META);
        if (!gst_buffer_pool_set_config(pool, config))
            g_clear_object(&pool);
    }
    gst_query_add_allocation_pool(query, pool, (guint)info.size, least, 0);
    gst_clear_object(&pool);
    gst_query_add_allocation_meta(query, GST_VIDEO_META_API_TYPE, NULL);
    return TRUE;
}

/* Frames in flight hold results' buffers: what is behind is asked for as many more, and if it has
 * not as many, fewer frames are begun. */
static gboolean decide_allocation(GstBaseTransform *transform, GstQuery *query)
{
    GstSluice *self = GST_SLUICE(transform);
    self->takes_meta = gst_query_find_allocation_meta(query, GST_VIDEO_META_API_TYPE, NULL);
    self->room = self->depth;
    if (gst_query_get_n_allocation_pools(query) > 0) {
        GstBufferPool *pool;
        guint size, least, most;
        gst_query_parse_nth_allocation_pool(query, 0, &pool, &size, &least, &most);
        if (most > 0)
            self->room = CLAMP(most - MIN(least, most), 1, self->depth);
        least += self->room - 1;
        gst_query_set_nth_allocation_pool(query, 0, pool, size, most ? MIN(least, most) : least,
                                          most);
        gst_clear_object(&pool);
    }
    return GST_BASE_TRANSFORM_CLASS(gst_sluice_parent_class)->decide_allocation(transform, query);
}

static gboolean transform_size(GstBaseTransform *transform, GstPadDirection direction,
                               GstCaps *caps, gsize size, GstCaps *other, gsize *other_size)
{
    GstVideoInfo info;
    gboolean good = caps_info(other, &info);
    *other_size = good ? info.size : 0;
    return good;
}

/* What is told of pictures in general holds for the result, too; not what tells of places, sizes,
 * colours or memory. */
static gboolean transform_meta(GstBaseTransform *transform, GstBuffer *out, GstMeta *meta,
                               GstBuffer *in)
{
    const char *const *tags = gst_meta_api_type_get_tags(meta->info->api);
    for (guint i = 0; tags && tags[i]; i++)
        if (!g_str_equal(tags[i], GST_META_TAG_VIDEO_STR))
            return FALSE;
    return TRUE;
}

/* ---- frames ---- */

static void tell_refusal(GstSluice *self, const struct sluice_error *error, const char *what,
                         gboolean *refused)
{
    if (error->code == 0 || *refused)
        return;
    *refused = TRUE;
    GST_ELEMENT_INFO(self, RESOURCE, SETTINGS, ("%s", error->message),
                     ("dma-bufs of %s are mapped, and not imported", what));
}

static void close_begun(struct begun *begun)
{
    sluice_plan_unref(&begun->plan);
    side_close(&begun->in);
    side_close(&begun->out);
}

/* Opens both buffers, which it takes over, and finds their plan. */
static int open_begun(GstSluice *self, struct begun *begun, GstBuffer *in, GstBuffer *out,
                      struct sluice_error *error)
{
    struct sluice_error in_error = SLUICE_INIT(in_error), out_error = SLUICE_INIT(out_error);
    unsigned flags = 0;
    begun->plan = NULL;
    begun->run = NULL;
    begun->out = (struct side){.buffer = out};
    if (!side_open(&begun->in, in, &self->in_info, self->device, SLUICE_READ,
                   self->in_refused ? NULL : &in_error, error)) {
        gst_clear_buffer(&begun->out.buffer);
        return error->code;
    }
    tell_refusal(self, &in_error, "the input", &self->in_refused);
    if (!side_open(&begun->out, out, &self->out_info, self->device, SLUICE_WRITE,
                   self->out_refused ? NULL : &out_error, error)) {
        side_close(&begun->in);
        return error->code;
    }
    tell_refusal(self, &out_error, "results", &self->out_refused);
    flags |= begun->in.imported ? SLUICE_IMPORT_IN : 0;
    flags |= begun->out.imported ? SLUICE_IMPORT_OUT : 0;
    struct sluice_plan *plan = find_plan(self, &begun->in.layout, &begun->out.layout, flags, error);
    if (!plan) {
        close_begun(begun);
        return error->code;
    }
    begun->plan = sluice_plan_ref(plan);
    begun->device = self->device;
    return 0;
}

/* Counts a frame that is done. */
static void count(GstSluice *self, const struct begun *begun, const struct sluice_times *times)
{
    GST_OBJECT_LOCK(self);
    self->frames++;
    if (begun) {
        self->imported += begun->in.imported;
        self->bytes_copied += times->bytes_copied + begun->in.merged + begun->out.merged;
        self->times[self->n_times++ % N_TIMES] = times->kernels;
    }
    GST_OBJECT_UNLOCK(self);
}

/* Computes a frame again on the fallback; its buffers are still there. */
static int again(GstSluice *self, struct begun *begun, struct sluice_times *times,
                 struct sluice_error *error)
{
    GstBuffer *in = side_take(&begun->in), *out = side_take(&begun->out);
    close_begun(begun);
    int result = open_begun(self, begun, in, out, error);
    return result ? result
                  : sluice_process(begun->plan, begun->in.memory, begun->out.memory, times, error);
}

/* Ends the oldest frame; *buffer becomes its result. */
static GstFlowReturn end_oldest(GstSluice *self, GstBuffer **buffer)
{
    struct sluice_error error = SLUICE_INIT(error);
    struct sluice_times times = SLUICE_INIT(times);
    struct begun *begun = &self->begun[self->first];
    self->first = (self->first + 1) % IN_FLIGHT_MAX;
    self->n_begun--;
    int result = sluice_wait(&begun->run, &times, &error);
    /* After an earlier frame's failure the device is another one already. */
    if (result == SLUICE_E_DEVICE && (begun->device != self->device || fall_back(self, &error)))
        result = again(self, begun, &times, &error);
    else if (result != 0 && result != SLUICE_E_DEVICE)
        post_error(self, &error, NULL);
    *buffer = NULL;
    if (result == 0) {
        count(self, begun, &times);
        *buffer = side_take(&begun->out);
    }
    close_begun(begun);
    return result == 0 ? GST_FLOW_OK : GST_FLOW_ERROR;
}

/* Pushes all that was begun. */
static void drain(GstSluice *self)
{
    while (self->n_begun > 0) {
        GstBuffer *buffer;
        if (end_oldest(self, &buffer) == GST_FLOW_OK)
            gst_pad_push(GST_BASE_TRANSFORM_SRC_PAD(self), buffer);
    }
}

/* Ends what was begun, for nobody. */
static void drop(GstSluice *self)
{
    while (self->n_begun > 0) {
        struct begun *begun = &self->begun[self->first];
        self->first = (self->first + 1) % IN_FLIGHT_MAX;
        self->n_begun--;
        sluice_wait(&begun->run, NULL, NULL);
        close_begun(begun);
    }
}

/* The result is in the input's memory: passes that on, and says where. NULL, with the error: it
 * cannot be said. */
static GstBuffer *make_view(GstSluice *self, GstBuffer *in, struct sluice_error *error)
{
    struct sluice_plane in_plane, plane;
    struct sluice_layout layout, view = {.size = sizeof view, .planes = &plane, .n_planes = 1};
    if (!side_places(in, &self->in_info, &layout, &in_plane, error))
        return NULL;
    struct sluice_plan *plan = find_plan(self, &layout, NULL, 0, error);
    if (!plan || sluice_plan_view(plan, &view, error) != 0)
        return NULL;
    gsize offset[GST_VIDEO_MAX_PLANES] = {plane.offset};
    gint stride[GST_VIDEO_MAX_PLANES] = {(gint)plane.stride};
    GstBuffer *out = gst_buffer_new();
    gst_buffer_copy_into(
        out, in, GST_BUFFER_COPY_FLAGS | GST_BUFFER_COPY_TIMESTAMPS | GST_BUFFER_COPY_MEMORY, 0,
        (gsize)-1);
    gst_buffer_add_video_meta_full(
        out, GST_VIDEO_FRAME_FLAG_NONE, GST_VIDEO_INFO_FORMAT(&self->out_info),
        (guint)self->out_info.width, (guint)self->out_info.height, 1, offset, stride);
    gst_buffer_add_parent_buffer_meta(out, in); /* its pool has to wait */
    count(self, NULL, NULL);
    return out;
}

/* Begins a frame; takes over `in`. */
static GstFlowReturn begin(GstSluice *self, GstBuffer *in, struct sluice_error *error)
{
    GstBaseTransform *transform = GST_BASE_TRANSFORM(self);
    struct begun *begun = &self->begun[(self->first + self->n_begun) % IN_FLIGHT_MAX];
    GstBuffer *out = NULL;
    int result;
    do {
        GstFlowReturn flow =
            GST_BASE_TRANSFORM_GET_CLASS(transform)->prepare_output_buffer(transform, in, &out);
        if (flow != GST_FLOW_OK || !out) {
            gst_buffer_unref(in);
            return flow;
        }
        result = open_begun(self, begun, gst_buffer_ref(in), out, error);
        if (result == 0) {
            result =
                sluice_start(&begun->run, begun->plan, begun->in.memory, begun->out.memory, error);
            if (result != 0)
                close_begun(begun);
        }
    } while (result == SLUICE_E_DEVICE && fall_back(self, error));
    gst_buffer_unref(in);
    if (result == 0) {
        self->n_begun++;
        return GST_FLOW_OK;
    }
    if (result != SLUICE_E_DEVICE)
        post_error(self, error, NULL);
    return GST_FLOW_ERROR;
}

static GstFlowReturn generate_output(GstBaseTransform *transform, GstBuffer **buffer)
{
    GstSluice *self = GST_SLUICE(transform);
    struct sluice_error error = SLUICE_INIT(error);
    GstFlowReturn flow = GST_FLOW_OK;
    GstBuffer *in = transform->queued_buf;
    transform->queued_buf = NULL;
    *buffer = NULL;
    if (!in)
        return GST_FLOW_OK;
    if (gst_base_transform_is_passthrough(transform)) {
        count(self, NULL, NULL);
        *buffer = in;
        return GST_FLOW_OK;
    }
    if (!self->configured) {
        gst_buffer_unref(in);
        return GST_FLOW_NOT_NEGOTIATED;
    }
    if (self->views && self->takes_meta) {
        *buffer = make_view(self, in, &error);
        gst_buffer_unref(in);
        if (!*buffer)
            post_error(self, &error, NULL);
        return *buffer ? GST_FLOW_OK : GST_FLOW_ERROR;
    }
    flow = begin(self, in, &error);
    if (flow == GST_FLOW_OK && self->n_begun >= MAX(self->room, 1))
        flow = end_oldest(self, buffer);
    return flow;
}

/* ---- the stream ---- */

/* Whether frames as they come can go through a chain, and what is behind takes what comes out;
 * *same becomes whether that is as before. */
static int check_chain(GstSluice *self, struct rules *rules, GstCaps *in_caps, gboolean *same,
                       struct sluice_error *error)
{
    GstPad *pad = GST_BASE_TRANSFORM_SRC_PAD(self);
    GstVideoInfo in, out;
    if (!caps_info(in_caps, &in))
        return 0; /* what comes is told elsewhere */
    int result = rules_result(rules, caps_mosaic(in_caps), &in, &out, error);
    if (result != 0)
        return result;
    GstCaps *caps = rules_transform(rules, GST_PAD_SINK, in_caps);
    GstCaps *taken = gst_pad_peer_query_caps(pad, caps), *before = gst_pad_get_current_caps(pad);
    *same = before && gst_caps_can_intersect(before, caps);
    if (!gst_caps_can_intersect(taken, caps)) {
        char *text = gst_caps_to_string(caps);
        result = error->code = SLUICE_E_SHAPE;
        error->position = -1;
        g_snprintf(error->message, sizeof error->message,
                   "what comes out of the chain is not taken by what is behind: %s", text);
        g_free(text);
    }
    gst_caps_unref(caps);
    gst_caps_unref(taken);
    gst_clear_caps(&before);
    return result;
}

static void swap_chain(GstSluice *self, struct rules *rules)
{
    GST_OBJECT_LOCK(self);
    rules_unref(self->rules);
    self->rules = rules_ref(rules);
    self->explained = FALSE;
    g_free(self->chain_text);
    self->chain_text = g_strdup(rules_text(rules));
    GST_OBJECT_UNLOCK(self);
}

/* Takes the chain that was set, before the next frame (`coming` NULL), or with the caps that come;
 * or says why the one before it stays. */
static void take_chain(GstSluice *self, GstCaps *coming)
{
    GstBaseTransform *transform = GST_BASE_TRANSFORM(self);
    struct sluice_error error = SLUICE_INIT(error);
    GST_OBJECT_LOCK(self);
    struct rules *next = g_steal_pointer(&self->next);
    GST_OBJECT_UNLOCK(self);
    if (!next)
        return;
    struct rules *old = get_rules(self);
    GstCaps *caps = gst_pad_get_current_caps(transform->sinkpad);
    gboolean is_here = !coming || (caps && gst_caps_is_equal(coming, caps)), same = FALSE;
    gboolean passed = gst_base_transform_is_passthrough(transform), viewed = self->views;
    int result = 0;
    if (!is_here || (caps && self->configured))
        result = check_chain(self, next, is_here ? caps : coming, &same, &error);
    if (result == 0) {
        drain(self);
        swap_chain(self, next);
        if (is_here && same && (result = configure(self, &error)) != 0) {
            struct sluice_error again = SLUICE_INIT(again);
            swap_chain(self, old);
            configure(self, &again);
        } else if (is_here && (!same || viewed != self->views ||
                               passed != gst_base_transform_is_passthrough(transform))) {
            gst_base_transform_reconfigure_src(transform);
        }
    }
    if (result != 0)
        warn_chain(self, &error, rules_text(next));
    gst_clear_caps(&caps);
    rules_unref(old);
    rules_unref(next);
}

/* Frames of caps that are coming: if the chain does not take them, this says why. */
static gboolean take_caps(GstSluice *self, GstEvent *event)
{
    struct sluice_error error = SLUICE_INIT(error);
    GstVideoInfo in, out;
    GstCaps *caps;
    gst_event_parse_caps(event, &caps);
    take_chain(self, caps);
    struct rules *rules = get_rules(self);
    int result =
        caps_info(caps, &in) ? rules_result(rules, caps_mosaic(caps), &in, &out, &error) : 0;
    rules_unref(rules);
    gboolean is_told = self->refused && gst_caps_is_equal(self->refused, caps);
    if (result != 0 && !is_told) { /* who pushes on sends the same caps again */
        char *text = get_text(self);
        post_error(self, &error, text);
        g_free(text);
    }
    gst_caps_replace(&self->refused, result ? caps : NULL);
    return result == 0;
}

static GstFlowReturn submit_input_buffer(GstBaseTransform *transform, gboolean is_discont,
                                         GstBuffer *input)
{
    GstSluice *self = GST_SLUICE(transform);
    take_chain(self, NULL);
    GstFlowReturn flow = GST_BASE_TRANSFORM_CLASS(gst_sluice_parent_class)
                             ->submit_input_buffer(transform, is_discont, input);
    if (flow == GST_BASE_TRANSFORM_FLOW_DROPPED) {
        GST_OBJECT_LOCK(self);
        self->dropped++;
        GST_OBJECT_UNLOCK(self);
    }
    return flow;
}

static gboolean sink_event(GstBaseTransform *transform, GstEvent *event)
{
    GstSluice *self = GST_SLUICE(transform);
    if (GST_EVENT_TYPE(event) == GST_EVENT_FLUSH_STOP)
        drop(self);
    else if (GST_EVENT_IS_SERIALIZED(event))
        drain(self);
    if (GST_EVENT_TYPE(event) == GST_EVENT_CAPS && !take_caps(self, event)) {
        gst_event_unref(event);
        return FALSE;
    }
    return GST_BASE_TRANSFORM_CLASS(gst_sluice_parent_class)->sink_event(transform, event);
}

static gboolean stop(GstBaseTransform *transform)
{
    GstSluice *self = GST_SLUICE(transform);
    drop(self);
    forget_plans(self);
    sluice_device_unref(&self->device);
    self->configured = FALSE;
    gst_clear_caps(&self->refused);
    GST_OBJECT_LOCK(self);
    self->started = FALSE;
    if (self->next) { /* no frame came for it */
        rules_unref(self->rules);
        self->rules = g_steal_pointer(&self->next);
        g_free(self->chain_text);
        self->chain_text = g_strdup(rules_text(self->rules));
    }
    GST_OBJECT_UNLOCK(self);
    return TRUE;
}

/* ---- the class ---- */

static void finalize(GObject *object)
{
    GstSluice *self = GST_SLUICE(object);
    rules_unref(self->rules);
    rules_unref(self->next);
    sluice_definitions_unref(&self->definitions);
    g_free(self->chain_text);
    g_free(self->config);
    g_free(self->select);
    g_free(self->fallback);
    g_free(self->device_name);
    G_OBJECT_CLASS(gst_sluice_parent_class)->finalize(object);
}

static void gst_sluice_init(GstSluice *self)
{
    set_chain(self, "");
    self->select = g_strdup("auto");
    self->fallback = g_strdup("native");
}

static void gst_sluice_class_init(GstSluiceClass *class)
{
    GObjectClass *object = G_OBJECT_CLASS(class);
    GstElementClass *element = GST_ELEMENT_CLASS(class);
    GstBaseTransformClass *transform = GST_BASE_TRANSFORM_CLASS(class);
    const GParamFlags flags = G_PARAM_READWRITE | G_PARAM_STATIC_STRINGS;
    const GParamFlags before = flags | GST_PARAM_MUTABLE_READY;

    object->set_property = set_property;
    object->get_property = get_property;
    object->finalize = finalize;
    g_object_class_install_property(
        object, PROPERTY_CHAIN,
        g_param_spec_string(
            "chain", "Chain",
            "The stages that frames go through: \"luminance,sobel:scale=1\", \"resize:w=640,"
            "gauss:sigma=2\" (\"sluice stages\" lists them, sluice-chain(7) has the syntax). "
            "Empty: frames pass through as they are. A chain that is set while frames flow is "
            "taken "
            "from the next frame on; if it is wrong, a warning says where, and the old one stays",
            "", flags | GST_PARAM_MUTABLE_PLAYING));
    g_object_class_install_property(
        object, PROPERTY_CONFIG,
        g_param_spec_string(
            "config", "Configuration",
            "A configuration file (sluice.yaml(5)), whose kernels and banks are "
            "what @names in the chain mean: \"fir:@soft\"; none: there are no names",
            NULL, before));
    g_object_class_install_property(
        object, PROPERTY_DEVICE,
        g_param_spec_string(
            "device", "Device",
            "Where the chain runs: auto (the best there is), native (the processor), gpu, cpu "
            "(OpenCL on the processor), reference (plain C, slow), or a part of a device's name "
            "(\"sluice devices\" lists them)",
            "auto", before));
    g_object_class_install_property(
        object, PROPERTY_THREADS,
        g_param_spec_uint("threads", "Threads",
                          "Threads of the device native, the streaming thread included; 0: one for "
                          "each processor",
                          0, 1024, 0, before));
    g_object_class_install_property(
        object, PROPERTY_IN_FLIGHT,
        g_param_spec_uint("in-flight", "Frames in flight",
                          "Frames that are begun before the first is waited for, each of which "
                          "delays the stream by one frame; 0: as the device has it, 1 on native, "
                          "2 on GPUs",
                          0, IN_FLIGHT_MAX, 0, before));
    g_object_class_install_property(
        object, PROPERTY_FALLBACK,
        g_param_spec_string("fallback", "Fallback",
                            "The device that does the work when the chosen one is not there or "
                            "fails: native, cpu, reference, or none to end with an error",
                            "native", before));
    g_object_class_install_property(
        object, PROPERTY_STATS,
        g_param_spec_boxed(
            "stats", "Statistics",
            "Since the start: frames, dropped (by QoS), bytes-copied (by the processor; 0 is "
            "usual), imported (frames read from dma-bufs in place), kernel-p50 and kernel-p99 "
            "(nanoseconds that the kernels of a frame took, of the last 1024), device",
            GST_TYPE_STRUCTURE, G_PARAM_READABLE | G_PARAM_STATIC_STRINGS));

    gst_element_class_add_static_pad_template(element, &sink_template);
    gst_element_class_add_static_pad_template(element, &src_template);
    gst_element_class_set_static_metadata(
        element, "Chains of filters", "Filter/Effect/Converter/Video",
        "Filters video through a chain of kernels, on the processor or on a GPU with OpenCL: grey, "
        "edges, blurs, thresholds, sizes, tones and more, from camera formats in one pass and "
        "without a copy",
        "sluice maintainers <maintainers@sluice.example>");

    transform->start = start;
    transform->stop = stop;
    transform->transform_caps = transform_caps;
    transform->accept_caps = accept_caps;
    transform->set_caps = set_caps;
    transform->query = query;
    transform->propose_allocation = propose_allocation;
    transform->decide_allocation = decide_allocation;
    transform->transform_size = transform_size;
    transform->transform_meta = transform_meta;
    transform->submit_input_buffer = submit_input_buffer;
    transform->generate_output = generate_output;
    transform->sink_event = sink_event;
    transform->passthrough_on_same_caps = FALSE;
    transform->transform_ip_on_passthrough = FALSE;
}

static gboolean plugin_init(GstPlugin *plugin)
{
    GST_DEBUG_CATEGORY_INIT(sluice_debug, "sluice", 0, "sluice: chains of kernels");
    return gst_element_register(plugin, "sluice", GST_RANK_NONE, gst_sluice_get_type());
}

GST_PLUGIN_DEFINE(GST_VERSION_MAJOR, GST_VERSION_MINOR, sluice,
                  "video through chains of kernels, on the processor or on a GPU", plugin_init,
                  SLUICE_GST_VERSION, "Apache 2.0", "sluice", "https://sluice.example")
