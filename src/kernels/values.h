/* Values of a stage's parameter with which walk.c makes plans. */
#ifndef SLUICE_KERNELS_VALUES_H
#define SLUICE_KERNELS_VALUES_H

#include "base/text.h"
#include "param/param.h"

/* A list of texts: values of a parameter, settings of a stage, or chains. Empty when zeroed;
 * texts_finish frees it. */
struct texts {
    size_t n;
    size_t
        n_plain; /* of settings: the first n_plain have few values, and are planned for all sizes */
    struct text *texts;
    bool failed; /* memory was out */
};

void texts_add(struct texts *texts, const char *format, ...) __attribute__((format(printf, 2, 3)));
void texts_finish(struct texts *texts);

/* Adds values as a chain gives them: each choice, and numbers from all the range. `few`: enough of
 * them for a stage that has other parameters with values of their own. "@thirds" is among the names
 * of filter banks; the caller defines it. */
void values_of(const struct param *p, bool few, struct texts *values);

#endif
