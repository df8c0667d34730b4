#include "stage/sobel/sobel.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/ratio.h"
#include "stage/common.h"
#include "stage/packed.h"
#include "stage/window.h"

static const struct param_choice out_choices[] = {
    {"magnitude", SOBEL_MAGNITUDE}, {"l1", SOBEL_L1},         {"dx", SOBEL_DX}, {"dy", SOBEL_DY},
    {"both", SOBEL_BOTH},           {"sample", SOBEL_SAMPLE}, {NULL, 0},
};

static const struct param params[] = {
    PARAM(CHOICE, "out", offsetof(struct sobel_config, out),
          "the gradient's length (magnitude), the sum of its parts (l1), its parts divided by 8 "
          "(dx, dy, both), or the picture of Arm's sample",
          .choices = out_choices, DEFAULT("magnitude")),
    PARAM(REAL, "scale", offsetof(struct sobel_config, scale), "factor of magnitude and l1",
          RANGE(0.001, 1000), DEFAULT("0.125")),
    STAGE_BORDER_PARAM(offsetof(struct sobel_config, border)),
    {0},
};

static bool is_signed_gradient(const struct sobel_config *config)
{
    return config->out == SOBEL_DX || config->out == SOBEL_DY || config->out == SOBEL_BOTH;
}

static int add_planes(const struct sobel_config *config, struct plane plane, size_t alignment,
                      struct frame *out, struct fault *fault)
{
    static const char *const parts[] = {"dx", "dy"};
    char name[PLANE_NAME_MAX];
    int result = 0;
    memcpy(name, plane.name, sizeof name);
    for (int i = 0; i < (config->out == SOBEL_BOTH ? 2 : 1) && result == 0; i++) {
        if (config->out == SOBEL_BOTH)
            snprintf(plane.name, sizeof plane.name, "%.24s%s%s", name, name[0] ? "." : "",
                     parts[i]);
        result = stage_add_plane(out, &plane, alignment, fault);
    }
    return result;
}

static int shape(const void *config_, const struct frame *in, size_t alignment, struct frame *out,
                 struct fault *fault)
{
    const struct sobel_config *config = config_;
    unsigned types = 1u << SAMPLE_U8 | 1u << SAMPLE_I8 | 1u << SAMPLE_U16 | 1u << SAMPLE_I16;
    if (config->out != SOBEL_SAMPLE)
        types |= 1u << SAMPLE_F32;
    int result = stage_require_types(config->out == SOBEL_SAMPLE ? "sobel:out=sample" : "sobel", in,
                                     types, fault);
    for (size_t i = 0; i < in->n_planes && result == 0; i++) {
        struct plane plane = in->planes[i];
        result = stage_window_size("sobel", config->border, 3, 3, &plane, fault);
        if (result != 0)
            break;
        if (is_signed_gradient(config)) {
            plane.type = plane.type == SAMPLE_U8    ? SAMPLE_I8
                         : plane.type == SAMPLE_U16 ? SAMPLE_I16
                                                    : plane.type;
            plane.channels -= plane_has_alpha(&plane);
        }
        result = add_planes(config, plane, alignment, out, fault);
    }
    return result;
}

/* limits[m] is the least whole n = dX² + dY² with scale·sqrt(n) + 1/2 >= m, or for l1 the least
 * n = |dX| + |dY|: ceil(((2m−1)/(2·scale))²), without the square. Modulo 2^32 (see
 * cl/sobel/sobel.cl). */
static unsigned add_limits(struct stage_plan *plan, const struct sobel_config *config,
                           uint32_t largest)
{
    struct ratio s = ratio_from_real(config->scale);
    uint32_t *limits = calloc(largest + 3, sizeof *limits);
    if (!limits) {
        plan->out_of_memory = true;
        return OPERAND_IN;
    }
    for (uint32_t m = 1; m < largest + 3; m++) {
        unsigned __int128 numerator = (unsigned __int128)(2 * m - 1) * (uint64_t)s.q;
        unsigned __int128 denominator = 2 * (unsigned __int128)s.p;
        if (config->out == SOBEL_MAGNITUDE) {
            numerator *= numerator;
            denominator *= denominator;
        }
        limits[m] = (uint32_t)((numerator + denominator - 1) / denominator);
    }
    unsigned table = stage_plan_table(plan, limits, (largest + 3) * sizeof *limits);
    free(limits);
    return table;
}

