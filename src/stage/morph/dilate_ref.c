/* dilate by its definition: see morph_ref.c. */
#include "stage/morph/dilate.h"

int dilate_reference(const void *config, const struct picture *in, struct picture *out,
                     struct fault *fault)
{
    return morph_compute(config, MORPH_LARGEST, 1, in, out, fault);
}
