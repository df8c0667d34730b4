/* sobel of u8 on GPUs, several rows by each work-item: see cl/sobel_down.cl. */
#include "stage/sobel.h"

#include <stdio.h>

enum {
    COLUMNS = 8,
    ROWS = 8 /* as the kernel is written */
};

bool sobel_add_down(const struct sobel_config *config, struct stage_plan *plan, unsigned plane,
                    unsigned first, enum kernel_form form, const char *variant)
{
    const struct plane *in = &plan->in->planes[plane], *out = &plan->out->planes[first];
    bool length = config->out == SOBEL_MAGNITUDE || config->out == SOBEL_L1;
    if (form != FORM_VECTOR || plan->profile->vector_bytes < 16 || in->type != SAMPLE_U8 ||
        in->channels != 1 || config->out == SOBEL_SAMPLE || (length && config->scale != 0.125))
        return false;
    char define[32];
    struct pass *pass = pass_begin(plan, "sobel_down", "", FORM_VECTOR, COLUMNS, in->width,
                                   (in->height + ROWS - 1) / ROWS);
    snprintf(define, sizeof define, "OUT_%s", variant);
    pass_name(pass, variant);
    pass_name(pass, sample_name(in->type));
    pass_define(pass, define, "1");
    pass_define(pass, "DST", "%s", pass_type_name(out->type));
    pass->goes_on = true;
    pass->work = 24 * ROWS;
    pass->bytes_read = plane_bytes(in);
    pass->bytes_written = plane_bytes(out) * (config->out == SOBEL_BOTH ? 2 : 1);
    pass_plane(pass, OPERAND_IN, plane);
    pass_plane(pass, OPERAND_OUT, first);
    if (config->out == SOBEL_BOTH)
        pass_plane(pass, OPERAND_OUT, first + 1);
    pass_int(pass, (int32_t)in->width);
    pass_int(pass, (int32_t)in->height);
    pass_int(pass, config->border);
    return true;
}
