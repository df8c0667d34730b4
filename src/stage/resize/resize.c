#include "stage/resize/resize.h"

#include <limits.h>

#include "base/ratio.h"
#include "stage/common.h"
#include "stage/stage.h"

static const struct param_choice fit_choices[] = {
    {"inside", RESIZE_INSIDE}, {"outside", RESIZE_OUTSIDE}, {"exact", RESIZE_EXACT},
    {"cover", RESIZE_COVER},   {"pad", RESIZE_PAD},         {NULL, 0},
};

/* Limit of a result's side, which also limits what is planned for each row and column. */
#define SIDE_MAX 1000000

static const struct param params[] = {
    PARAM(INTEGER, "w", offsetof(struct resize_config, w),
          "width in pixels; without it the height decides", RANGE(1, SIDE_MAX)),
    PARAM(INTEGER, "h", offsetof(struct resize_config, h),
          "height in pixels; without it the width decides", RANGE(1, SIDE_MAX)),
    PARAM(REAL, "by", offsetof(struct resize_config, by),
          "factor for both sides, in place of w and h: 0.5 halves them", RANGE(1e-6, 1000)),
    PARAM(CHOICE, "fit", offsetof(struct resize_config, fit),
          "inside and outside keep the picture's proportions, with no side above or below w and "
          "h; exact gives w by h; cover cuts what outside leaves over; pad fills what inside "
          "leaves free",
          .choices = fit_choices, DEFAULT("inside")),
    PARAM(CHOICE, "filter", offsetof(struct resize_config, filter),
          "how pixels are weighted; auto is lanczos3 where a side shrinks, bicubic where it "
          "grows",
          CHOICES({"auto", RESIZE_AUTO}, {"nearest", RESIZE_NEAREST}, {"area", RESIZE_AREA},
                  {"bilinear", RESIZE_BILINEAR}, {"bicubic", RESIZE_BICUBIC},
                  {"lanczos3", RESIZE_LANCZOS3}),
          DEFAULT("auto")),
    PARAM(FLAG, "enlarge", offsetof(struct resize_config, enlarge),
          "1 lets a picture smaller than w and h grow; fit=exact and by do so anyway",
          DEFAULT("0")),
    PARAM(REALS, "background", offsetof(struct resize_config, background),
          "what fit=pad fills with: one value, or one for each channel", DEFAULT("0")),
    PARAM(FLAG, "exact", offsetof(struct resize_config, exact),
          "1 decodes all of a JPEG, which is otherwise read at a half, a quarter or an eighth of "
          "its size where the result is at most half of that",
          DEFAULT("0")),
    {0},
};

static int complete(void *config_, param_given *given, struct fault *fault)
{
    struct resize_config *config = config_;
    bool needs_both =
        config->fit == RESIZE_EXACT || config->fit == RESIZE_COVER || config->fit == RESIZE_PAD;
    if (config->by > 0 && (config->w || config->h))
        return fault_set(fault, FAULT_CHAIN, "resize: give either by or %s, not both",
                         config->w ? "w" : "h");
    if (needs_both && !(config->w && config->h))
        return fault_set(fault, FAULT_CHAIN, "resize: fit=%s needs both w and h",
                         param_choice_name(fit_choices, config->fit));
    if (!config->w && !config->h && !(config->by > 0))
        return fault_set(fault, FAULT_CHAIN,
                         "resize: its size is missing: give w=W, h=H or by=FACTOR");
    return stage_check_background("resize", &config->background, fault);
}

/* v·p/q, rounded, halves up; at least 1. */
static uint64_t scaled(uint64_t v, uint64_t p, uint64_t q)
{
    unsigned __int128 twice = (unsigned __int128)2 * v * p + q;
    uint64_t result = (uint64_t)(twice / (2 * (unsigned __int128)q));
    return result ? result : 1;
}

/* The sides of the scaled picture, with the same factor p/q for both unless fit=exact. */
static void scale_sides(const struct resize_config *config, uint64_t width, uint64_t height,
                        uint64_t *to_width, uint64_t *to_height)
{
    uint64_t p = (uint64_t)config->w, q = width;
    if (config->by > 0) {
        struct ratio by = ratio_from_real(config->by);
        p = (uint64_t)by.p;
        q = (uint64_t)by.q;
    } else if (config->fit == RESIZE_EXACT) {
        *to_width = (uint64_t)config->w;
        *to_height = (uint64_t)config->h;
        return;
    } else {
        bool largest = config->fit == RESIZE_OUTSIDE || config->fit == RESIZE_COVER;
        uint64_t h = (uint64_t)config->h;
        if (!config->w || (h && (largest ? h * q > p * height : h * q < p * height))) {
            p = h;
            q = height;
        }
        if (p > q && !config->enlarge)
            p = q;
    }
    *to_width = scaled(width, p, q);
    *to_height = scaled(height, p, q);
}

