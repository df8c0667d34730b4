#include "bank/definitions.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/nearest.h"

void definitions_finish(struct definitions *definitions)
{
    for (size_t i = 0; i < definitions->n_banks; i++) {
        free(definitions->banks[i]->filters);
        free(definitions->banks[i]);
    }
    free(definitions->banks);
    free(definitions->kernels);
    free(definitions->cameras);
    *definitions = (struct definitions){0};
}

bool definitions_add_kernel(struct definitions *definitions, const struct definition_kernel *kernel)
{
    size_t n = definitions->n_kernels;
    struct definition_kernel *kernels = realloc(definitions->kernels, (n + 1) * sizeof *kernels);
    if (!kernels)
        return false;
    definitions->kernels = kernels;
    kernels[definitions->n_kernels++] = *kernel;
    return true;
}

bool definitions_add_camera(struct definitions *definitions, const struct definition_camera *camera)
{
    size_t n = definitions->n_cameras;
    struct definition_camera *cameras = realloc(definitions->cameras, (n + 1) * sizeof *cameras);
    if (!cameras)
        return false;
    definitions->cameras = cameras;
    cameras[definitions->n_cameras++] = *camera;
    return true;
}

bool definitions_add_bank(struct definitions *definitions, const struct definition_bank *bank)
{
    size_t n = definitions->n_banks;
    struct definition_bank **banks = realloc(definitions->banks, (n + 1) * sizeof *banks);
    /* allocated by itself, since chains keep its address */
    struct definition_bank *copy = malloc(sizeof *copy);
    if (banks)
        definitions->banks = banks;
    if (!banks || !copy) {
        free(copy);
        return false;
    }
    *copy = *bank;
    copy->bank.name = copy->name;
    banks[definitions->n_banks++] = copy;
    return true;
}

const struct param_matrix *definitions_kernel(const struct definitions *definitions,
                                              const char *name)
{
    for (size_t i = 0; definitions && i < definitions->n_kernels; i++)
        if (strcmp(definitions->kernels[i].name, name) == 0)
            return &definitions->kernels[i].k;
    return NULL;
}

const struct bank *definitions_bank(const struct definitions *definitions, const char *name)
{
    for (size_t i = 0; definitions && i < definitions->n_banks; i++)
        if (strcmp(definitions->banks[i]->name, name) == 0)
            return &definitions->banks[i]->bank;
    return NULL;
}

const struct definition_camera *definitions_camera(const struct definitions *definitions,
                                                   const char *name)
{
    for (size_t i = 0; definitions && i < definitions->n_cameras; i++)
        if (strcmp(definitions->cameras[i].name, name) == 0)
            return &definitions->cameras[i];
    return NULL;
}

int definitions_check_camera(const struct definition_camera *camera, const char *what,
                             struct fault *fault)
{
    const double *m = camera->matrix;
    unsigned n = camera->n_distortion;
    bool finite = true;
    for (int i = 0; i < 9; i++)
        finite &= isfinite(m[i]) != 0;
    for (unsigned i = 0; i < n; i++)
        finite &= isfinite(camera->distortion[i]) != 0;
    if (!finite || !(m[0] > 0) || !(m[4] > 0) || m[1] != 0 || m[3] != 0 || m[6] != 0 || m[7] != 0 ||
        m[8] != 1)
        return fault_set(fault, FAULT_CHAIN,
                         "%s: a camera's matrix is fx 0 cx, 0 fy cy, 0 0 1, with fx and fy above 0",
                         what);
    if (camera->fisheye && n > 4)
        return fault_set(fault, FAULT_CHAIN, "%s: a fisheye has 4 numbers of distortion, not %u",
                         what, n);
    return 0;
}

static int unknown_bank(const struct definitions *definitions, const char *word,
                        struct fault *fault)
{
    const char *name = word[0] == '@' ? word + 1 : word;
    struct nearest nearest = {0};
    struct text names = {0};
    for (size_t i = 0; bank_builtin_name(i); i++) {
        nearest_offer(&nearest, name, strlen(name), bank_builtin_name(i));
        text_printf(&names, "%s%s", i ? ", " : "", bank_builtin_name(i));
    }
    for (size_t i = 0; definitions && i < definitions->n_banks; i++) {
        nearest_offer(&nearest, name, strlen(name), definitions->banks[i]->name);
        text_printf(&names, ", @%s", definitions->banks[i]->name);
    }
    int result = fault_set(
        fault, FAULT_CHAIN, "no bank '%s'%s (there are %s%s)", word, nearest_ask(&nearest, ""),
        text_string(&names),
        definitions && definitions->n_banks ? "" : "; --config FILE defines others under banks");
    text_finish(&names);
    return result;
}

int definitions_find_bank(const struct definitions *definitions, const char *word,
                          const struct bank **bank, struct fault *fault)
{
    *bank = NULL;
    if (word[0] != '@')
        *bank = bank_builtin(word, strlen(word));
    if (!*bank)
        *bank = definitions_bank(definitions, word[0] == '@' ? word + 1 : word);
    return *bank ? 0 : unknown_bank(definitions, word, fault);
}