static bool is_length(const struct sobel_config *config)
{
    return config->out == SOBEL_MAGNITUDE || config->out == SOBEL_L1;
}

/* Whether lengths are multiplied with a power of two, 2^-*k, for which no table is needed. Those
 * above 16 would make lengths of bytes exceed 16 bits (cl/sobel/sobel_pairs.cl). */
static bool scale_is_power(const struct sobel_config *config, int *k)
{
    int exponent;
    bool power = frexp(config->scale, &exponent) == 0.5 && config->scale <= 16;
    *k = 1 - exponent;
    return power && is_length(config);
}

/* What is added so that no result of bytes lies near a half before it is rounded to the nearest
 * whole number; halves go up. To dX² + dY² for the magnitude: the middle between (2^(k−1)·(2m−1))²,
 * the least whose result is m, and the largest sum of two squares below it; or, where that least
 * sum is no whole number, half of what lacks at least. To the scaled sum for l1, which is a
 * multiple of 2^-k: half of that, at most a quarter. */
static float lift(const struct sobel_config *config, int k)
{
    if (config->out == SOBEL_L1)
        return k > 0 ? ldexpf(0.5f, -k) : 0.25f;
    return k > 0 ? 0.5f * (float)(k < 3 ? k : 3) : ldexpf(0.125f, 2 * k);
}

/* Adds the arguments for powers of two: scale
 * and lift for the magnitude of bytes; two shifts and what is added between for l1; and for other
 * magnitudes scale, and m·(m−1) shifted left by the first, right by the second, and plus the third
 * is the least dX² + dY² whose result is m: ceil((2m−1)²·4^(k−1)). */
static void add_power(const struct sobel_config *config, struct pass *pass, const struct plane *in,
                      int k)
{
    uint32_t up = k > 0 ? (uint32_t)k : 0, down = k < 0 ? (uint32_t)-k : 0;
    if (config->out == SOBEL_MAGNITUDE) {
        pass_float(pass, (float)config->scale);
        if (sample_size(in->type) == 1) {
            pass_float(pass, lift(config, k));
            pass_numbers(pass, "float scale, float lift", "scale, lift");
            return;
        }
        pass_uint(pass, 2 * up);
        pass_uint(pass, 2 * down);
        pass_uint(pass, k > 0 ? 1u << 2 * (k - 1) : 1);
        pass_numbers(pass, "float scale, uint up, uint down, uint more", "scale, up, down, more");
    } else {
        pass_uint(pass, down);
        pass_uint(pass, up);
        pass_uint(pass, k > 0 ? 1u << (k - 1) : 0);
        pass_numbers(pass, "uint up, uint down, uint half_of", "up, down, half_of");
    }
}

/* Whether the result depends on gradients only, in vectors: no table, and no alpha to leave out. */
static bool has_wide_rows(const struct sobel_config *config, const struct plane *in,
                          const struct plane *out)
{
    int k;
    return in->channels == out->channels &&
           (scale_is_power(config, &k) || !sample_is_integer(in->type) || !is_length(config));
}

/* The work for one plane. */
struct task {
    const struct sobel_config *config;
    struct stage_plan *plan;
    unsigned plane, first; /* indices of the source, and of the first plane that comes out */
    const struct plane *in, *out;
    const char *variant;
    enum kernel_form form;
};

static enum kernel_form choose_form(const struct task *task)
{
    struct device_profile profile = *task->plan->profile;
    if (profile.form == FORM_VECTOR &&
        (task->config->border == BORDER_CROP || !has_wide_rows(task->config, task->in, task->out)))
        profile.form = FORM_SCALAR;
    return pass_form_for(&profile, task->in, task->out);
}

