/* The wavelet transform, level by level. In the rows form a level is one kernel, which filters a
 * few rows vertically and then horizontally (cdf97 and cdf53 of one channel by lifting:
 * cl/dwt/dwt_lift.cl). In other forms each direction has a kernel of its own, with the vertical
 * filter's results in scratch memory: low rows above, high rows below. */
#include "stage/dwt/dwt.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "stage/common.h"
#include "stage/dwt/wavelet.h"

const struct param_choice dwt_precision_choices[] = {
    {"single", DWT_SINGLE},
    {"double", DWT_DOUBLE},
    {"reversible", DWT_REVERSIBLE},
    {NULL, 0},
};

const struct param_choice dwt_axis_choices[] = {
    {"both", DWT_BOTH},
    {"x", DWT_X},
    {"y", DWT_Y},
    {NULL, 0},
};

const struct param dwt_params[] = {
    [DWT_PARAM_WAVELET] = PARAM(CHOICE, "wavelet", offsetof(struct dwt_config, wavelet),
                                "cdf97 or cdf53 as in JPEG 2000, or another as PyWavelets names it",
                                .choices = wavelet_choices, DEFAULT("cdf97")),
    [DWT_PARAM_LEVELS] = PARAM(INTEGER, "levels", offsetof(struct dwt_config, levels),
                               "how often the low band is taken apart again",
                               RANGE(1, DWT_LEVELS_MAX), DEFAULT("3")),
    [DWT_PARAM_MODE] = PARAM(CHOICE, "mode", offsetof(struct dwt_config, mode),
                             "how rows and columns go on at their ends; jpeg2000 for cdf97 and "
                             "cdf53, periodization unless given for the others",
                             .choices = wavelet_mode_choices),
    [DWT_PARAM_PRECISION] = PARAM(CHOICE, "precision", offsetof(struct dwt_config, precision),
                                  "f32 or f64 coefficients, or cdf53 in integers that lose nothing",
                                  .choices = dwt_precision_choices, DEFAULT("single")),
    [DWT_PARAM_AXIS] = PARAM(CHOICE, "axis", offsetof(struct dwt_config, axis),
                             "x: each row is a signal; y: each column is; both unless given",
                             .choices = dwt_axis_choices),
    [DWT_PARAM_STATIONARY] = PARAM(FLAG, "stationary", offsetof(struct dwt_config, stationary),
                                   "1: bands keep all samples (swt, à trous); 0 unless given"),
    [DWT_PARAM_NORM] = PARAM(FLAG, "norm", offsetof(struct dwt_config, norm),
                             "1: their energy is that of the picture; 0 unless given"),
    {0},
};

int dwt_complete(void *config_, param_given *given, struct fault *fault)
{
    struct dwt_config *config = config_;
    const char *name = param_choice_name(wavelet_choices, config->wavelet);
    bool cdf = wavelet_is_cdf(config->wavelet);
    if (config->norm && !config->stationary)
        return fault_set(fault, FAULT_CHAIN, "stage 'dwt': norm=1 is for stationary=1");
    if (config->stationary && cdf)
        return fault_set(fault, FAULT_CHAIN,
                         "stage 'dwt': stationary=1 is for PyWavelets' wavelets, not for %s: "
                         "wavelet=%s has its filters",
                         name, config->wavelet == WAVELET_CDF97 ? "bior4.4" : "bior2.2");
    if (config->stationary && *given & 1u << DWT_PARAM_MODE &&
        config->mode != WAVELET_PERIODIZATION)
        return fault_set(
            fault, FAULT_CHAIN,
            "stage 'dwt': with stationary=1 signals go on periodically: leave out mode");
    if (config->axis != DWT_BOTH && config->precision == DWT_REVERSIBLE)
        return fault_set(
            fault, FAULT_CHAIN,
            "stage 'dwt': precision=reversible is for both directions, not for axis=%s",
            param_choice_name(dwt_axis_choices, config->axis));
    if (!(*given & 1u << DWT_PARAM_MODE))
        config->mode = cdf ? WAVELET_JPEG2000 : WAVELET_PERIODIZATION;
    *given |= 1u << DWT_PARAM_MODE;
    if (cdf && config->mode != WAVELET_JPEG2000)
        return fault_set(fault, FAULT_CHAIN, "stage 'dwt': wavelet=%s has mode=jpeg2000 only",
                         name);
    if (!cdf && config->mode == WAVELET_JPEG2000)
        return fault_set(fault, FAULT_CHAIN,
                         "stage 'dwt': mode=jpeg2000 is for cdf97 and cdf53, not for wavelet=%s",
                         name);
    if (config->precision == DWT_REVERSIBLE && config->wavelet != WAVELET_CDF53)
        return fault_set(fault, FAULT_CHAIN,
                         "stage 'dwt': precision=reversible is for wavelet=cdf53, not for %s",
                         name);
    return 0;
}

