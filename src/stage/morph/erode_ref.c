/* erode by its definition: see morph_ref.c. */
#include "stage/morph/erode.h"

int erode_reference(const void *config, const struct picture *in, struct picture *out,
                    struct fault *fault)
{
    return morph_compute(config, MORPH_LEAST, 1, in, out, fault);
}
