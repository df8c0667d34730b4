/* The inverse of dwt. The frame's origins tell which transform it was; without them, as for an NPZ
 * that numpy wrote, the names of the planes and the stage's parameters do. */
#include "stage/dwt/idwt.h"

#include <math.h>
#include <string.h>

#include "stage/common.h"
#include "stage/dwt/shrink.h"
#include "stage/dwt/wavelet.h"

static const struct param params[] = {
    PARAM(REAL_OR_CHOICE, "levels", offsetof(struct idwt_config, levels),
          "how many levels to put together, the coarsest first; fewer than there are give a "
          "smaller picture",
          RANGE(1, DWT_LEVELS_MAX), CHOICES({"all", IDWT_ALL}), DEFAULT("all")),
    PARAM(CHOICE, "wavelet", offsetof(struct idwt_config, wavelet),
          "of planes that do not say what they came from, by their names alone",
          .choices = wavelet_choices),
    PARAM(CHOICE, "mode", offsetof(struct idwt_config, mode),
          "of such planes; jpeg2000 for cdf97 and cdf53, periodization unless given for the "
          "others",
          .choices = wavelet_mode_choices),
    PARAM(CHOICE, "precision", offsetof(struct idwt_config, precision),
          "of such planes; without it what their type says: f32 single, f64 double, i32 "
          "reversible",
          .choices = dwt_precision_choices),
    PARAM(WORD, "size", offsetof(struct idwt_config, size),
          "WIDTHxHEIGHT that such planes came from; without it the largest that has such bands"),
    PARAM(CHOICE, "type", offsetof(struct idwt_config, type),
          "of samples that such planes came from; without it that of the planes",
          .choices = stage_type_choices),
    PARAM(CHOICE, "axis", offsetof(struct idwt_config, axis),
          "of such planes; x: each row is a signal; y: each column is; without it both, or x of "
          "planes L and H",
          .choices = dwt_axis_choices),
    PARAM(FLAG, "stationary", offsetof(struct idwt_config, stationary),
          "of such planes; 0 unless given"),
    PARAM(FLAG, "norm", offsetof(struct idwt_config, norm), "of such planes; 0 unless given"),
    {0},
};

/* Whether that parameter was given. */
static bool is_given(const struct idwt_config *config, const char *name)
{
    return config->given & param_bit(params, name);
}

unsigned idwt_kept(const struct idwt_config *config, unsigned n_levels)
{
    return config->levels.choice == IDWT_ALL ? 0 : n_levels - (unsigned)config->levels.value;
}

double idwt_scale(const struct dwt_config *dwt, unsigned kept)
{
    bool keeps = wavelet_is_cdf(dwt->wavelet) || dwt->norm;
    return keeps ? 1 : exp2(-(double)kept * (dwt->axis == DWT_BOTH ? 1 : 0.5));
}

static int complete(void *config_, param_given *given, struct fault *fault)
{
    struct idwt_config *config = config_;
    struct plane size;
    config->given = *given;
    if (config->levels.choice == PARAM_IS_NUMBER &&
        config->levels.value != floor(config->levels.value))
        return fault_set(fault, FAULT_CHAIN, "stage 'idwt': levels is a whole number, or all");
    if (is_given(config, "size") && (!plane_parse_size(config->size, &size) || size.channels != 1))
        return fault_set(fault, FAULT_CHAIN, "stage 'idwt': size=%s: expected WIDTHxHEIGHT",
                         config->size);
    return 0;
}

size_t idwt_count(const struct frame *in)
{
    return in->n_origins > 0 ? in->n_origins : dwt_count_named(in);
}