unsigned dwt_types(int precision)
{
    unsigned types = 1u << SAMPLE_U8 | 1u << SAMPLE_I8 | 1u << SAMPLE_U16 | 1u << SAMPLE_I16;
    if (precision != DWT_REVERSIBLE)
        types |= 1u << SAMPLE_I32 | 1u << SAMPLE_F32;
    if (precision == DWT_DOUBLE)
        types |= 1u << SAMPLE_F64;
    return types;
}

static int shape(const void *config_, const struct frame *in, size_t alignment, struct frame *out,
                 struct fault *fault)
{
    const struct dwt_config *config = config_;
    struct frame_origin origin = {.stage = "dwt"};
    struct text text = {0};
    const char *stage = config->precision == DWT_REVERSIBLE ? "dwt:precision=reversible" : "dwt";
    for (size_t i = 0; i < in->n_planes && config->precision == DWT_SINGLE; i++)
        if (in->planes[i].type == SAMPLE_F64)
            return fault_set(
                fault, FAULT_SHAPE,
                "dwt takes samples of type f64 with precision=double alone; give it that, not "
                "precision=single");
    int result = stage_require_types(stage, in, dwt_types(config->precision), fault);
    param_given given = ~(param_given)0; /* but for what goes without saying */
    given &= ~((param_given)(config->axis == DWT_BOTH) << DWT_PARAM_AXIS |
               (param_given)!config->stationary << DWT_PARAM_STATIONARY |
               (param_given)!config->norm << DWT_PARAM_NORM);
    param_print(dwt_params, config, given, &text);
    int length = snprintf(origin.parameters, sizeof origin.parameters, "%s", text_string(&text));
    if (result == 0 && (text.failed || length >= (int)sizeof origin.parameters))
        result = fault_set(fault, FAULT_MEMORY, "no memory for a frame");
    text_finish(&text);
    for (size_t i = 0; i < in->n_planes && result == 0; i++) {
        struct dwt_layout layout;
        dwt_layout_of(config, &in->planes[i], &layout);
        origin.plane = in->planes[i];
        origin.first = out->n_planes;
        origin.count = layout.n_planes;
        if (!dwt_add_planes(&layout, in->planes[i].name, alignment, out) ||
            !frame_add_origin(out, &origin))
            result = fault_set(fault, FAULT_MEMORY, "no memory for a frame");
    }
    return result;
}

/* f32 sums of up to 102 products, accumulated over levels: about 2^-21 of the largest coefficient,
 * which doubles with each level if the low-pass has norm 1. What stands outside of a signal of
 * range r is below (2 · taps + 3) · r in the modes that grow, along each direction. */
static struct tolerance tolerance(const void *config_, enum sample_type in, enum sample_type out)
{
    const struct dwt_config *config = config_;
    double range = sample_is_integer(in) ? sample_max(in) - sample_min(in) : 2000;
    double gain = wavelet_is_cdf(config->wavelet) ? 4 : ldexp(1, (int)config->levels);
    if (wavelet_mode_grows(config->mode)) {
        struct wavelet_analysis w;
        wavelet_analysis(config->wavelet, config->mode, &w);
        gain *= pow(2 * w.count + 3, 2 * (double)config->levels);
    }
    if (out == SAMPLE_I32)
        return (struct tolerance){0, 0};
    if (out == SAMPLE_F64)
        return (struct tolerance){range * gain * 1e-14, 1e-13};
    return (struct tolerance){range * gain * 1e-6, 1e-5};
}

static int passes(const void *config_, struct stage_plan *plan, struct fault *fault)
{
    const struct dwt_config *config = config_;
    int result = dwt_check_device(plan, config->precision, fault);
    if (result != 0)
        return result;
    bool u16 = plan->in->n_planes > 0 && plan->in->planes[0].type == SAMPLE_U16;
    plan->warning = wavelet_weakness(config->wavelet, config->mode, (unsigned)config->levels,
                                     config->precision == DWT_SINGLE, u16);
    dwt_analysis_passes(config, plan);
    return 0;
}

const struct stage stage_dwt = {
    .name = "dwt",
    .chains =
        (const char *const[]){
            "dwt", "dwt:db2:mode=smooth", "dwt:db2:mode=smooth:precision=double",
            "dwt:precision=double", "dwt:wavelet=cdf53:precision=double",
            "dwt:db2:levels=2:stationary=1", "dwt:db2:levels=2:stationary=1:precision=double",
            "dwt:db2:stationary=1:axis=x", "dwt:db2:stationary=1:axis=x:precision=double",
            "dwt:db2:axis=x", "dwt:db2:axis=x:precision=double", "dwt:db2:axis=y",
            "dwt:db2:axis=y:precision=double", "dwt:wavelet=cdf53:precision=reversible",
            "dwt:wavelet=cdf53:precision=reversible,abs", NULL},
    .summary = "the wavelet transform: a plane of averages and planes of details, level by level",
    .params = dwt_params,
    .config_size = sizeof(struct dwt_config),
    .complete = dwt_complete,
    .shape = shape,
    .passes = passes,
    .reference = dwt_reference,
    .tolerance = tolerance,
    .bench = "dwt:cdf97:levels=3",
};
