/* open by its definition: see morph_ref.c. */
#include "stage/morph/open.h"

int open_reference(const void *config, const struct picture *in, struct picture *out,
                   struct fault *fault)
{
    return morph_compute(config, MORPH_LEAST, 2, in, out, fault);
}
