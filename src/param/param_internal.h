/* Shared by param.c (reading) and param_print.c alone. */
#ifndef SLUICE_PARAM_PARAM_INTERNAL_H
#define SLUICE_PARAM_PARAM_INTERNAL_H

#include "param/param.h"

static inline bool param_is_limited(const struct param *param)
{
    return param->min != 0 || param->max != 0;
}

#endif
