#include "stage/stage.h"

#include <string.h>

const struct stage *stage_find(const char *name, size_t length)
{
    for (const struct stage *const *s = stage_registry; *s; s++)
        if (strlen((*s)->name) == length && memcmp((*s)->name, name, length) == 0)
            return *s;
    return NULL;
}

bool stage_is_per_pixel(const struct stage *stage, const void *config)
{
    return stage->pixel && (!stage->is_per_pixel || stage->is_per_pixel(config));
}

struct tolerance stage_tolerance(const struct stage *stage, const void *config, enum sample_type in,
                                 enum sample_type out)
{
    if (stage->tolerance)
        return stage->tolerance(config, in, out);
    if (sample_is_integer(out))
        return (struct tolerance){0, 0};
    return (struct tolerance){1e-6, 1e-5};
}