/* The type in which gradients are computed. */
static const char *work_type(const struct device_profile *profile, enum sample_type type)
{
    if (!sample_is_integer(type))
        return "float";
    return sample_size(type) == 1 && profile->packs_shorts ? "short" : "int";
}

/* Adds the first arguments of each of its kernels (planes, size and border), and the bytes that
 * move. */
static void add_arguments(const struct task *task, struct pass *pass)
{
    const struct plane *in = task->in, *out = task->out;
    unsigned planes = task->config->out == SOBEL_BOTH ? 2 : 1;
    packed_outputs(pass, planes);
    pass->bytes_read = plane_bytes(in);
    pass->bytes_written = plane_bytes(out) * planes;
    pass_plane(pass, OPERAND_IN, task->plane);
    for (unsigned k = 0; k < planes; k++)
        pass_plane(pass, OPERAND_OUT, task->first + k);
    pass_ints(pass, in->width, in->height, task->config->border);
}

/* Whether the kernels for GPUs that compute several rows at a time, with two samples in a word or
 * in columns (sobel_packed.cl, sobel_columns.cl), can take plane and results. */
static bool suits_packed(const struct task *task)
{
    const struct stage_window reach = {1, 1, 1, 1, (enum border)task->config->border};
    int k = 0;
    bool sample = task->config->out == SOBEL_SAMPLE && task->plan->profile->packs_bytes;
    return task->form == FORM_VECTOR && task->in->type == SAMPLE_U8 && !sample &&
           (!is_length(task->config) || scale_is_power(task->config, &k)) &&
           packed_suits(task->plan->profile, task->in, task->out, &reach);
}

static void add_packed(const struct task *task)
{
    const struct sobel_config *config = task->config;
    const struct plane *in = task->in, *out = task->out;
    const struct stage_window reach = {1, 1, 1, 1, (enum border)config->border};
    int k = 0;
    scale_is_power(config, &k);
    char define[32];
    /* Results of `both` take more registers, and with two words a row more work-items run at once.
     * More code than this does not fit a multiprocessor's caches. */
    unsigned words = config->out == SOBEL_BOTH ? 2 : 4;
    static const struct packed_stage stage = {"sobel", "sobel_packed", "sobel_columns"};
    struct pass *pass = packed_begin(task->plan, &stage, in, &reach, words);
    snprintf(define, sizeof define, "KERNEL_%s", task->variant);
    pass_name(pass, task->variant);
    pass_define(pass, define, "1");
    pass_define_type(pass, "DST", out->type);
    pass->goes_on = true;
    pass->work *= 24;
    add_arguments(task, pass);
    if (is_length(config)) {
        if (config->scale > 0.125) /* others stay below 256 */
            pass_define(pass, "LIMITED", "1");
        pass_float(pass, (float)config->scale);
        pass_float(pass, lift(config, k));
        pass_numbers(pass, "float scale, float lift", "scale, lift");
    }
}

/* Vectors of at least 8 bytes, so that one access holds them and their neighbours
 * (cl/sobel/sobel.cl). */
static unsigned vector_length(const struct device_profile *profile, enum sample_type in,
                              enum sample_type out)
{
    unsigned length = pass_vector_length(profile, in, out), least = 8 / (unsigned)sample_size(in);
    return length < least ? least : length;
}

