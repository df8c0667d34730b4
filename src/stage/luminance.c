#include "stage/luminance.h"

#include <math.h>

#include "stage/common.h"

static const struct param params[] = {
    PARAM(REALS, "weights", offsetof(struct luminance_config, weights),
          "share of red, green and blue: a standard's, or three numbers, scaled to sum to 1",
          RANGE(0, 1e6),
          CHOICES({"bt601", LUMINANCE_BT601}, {"bt709", LUMINANCE_BT709},
                  {"bt2020", LUMINANCE_BT2020}),
          DEFAULT("bt601")),
    PARAM(FLAG, "exact", offsetof(struct luminance_config, exact),
          "1 computes from RGB even where a JPEG stores its own Y, which bt601 takes else",
          DEFAULT("0")),
    {0},
};

static int complete(void *config, param_given *given, struct fault *fault)
{
    const struct param_matrix *w = &((struct luminance_config *)config)->weights;
    if (w->choice != PARAM_IS_NUMBER)
        return 0;
    if (w->columns != 3)
        return fault_set(fault, FAULT_CHAIN, "luminance: weights are three numbers R_G_B, not %u",
                         w->columns);
    if (!(w->v[0] + w->v[1] + w->v[2] > 0))
        return fault_set(fault, FAULT_CHAIN, "luminance: weights sum to 0");
    return 0;
}

const uint32_t luminance_standards[][3] = {
    [LUMINANCE_BT601] = {19595, 38470, 7471},
    [LUMINANCE_BT709] = {13933, 46871, 4732},
    [LUMINANCE_BT2020] = {17216, 44434, 3886},
};

void luminance_weights(const struct luminance_config *config, uint32_t weights[3])
{
    static const int greenest_first[3] = {1, 0, 2};
    const struct param_matrix *w = &config->weights;
    if (w->choice != PARAM_IS_NUMBER) {
        for (int i = 0; i < 3; i++)
            weights[i] = luminance_standards[w->choice][i];
        return;
    }
    double sum = w->v[0] + w->v[1] + w->v[2], remainder[3];
    uint32_t missing = 65536;
    for (int i = 0; i < 3; i++) {
        double share = w->v[i] / sum * 65536;
        weights[i] = (uint32_t)share;
        remainder[i] = share - weights[i];
        missing -= weights[i];
    }
    for (; missing > 0; missing--) {
        int largest = greenest_first[0];
        for (int i = 1; i < 3; i++)
            if (remainder[greenest_first[i]] > remainder[largest] + 1e-9)
                largest = greenest_first[i];
        weights[largest]++;
        remainder[largest] -= 1;
    }
}

static int change(const void *config, struct plane *plane, struct fault *fault)
{
    if (plane->channels > 2 && plane->type != SAMPLE_U8 && plane->type != SAMPLE_U16 &&
        plane->type != SAMPLE_F32)
        return fault_set(fault, FAULT_SHAPE,
                         "luminance takes RGB of type u8, u16 or f32, not %s; put "
                         "convert:type=f32 in front",
                         sample_name(plane->type));
    plane->channels = 1;
    return 0;
}

static void add_pass(const struct luminance_config *config, struct stage_plan *plan, unsigned i)
{
    const struct plane *in = &plan->in->planes[i], *out = &plan->out->planes[i];
    bool mixes = in->channels > 2;
    uint32_t weights[3];
    luminance_weights(config, weights);
    /* Sums of the weights' low bytes times samples fit into 16 bits; cl/luminance.cl uses that. */
    bool low_bytes_fit = weights[0] % 256 + weights[1] % 256 + weights[2] % 256 <= 256;
    enum kernel_form form = mixes ? pass_form_for(plan->profile, in, out) : FORM_ROWS;
    if (!mixes && plan->profile->form != FORM_ROWS)
        form = FORM_SCALAR;
    bool in_floats = form == FORM_VECTOR && plan->profile->takes_columns && in->type == SAMPLE_U8;
    bool in_bytes =
        form == FORM_ROWS && in->channels == 3 && in->type == SAMPLE_U8 && low_bytes_fit;
    unsigned span = form != FORM_VECTOR ? 0
                    : in_floats         ? 16
                                        : pass_vector_length(plan->profile, in->type, in->type);
    struct pass *pass = pass_begin(plan, "luminance", "", form, span, in->width, in->height);
    pass->goes_on = true;
    if (form == FORM_VECTOR)
        pass->lanes = 4; /* at a time, within a work-item's span */
    pass_define_type_bits(pass, "SRC", in->type);
    pass_define(pass, "DST", "SRC");
    pass_define(pass, "MIXED", "%s", in->type == SAMPLE_F32 ? "float" : "uint");
    pass_channels(pass, in->channels, 1);
    if (!mixes)
        pass_define(pass, "KERNEL_grey", "1");
    if (in_floats)
        pass_define(pass, "KERNEL_floats", "1");
    if (in_bytes) {
        pass->lanes = 16; /* for the stages that follow; itself computes 32 at a time */
        pass_define(pass, "KERNEL_bytes", "1");
        pass_name(pass, "bytes");
    }
    pass_name(pass, kernel_form_name(form));
    pass->work = mixes ? 8 : 1;
    pass_planes(pass, plan, i);
    pass->gives_grey = mixes && in->type == SAMPLE_U8 && pass_is_aligned(in);
    for (int k = 0; k < 3 && mixes; k++)
        if (in->type == SAMPLE_F32)
            pass_float(pass, (float)weights[k] / 65536);
        else
            pass_uint(pass, weights[k]);
}

/* A picture with one channel needs no pass. */
static int passes(const void *config, struct stage_plan *plan, struct fault *fault)
{
    bool needed = false;
    for (unsigned i = 0; i < plan->in->n_planes; i++)
        needed |= plan->in->planes[i].channels > 1;
    for (unsigned i = 0; needed && i < plan->in->n_planes; i++)
        add_pass(config, plan, i);
    return 0;
}

/* A luma channel holds the luminance of its own matrix: bt601 in a JPEG. How small the picture may
 * be is up to the next stage. */
static bool source(const void *config_, const struct plane *whole, struct stage_source *source)
{
    const struct luminance_config *config = config_;
    static const int choices[VIDEO_MATRICES] = {[VIDEO_BT601] = LUMINANCE_BT601,
                                                [VIDEO_BT709] = LUMINANCE_BT709,
                                                [VIDEO_BT2020] = LUMINANCE_BT2020};
    source->luma = config->weights.choice == choices[source->matrix] && !config->exact;
    return true;
}

const struct stage stage_luminance = {
    .name = "luminance",
    .chains = (const char *const[]){"luminance:weights=0.299_0.587_0.11", NULL},
    .summary = "one grey channel from red, green and blue; grey passes, alpha is dropped",
    .params = params,
    .config_size = sizeof(struct luminance_config),
    .complete = complete,
    .window = stage_window_of_pixel,
    .change = change,
    .passes = passes,
    .source = source,
    .at = luminance_at,
    .bench_channels = 3,
};
