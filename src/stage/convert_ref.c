/* convert by its definition: sat(rne(v)) for integers, the nearest f32 else; alpha like the rest.
 */
#include "stage/common.h"
#include "stage/convert.h"

static double convert(const void *config, enum sample_type type, double v)
{
    enum sample_type to = (enum sample_type)((const struct convert_config *)config)->type;
    (void)type;
    return sample_is_integer(to) ? (double)sample_saturate(to, v) : (double)(float)v;
}

int convert_reference(const void *config, const struct picture *in, struct picture *out,
                      struct fault *fault)
{
    (void)fault;
    reference_each_sample(config, in, out, convert, false);
    return 0;
}
