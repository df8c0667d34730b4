#include "stage/sink/sink.h"

#include "stage/common.h"

static int shape(const void *config_, const struct frame *in, size_t alignment, struct frame *out,
                 struct fault *fault)
{
    const struct sink_config *config = config_;
    int result = 0;
    for (size_t i = 0; i < in->n_planes && result == 0; i++) {
        const struct plane *from = &in->planes[i];
        struct plane plane = *from;
        plane.type = config->targets[i].type;
        plane.channels = config->targets[i].channels;
        /* Formats take a plane's own channels, or none for alpha, or RGBA for grey with alpha. */
        bool takes_channels = plane.channels == from->channels ||
                              (plane_has_alpha(from) &&
                               (plane.channels == from->channels - 1 || plane.channels == 4));
        if ((plane.type != SAMPLE_U8 && plane.type != SAMPLE_U16) || from->type == SAMPLE_I32 ||
            !takes_channels)
            return fault_set(fault, FAULT_INTERNAL, "no format asks for such planes");
        result = stage_add_plane(out, &plane, alignment, fault);
    }
    return result;
}

static void add(const void *config, struct stage_plan *plan, unsigned i)
{
    enum kernel_form form = plan->profile->form == FORM_ROWS ? FORM_ROWS : FORM_SCALAR;
    const struct plane *in = &plan->in->planes[i], *out = &plan->out->planes[i];
    struct pass *pass = pass_begin(plan, "sink", "", form, 0, out->width, out->height);
    pass_define_type_bits(pass, "SRC", in->type);
    pass_define_type(pass, "DST", out->type);
    pass_define(pass, "DST_MAX", "%d", (int)sample_max(out->type));
    pass_channels(pass, in->channels, out->channels);
    bool whole = sample_is_integer(in->type);
    bool scaled = !whole && plane_white(in) != sample_max(out->type);
    pass_define(pass, "OF_INTEGERS", "%d", whole);
    pass_define(pass, "OF_DOUBLES", "%d", in->type == SAMPLE_F64);
    pass_define(pass, "SRC_MIN", "%d", whole ? (int)sample_min(in->type) : 0);
    pass_define(pass, "SCALED", "%d", scaled);
    if (scaled)
        pass_name(pass, "scaled");
    pass_name(pass, kernel_form_name(form));
    pass->work = 4.0 * out->channels;
    pass_planes(pass, plan, i);
    pass_float(pass, (float)plane_white(in));
}

const struct stage stage_sink = {
    .name = "sink",
    .summary = "what the output's format can hold of a frame",
    .config_size = sizeof(struct sink_config),
    .internal = true,
    .window = stage_window_of_pixel,
    .shape = shape,
    .add = add,
    .at = sink_at,
};