/* Reads a transform from names and parameters. */
static int read_named(const struct idwt_config *config, const struct frame *in, size_t index,
                      struct dwt_config *dwt, struct dwt_layout *layout, struct plane *original,
                      struct fault *fault)
{
    enum sample_type type = in->planes[0].type;
    param_given given = is_given(config, "mode") ? 1u << DWT_PARAM_MODE : 0;
    int axis = is_given(config, "axis") ? config->axis : dwt_is_named_line(in) ? DWT_X : DWT_BOTH;
    *dwt = (struct dwt_config){.wavelet = config->wavelet,
                               .mode = config->mode,
                               .axis = axis,
                               .stationary = config->stationary,
                               .norm = config->norm,
                               .precision = is_given(config, "precision") ? config->precision
                                            : type == SAMPLE_F64          ? DWT_DOUBLE
                                            : type == SAMPLE_I32          ? DWT_REVERSIBLE
                                                                          : DWT_SINGLE};
    *original = (struct plane){0};
    if (is_given(config, "size"))
        plane_parse_size(config->size, original);
    original->type = is_given(config, "type") ? (enum sample_type)config->type : type;
    int result = dwt_complete(dwt, &given, fault);
    if (result == FAULT_CHAIN && fault)
        /* the frame makes these parameters necessary, so the chain is not wrong */
        result = fault->code = FAULT_SHAPE;
    if (result != 0)
        return result;
    return dwt_read_named("idwt", in, index, dwt, original, layout, fault);
}

int idwt_read(const struct idwt_config *config, const struct frame *in, size_t index,
              struct dwt_config *dwt, struct dwt_layout *layout, struct plane *original,
              struct fault *fault)
{
    int result;
    if (in->n_origins == 0) {
        result = read_named(config, in, index, dwt, layout, original, fault);
    } else {
        *original = in->origins[index].plane;
        result = dwt_read_origin("idwt", in, index, false, dwt, layout, fault);
        for (unsigned i = 0; i < DWT_BANDS * layout->n_levels && result == 0; i++) {
            int *at = &layout->levels[i / DWT_BANDS].plane[i % DWT_BANDS];
            *at += *at < 0 ? 0 : (int)in->origins[index].first;
        }
    }
    if (result == 0 && !(dwt_types(dwt->precision) & 1u << original->type))
        return fault_set(fault, FAULT_SHAPE,
                         "idwt: dwt:precision=%s does not take %s: say with type= what the planes "
                         "came from, as in type=u8",
                         param_choice_name(dwt_precision_choices, dwt->precision),
                         sample_name(original->type));
    return result;
}

static int add_plane(const struct idwt_config *config, const struct frame *in, size_t index,
                     size_t alignment, struct frame *out, size_t *used, struct fault *fault)
{
    struct dwt_config dwt;
    struct dwt_layout layout;
    struct plane plane;
    int result = idwt_read(config, in, index, &dwt, &layout, &plane, fault);
    if (result != 0)
        return result;
    if (config->levels.choice != IDWT_ALL && config->levels.value > layout.n_levels)
        return fault_set(fault, FAULT_SHAPE, "idwt:levels=%g: there are %u", config->levels.value,
                         layout.n_levels);
    unsigned kept = idwt_kept(config, layout.n_levels);
    *used += layout.n_planes;
    plane.width = layout.levels[kept].width;
    plane.height = layout.levels[kept].height;
    plane.channels = layout.channels;
    return stage_add_plane(out, &plane, alignment, fault);
}

static int shape(const void *config_, const struct frame *in, size_t alignment, struct frame *out,
                 struct fault *fault)
{
    const struct idwt_config *config = config_;
    size_t used = 0;
    bool is_named = in->n_origins == 0 && dwt_count_named(in) > 0;
    if (is_named && !is_given(config, "wavelet"))
        return fault_set(
            fault, FAULT_SHAPE,
            "idwt: these planes do not say which dwt they came from (an NPZ without "
            "meta.json does not): give wavelet=, and what differs from the default of "
            "mode= (jpeg2000 for cdf97 and cdf53, else periodization), precision= and "
            "type= (those of the planes), size=WIDTHxHEIGHT (the largest that has such "
            "bands)");
    int result = is_named ? 0 : dwt_check_frame("idwt", in, fault);
    for (size_t i = 0; i < idwt_count(in) && result == 0; i++)
        result = add_plane(config, in, i, alignment, out, &used, fault);
    if (result == 0 && used != in->n_planes)
        result = fault_set(fault, FAULT_SHAPE, "idwt: %zu of %zu planes belong to no transform",
                           in->n_planes - used, in->n_planes);
    return result;
}