static void add_samples(const struct task *task)
{
    const struct sobel_config *config = task->config;
    struct stage_plan *plan = task->plan;
    const struct plane *in = task->in, *out = task->out;
    enum kernel_form form = task->form;
    int k;
    bool power = scale_is_power(config, &k) && sample_is_integer(in->type);
    unsigned span = form == FORM_VECTOR ? vector_length(plan->profile, in->type, out->type) : 0;
    unsigned limits = OPERAND_IN; /* not used by the kernel then */
    const struct stage_window reach = {1, 1, 1, 1, (enum border)config->border};
    uint32_t largest = sample_is_integer(out->type) ? (uint32_t)sample_max(out->type) : 0;
    if (is_length(config) && !power && largest > 0)
        limits = add_limits(plan, config, largest);

    bool wide = form == FORM_ROWS && has_wide_rows(config, in, out);
    struct pass *pass =
        pass_begin(plan, "sobel", "", form, span, out->width * out->channels, out->height);
    pass->goes_on = true;
    if (wide)
        pass->lanes = 16;
    char define[32];
    snprintf(define, sizeof define, "KERNEL_%s", task->variant);
    pass_name(pass, task->variant);
    if (limits != OPERAND_IN)
        pass_name(pass, "limits");
    pass_define(pass, define, "1");
    pass_define_type(pass, "SRC", in->type);
    pass_define(pass, "DST", "%s", pass_type_name(out->type));
    pass_define(pass, "DST_MAX", "%u", largest);
    pass_define(pass, "WORK", "%s", work_type(plan->profile, in->type));
    window_define(pass, &reach);
    pass_channels(pass, in->channels, out->channels);
    if (power)
        pass_define(pass, "SCALE_POWER", "1");
    if (form != FORM_VECTOR && plan->profile->exact_divide && sample_size(in->type) == 1)
        pass_define(pass, "EXACT_ROOT", "1");
    if (wide && power && in->type == SAMPLE_U8 && !plane_has_alpha(in) &&
        plan->profile->exact_divide)
        pass_define(pass, "PAIRS", "1");
    pass_name(pass, kernel_form_name(form));
    pass->work = 24;
    add_arguments(task, pass);
    pass_ints(pass, config->border == BORDER_CROP, config->border == BORDER_CROP, in->channels);
    if (power) {
        add_power(config, pass, in, k);
    } else if (!is_signed_gradient(config)) {
        pass_float(pass, (float)config->scale);
        pass_buffer(pass, limits);
        pass_numbers(pass, "float scale, __global const uint *restrict limits", "scale, limits");
    }
}

/* Which movement serves what: the first that suits. */
static const struct {
    bool (*suits)(const struct task *task); /* NULL: all that is left */
    void (*add)(const struct task *task);
} ways[] = {
    {suits_packed, add_packed}, /* walker: bytes on GPUs; words, or columns on Mali */
    {NULL, add_samples},        /* point, in every form */
};

static int passes(const void *config_, struct stage_plan *plan, struct fault *fault)
{
    const struct sobel_config *config = config_;
    for (unsigned i = 0, way; i < plan->in->n_planes; i++) {
        struct task task = {.config = config,
                            .plan = plan,
                            .plane = i,
                            .first = config->out == SOBEL_BOTH ? 2 * i : i,
                            .in = &plan->in->planes[i],
                            .variant = param_choice_name(out_choices, config->out)};
        task.out = &plan->out->planes[task.first];
        task.form = choose_form(&task);
        for (way = 0; ways[way].suits && !ways[way].suits(&task); way++)
            ;
        ways[way].add(&task);
    }
    return 0;
}

static bool window(const void *config_, struct stage_window *window)
{
    const struct sobel_config *config = config_;
    *window = (struct stage_window){1, 1, 1, 1, (enum border)config->border, .by_rows = true};
    return true;
}

const struct stage stage_sobel = {
    .name = "sobel",
    .chains = (const char *const[]){"sobel", "sobel:scale=3", "sobel:out=l1",
                                    "sobel:out=l1:scale=3", "sobel:out=sample", "sobel:out=dx",
                                    "sobel:out=dy", "sobel:out=both", NULL},
    .summary = "edges: the gradient by the 3×3 Sobel operator, its length or its parts",
    .params = params,
    .config_size = sizeof(struct sobel_config),
    .window = window,
    .shape = shape,
    .passes = passes,
    .reference = sobel_reference,
};
