/* close by its definition: see morph_ref.c. */
#include "stage/morph/close.h"

int close_reference(const void *config, const struct picture *in, struct picture *out,
                    struct fault *fault)
{
    return morph_compute(config, MORPH_LARGEST, 2, in, out, fault);
}
