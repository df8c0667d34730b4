#include "chain/reference.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/deadline.h"
#include "base/number.h"

int reference_run(const struct plan *plan, const struct picture *in, struct picture *out,
                  struct fault *fault)
{
    struct picture from = *in, to = {0};
    int result = 0;
    for (size_t i = 0; i < plan->n_steps; i++) {
        const struct plan_step *step = &plan->steps[i];
        result = deadline_check(fault);
        if (result == 0 && !picture_create(&to, &step->out))
            result = fault_set(fault, FAULT_MEMORY, "no memory for a picture of %s",
                               number_size(step->out.size));
        if (result == 0)
            result = step->stage->reference(step->config, &from, &to, fault);
        if (from.data != in->data)
            picture_destroy(&from);
        if (result != 0) {
            picture_destroy(&to);
            return result;
        }
        from = to;
        to = (struct picture){0};
    }
    if (plan->n_steps == 0) {
        if (!picture_create(&from, &plan->in))
            return fault_set(fault, FAULT_MEMORY, "no memory for a picture");
        memcpy(from.data, in->data, plan->in.size);
    }
    *out = from;
    return 0;
}

/* The sum of the steps' tolerances. An integer step after a float step may turn a tiny error into a
 * whole unit, so one unit is then allowed. */
static struct tolerance total_tolerance(const struct plan *plan)
{
    struct tolerance total = {0, 0};
    for (size_t i = 0; i < plan->n_steps; i++) {
        const struct plan_step *step = &plan->steps[i];
        enum sample_type in = step->in->planes[0].type, out = step->out.planes[0].type;
        struct tolerance t = stage_tolerance(step->stage, step->config, in, out);
        if (sample_is_integer(out) && (total.absolute > 0 || total.relative > 0))
            total.absolute = total.absolute < 1 ? 1 : total.absolute;
        total.absolute += t.absolute;
        total.relative += t.relative;
    }
    return total;
}

int reference_compare(const struct plan *plan, const struct picture *reference,
                      const struct picture *device, double *largest, struct fault *fault)
{
    struct tolerance tolerance = total_tolerance(plan);
    uint64_t differing = 0;
    char first[160] = "";
    *largest = 0;
    for (size_t i = 0; i < reference->frame.n_planes; i++) {
        const struct plane *p = &reference->frame.planes[i];
        size_t size = sample_size(p->type);
        for (uint32_t y = 0; y < p->height; y++) {
            const uint8_t *a = picture_row(reference, i, y), *b = picture_row(device, i, y);
            for (uint32_t x = 0; x < p->width * p->channels; x++) {
                double va = sample_load(p->type, a + x * size);
                double vb = sample_load(p->type, b + x * size);
                if (va != vb && fabs(va - vb) > *largest)
                    *largest = fabs(va - vb);
                if (va == vb || (isnan(va) && isnan(vb)) ||
                    fabs(va - vb) <= tolerance.absolute + tolerance.relative * fabs(va))
                    continue;
                if (differing++ == 0)
                    snprintf(first, sizeof first,
                             "plane '%s' pixel (%u, %u) channel %u: %.9g, not %.9g", p->name,
                             x / p->channels, y, x % p->channels, vb, va);
            }
        }
    }
    if (differing == 0)
        return 0;
    return fault_set(fault, FAULT_VERIFY,
                     "%llu samples of the device differ from the reference, first %s",
                     (unsigned long long)differing, first);
}