/* Completes an axis that has what concerns the source. */
static void scale_axis(const struct resize_config *config, uint64_t to, int64_t wanted,
                       struct resize_axis *axis)
{
    axis->to = axis->count = (uint32_t)to;
    axis->filter = (enum resize_filter)config->filter;
    if (axis->filter == RESIZE_AUTO)
        axis->filter = to < axis->whole ? RESIZE_LANCZOS3 : RESIZE_BICUBIC;
    if (config->fit == RESIZE_COVER && to > (uint64_t)wanted) {
        axis->count = (uint32_t)wanted;
        axis->begin = (uint32_t)(to - (uint64_t)wanted) / 2;
    }
}

int resize_layout(const struct resize_config *config, const struct plane *plane,
                  struct resize_layout *layout, struct fault *fault)
{
    struct resize_axis x = {.from = plane->width, .unit = 1, .whole = plane->width};
    struct resize_axis y = {.from = plane->height, .unit = 1, .whole = plane->height};
    if (plane->reduced) {
        x.unit = y.unit = plane->reduced;
        x.whole = plane->whole_width;
        y.whole = plane->whole_height;
        x.lead = plane->whole_x;
        y.lead = plane->whole_y;
    }
    uint64_t width, height;
    scale_sides(config, x.whole, y.whole, &width, &height);
    if (width > SIDE_MAX || height > SIDE_MAX || width * height > INT_MAX)
        return fault_set(fault, FAULT_LIMIT,
                         "resize: %u×%u would become %llu×%llu; results have at most %d pixels a "
                         "side, and 2^31 in all",
                         plane->width, plane->height, (unsigned long long)width,
                         (unsigned long long)height, SIDE_MAX);
    scale_axis(config, width, config->w, &x);
    scale_axis(config, height, config->h, &y);
    *layout = (struct resize_layout){.x = x, .y = y};
    layout->width = layout->x.count;
    layout->height = layout->y.count;
    if (config->fit == RESIZE_PAD) {
        layout->width = (uint32_t)config->w;
        layout->height = (uint32_t)config->h;
        layout->left = (layout->width - layout->x.count) / 2;
        layout->top = (layout->height - layout->y.count) / 2;
    }
    return 0;
}

static int change(const void *config_, struct plane *plane, struct fault *fault)
{
    const struct resize_config *config = config_;
    struct resize_layout layout;
    double background[PLANE_CHANNELS_MAX];
    int result = resize_layout(config, plane, &layout, fault);
    if (result == 0 && config->fit == RESIZE_PAD)
        result = stage_background("resize", &config->background, plane, background, fault);
    if (result == 0 && !(resize_axis_moves(&layout.x) && resize_axis_moves(&layout.y)))
        result = stage_require_type("resize", plane->type,
                                    1u << SAMPLE_U8 | 1u << SAMPLE_U16 | 1u << SAMPLE_F32, fault);
    if (result != 0)
        return result;
    plane->width = layout.width;
    plane->height = layout.height;
    plane->reduced = plane->whole_width = plane->whole_height = plane->whole_x = plane->whole_y = 0;
    return 0;
}

/* Samples of a reduced picture beyond twice those of the scaled one. */
#define SOURCE_MORE 8

/* A decoder may give half, a quarter or an eighth of the picture if that is still at least twice as
 * large as the scaled one, which is enough for the filter, and a little more: small results would
 * show that the outermost sample's content is known only as a mean. (docs/stages/resize.md has how
 * far results are from those of the whole picture.) */
static bool source(const void *config_, const struct plane *whole, struct stage_source *source)
{
    const struct resize_config *config = config_;
    struct resize_layout layout;
    if (config->exact || resize_layout(config, whole, &layout, NULL) != 0)
        return false;
    for (uint32_t n = 8; n > 1 && source->reduce == 1; n /= 2)
        if ((whole->width + n - 1) / n >= 2 * (uint64_t)layout.x.to + SOURCE_MORE &&
            (whole->height + n - 1) / n >= 2 * (uint64_t)layout.y.to + SOURCE_MORE)
            source->reduce = n;
    return false;
}

/* The order in which f32 without alpha is summed is not part of the definition. */
const struct stage stage_resize = {
    .name = "resize",
    .chains = (const char *const[]){"resize:w=1", "resize:w=1:filter=nearest", NULL},
    .summary = "smaller or larger: weighted means of the pixels around each place",
    .params = params,
    .config_size = sizeof(struct resize_config),
    .complete = complete,
    .change = change,
    .passes = resize_passes,
    .source = source,
    .reference = resize_reference,
    .floats = &(const struct tolerance){1e-3, 1e-5},
    .bench = "resize:by=0.25",
};
