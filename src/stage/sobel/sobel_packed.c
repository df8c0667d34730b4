/* sobel of u8 with two samples in a word, or in columns: see cl/packed.cl, cl/columns.cl. */
#include <stdio.h>

#include "stage/packed.h"
#include "stage/sobel/sobel.h"

bool sobel_add_packed(const struct sobel_config *config, struct stage_plan *plan, unsigned plane,
                      unsigned first, enum kernel_form form, const char *variant)
{
    const struct plane *in = &plan->in->planes[plane], *out = &plan->out->planes[first];
    const struct packed_reach reach = {1, 1, 1, 1};
    bool length = config->out == SOBEL_MAGNITUDE || config->out == SOBEL_L1;
    if (form != FORM_VECTOR || in->type != SAMPLE_U8 || config->out == SOBEL_SAMPLE ||
        (length && config->scale != 0.125) || !packed_suits(plan->profile, in, out, &reach))
        return false;
    char define[32];
    /* Results of `both` take more registers, and with two words a row more work-items run at once.
     * More code than this does not fit a multiprocessor's caches. */
    unsigned words = config->out == SOBEL_BOTH ? 2 : 4;
    struct pass *pass = packed_begin(plan, "sobel", in, &reach, words);
    snprintf(define, sizeof define, "OUT_%s", variant);
    pass_name(pass, variant);
    pass_define(pass, define, "1");
    pass_define_type(pass, "DST", out->type);
    pass->goes_on = true;
    pass->work *= 24;
    sobel_pass_planes(config, plan, pass, plane, first);
    return true;
}