/* `scratch` may say more than 0 already. */
static int add_passes(const struct idwt_config *config, struct stage_plan *plan,
                      struct dwt_scratch *scratch, struct fault *fault)
{
    const struct frame *in = plan->in;
    struct dwt_config dwt;
    struct dwt_layout layout;
    struct plane original;
    int result = 0;
    if (in->n_origins > 0 && config->given & ~(param_given)1)
        plan->warning = "these planes say what they came from: other parameters than levels do not "
                        "count";
    for (size_t i = 0; i < idwt_count(in) && result == 0; i++) {
        result = idwt_read(config, in, i, &dwt, &layout, &original, fault);
        dwt_scratch_reserve(scratch, &layout);
    }
    if (result == 0)
        result = dwt_check_device(plan, dwt.precision, fault);
    if (result == 0) /* all transforms are alike */
        dwt_scratch_add(scratch, plan, layout.type);
    for (unsigned i = 0; i < idwt_count(in) && result == 0; i++) {
        result = idwt_read(config, in, i, &dwt, &layout, &original, fault);
        unsigned kept = idwt_kept(config, layout.n_levels);
        if (result == 0)
            dwt_synthesis_passes(&dwt, &layout, scratch, plan, i, kept, idwt_scale(&dwt, kept));
    }
    return result;
}

static int passes(const void *config, struct stage_plan *plan, struct fault *fault)
{
    struct dwt_scratch scratch = {0};
    return add_passes(config, plan, &scratch, fault);
}

/* Takes shrink, which then need not write all planes once more. */
static int take_front(const void *config, const struct stage *front, const void *front_config,
                      struct stage_plan *plan, bool *done, struct fault *fault)
{
    struct shrink_limits limits = {0};
    struct dwt_scratch scratch = {.limits = &limits};
    int result =
        front == &stage_shrink ? shrink_find_limits(front_config, plan, &limits, fault) : 0;
    if (result == 0 && limits.values != 0)
        result = add_passes(config, plan, &scratch, fault);
    *done = result == 0 && limits.values != 0 && !scratch.missed;
    return result;
}

/* Integers are exact if the coefficients are what dwt made of integers. If another stage has
 * changed them, a result may be close to a half. */
static struct tolerance tolerance(const void *config, enum sample_type in, enum sample_type out)
{
    if (in == SAMPLE_I32)
        return (struct tolerance){0, 0};
    if (sample_is_integer(out))
        return (struct tolerance){1, 0};
    return in == SAMPLE_F64 ? (struct tolerance){1e-9, 1e-12} : (struct tolerance){0.02, 1e-5};
}

const struct stage stage_idwt = {
    .name = "idwt",
    .chains = (const char *const[]){"dwt,idwt", "dwt:precision=double,idwt",
                                    "dwt:db2:levels=2:stationary=1,idwt",
                                    "dwt:db2:levels=2:stationary=1:precision=double,idwt",
                                    "dwt:db2:stationary=1:axis=x,idwt",
                                    "dwt:db2:stationary=1:axis=x:precision=double,idwt",
                                    "dwt:db2:axis=x,idwt", "dwt:db2:axis=x:precision=double,idwt",
                                    "dwt:db2:axis=y,idwt", "dwt:db2:axis=y:precision=double,idwt",
                                    "dwt:wavelet=cdf53:precision=reversible,idwt", NULL},
    .summary = "the picture that dwt took apart",
    .params = params,
    .config_size = sizeof(struct idwt_config),
    .inverse = true,
    .complete = complete,
    .shape = shape,
    .passes = passes,
    .take_front = take_front,
    .reference = idwt_reference,
    .tolerance = tolerance,
    .bench = "dwt:cdf97:levels=3,idwt",
};
