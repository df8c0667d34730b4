/* Chains, what @names in them refer to, and the stages as data. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "library/internal.h"

/* ---- definitions ---- */

int sluice_definitions_create(struct sluice_definitions **definitions, struct sluice_error *error)
{
    struct sluice_definitions *made = calloc(1, sizeof *made);
    *definitions = made;
    if (!made)
        return library_error(error, SLUICE_E_MEMORY, "no memory for definitions");
    atomic_init(&made->users, 1);
    return 0;
}

struct sluice_definitions *sluice_definitions_ref(struct sluice_definitions *definitions)
{
    atomic_fetch_add(&definitions->users, 1);
    return definitions;
}

void sluice_definitions_unref(struct sluice_definitions **definitions)
{
    struct sluice_definitions *d = *definitions;
    *definitions = NULL;
    if (!d || atomic_fetch_sub(&d->users, 1) > 1)
        return;
    definitions_finish(&d->own);
    free(d);
}

/* What all kinds of definitions have in common: a good name, and that no chain is there yet. */
static int check_name(const struct sluice_definitions *definitions, const char *name,
                      struct sluice_error *error)
{
    if (atomic_load(&definitions->used))
        return library_error(error, SLUICE_E_USAGE,
                             "definition '%.60s': a chain has been parsed with these definitions",
                             name);
    if (!definitions_is_name(name, strlen(name)))
        return library_error(error, SLUICE_E_USAGE,
                             "definition '%.60s': a name has 1 to %d letters, digits, . _ and -",
                             name, DEFINITION_NAME_MAX);
    if (definitions_kernel(&definitions->own, name) || definitions_bank(&definitions->own, name) ||
        definitions_camera(&definitions->own, name) ||
        definitions_picture(&definitions->own, name))
        return library_error(error, SLUICE_E_USAGE, "definition '%.60s': there is one of that name",
                             name);
    return 0;
}

int sluice_definitions_add_kernel(struct sluice_definitions *definitions, const char *name,
                                  unsigned columns, unsigned rows, const double *values,
                                  struct sluice_error *error)
{
    struct definition_kernel kernel = {.k = {.choice = PARAM_IS_NUMBER}};
    int result = check_name(definitions, name, error);
    if (result != 0)
        return result;
    if (columns < 1 || columns > PARAM_MATRIX_SIDE || rows < 1 || rows > PARAM_MATRIX_SIDE)
        return library_error(error, SLUICE_E_USAGE, "kernel '%s': %u×%u values; the limit is %d×%d",
                             name, columns, rows, PARAM_MATRIX_SIDE, PARAM_MATRIX_SIDE);
    snprintf(kernel.name, sizeof kernel.name, "%s", name);
    kernel.k.columns = columns;
    kernel.k.rows = rows;
    for (unsigned i = 0; i < columns * rows; i++) {
        if (!(values[i] >= -1e9 && values[i] <= 1e9))
            return library_error(error, SLUICE_E_USAGE,
                                 "kernel '%s': values are numbers from -1e9 to 1e9", name);
        kernel.k.v[i] = values[i];
    }
    if (!definitions_add_kernel(&definitions->own, &kernel))
        return library_error(error, SLUICE_E_MEMORY, "no memory for a kernel");
    return 0;
}

int sluice_definitions_add_camera(struct sluice_definitions *definitions, const char *name,
                                  unsigned width, unsigned height, const double matrix[9],
                                  int fisheye, const double *distortion, unsigned n_distortion,
                                  struct sluice_error *error)
{
    struct definition_camera camera = {
        .n_distortion = n_distortion, .fisheye = fisheye, .width = width, .height = height};
    struct fault fault = FAULT_INIT;
    int result = check_name(definitions, name, error);
    if (result != 0)
        return result;
    if (n_distortion < 1 || n_distortion > CAMERA_DISTORTION_MAX || !width != !height)
        return library_error(error, SLUICE_E_USAGE,
                             "camera '%s': 1 to %d numbers of distortion, and both width and "
                             "height or none",
                             name, CAMERA_DISTORTION_MAX);
    snprintf(camera.name, sizeof camera.name, "%s", name);
    memcpy(camera.matrix, matrix, sizeof camera.matrix);
    memcpy(camera.distortion, distortion, n_distortion * sizeof *distortion);
    if (definitions_check_camera(&camera, name, &fault) != 0)
        return library_error(error, SLUICE_E_USAGE, "camera %s", fault.text);
    if (!definitions_add_camera(&definitions->own, &camera))
        return library_error(error, SLUICE_E_MEMORY, "no memory for a camera");
    return 0;
}

/* Adds a copy of the samples that lie in `data` as the plane says; false: no memory. */
static bool add_picture(struct definitions *definitions, const char *name, const struct plane *from,
                        const uint8_t *data)
{
    struct frame own = {0};
    struct picture copy = {0};
    struct definition_picture *picture = NULL;
    if (frame_add_plane(&own, from, FRAME_ALIGNMENT) && picture_create(&copy, &own))
        picture = definitions_add_picture(definitions, name, name);
    if (picture) {
        const struct plane *to = &copy.frame.planes[0];
        for (uint32_t y = 0; y < to->height; y++)
            memcpy(copy.data + y * to->stride, data + from->offset + y * from->stride,
                   plane_row_bytes(to));
        picture->plane = *to;
        picture->samples = copy.data;
        picture->n_bytes = copy.frame.size;
        copy.data = NULL;
    }
    picture_destroy(&copy);
    frame_finish(&own);
    return picture != NULL;
}

int sluice_definitions_add_picture(struct sluice_definitions *definitions, const char *name,
                                   const struct sluice_layout *layout, const void *data,
                                   struct sluice_error *error)
{
    struct frame frame = {0};
    int result = check_name(definitions, name, error);
    if (result == 0)
        result = library_layout(layout, &frame, error);
    if (result == 0 && (frame.n_planes != 1 || frame.video.format || !data))
        result = library_error(error, SLUICE_E_USAGE,
                               "picture '%s': it is one plane of SLUICE_PLANES, and its samples",
                               name);
    else if (result == 0 && !add_picture(&definitions->own, name, &frame.planes[0], data))
        result = library_error(error, SLUICE_E_MEMORY, "no memory for a picture");
    frame_finish(&frame);
    return result;
}

static bool copy_filters(const struct sluice_filter *from, unsigned count, struct bank_filter *to)
{
    for (unsigned i = 0; i < count; i++) {
        if (from[i].n_taps < 1 || from[i].n_taps > BANK_TAPS_MAX ||
            from[i].zero < -BANK_PLACE_MAX || from[i].zero > BANK_PLACE_MAX ||
            from[i].shift < -BANK_PLACE_MAX || from[i].shift > BANK_PLACE_MAX)
            return false;
        for (unsigned k = 0; k < from[i].n_taps; k++)
            if (!(fabs(from[i].taps[k]) <= BANK_TAP_MAX))
                return false;
        to[i] = (struct bank_filter){
            .n_taps = from[i].n_taps, .zero = from[i].zero, .shift = from[i].shift};
        memcpy(to[i].taps, from[i].taps, from[i].n_taps * sizeof *from[i].taps);
    }
    return true;
}

/* Copies to the next filters of a bank, which has room for the most that there may be. */
static bool copy_direction(const struct sluice_bank *from, struct bank_filter *filters,
                           struct bank_direction *to)
{
    if (from->factor < 1 || from->factor > BANK_FACTOR_MAX || from->n_filters < 1 ||
        from->n_filters > BANK_FILTERS_MAX)
        return false;
    *to =
        (struct bank_direction){from->factor, from->n_filters, filters, filters + from->n_filters};
    return copy_filters(from->analysis, from->n_filters, filters) &&
           copy_filters(from->synthesis, from->n_filters, filters + from->n_filters);
}

int sluice_definitions_add_bank(struct sluice_definitions *definitions, const char *name,
                                const struct sluice_bank *horizontal,
                                const struct sluice_bank *vertical, int lossy,
                                struct sluice_error *error)
{
    struct definition_bank bank = {0};
    struct fault fault = FAULT_INIT;
    int result = check_name(definitions, name, error);
    if (result != 0)
        return result;
    bank.filters = calloc(4 * BANK_FILTERS_MAX, sizeof *bank.filters);
    if (!bank.filters)
        return library_error(error, SLUICE_E_MEMORY, "no memory for a bank");
    snprintf(bank.name, sizeof bank.name, "%s", name);
    if (!copy_direction(horizontal, bank.filters, &bank.bank.x) ||
        !copy_direction(vertical ? vertical : horizontal, bank.filters + 2 * BANK_FILTERS_MAX,
                        &bank.bank.y))
        result = library_error(error, SLUICE_E_USAGE,
                               "bank '%s': 1 to %d filters, a factor of 1 to %d, and filters of 1 "
                               "to %d taps up to %g with zero and shift up to %d",
                               name, BANK_FILTERS_MAX, BANK_FACTOR_MAX, BANK_TAPS_MAX, BANK_TAP_MAX,
                               BANK_PLACE_MAX);
    else if (!lossy && bank_check(&bank.bank, &fault) != 0)
        result = library_error(error, SLUICE_E_USAGE, "bank '%s': %s", name, fault.text);
    else if (!definitions_add_bank(&definitions->own, &bank))
        result = library_error(error, SLUICE_E_MEMORY, "no memory for a bank");
    if (result != 0)
        free(bank.filters);
    return result;
}

/* ---- chains ---- */

static int fill_errors(const struct faults *faults, struct sluice_error *errors, size_t n)
{
    static const struct fault none = FAULT_INIT;
    size_t size = n > 0 ? errors[0].size : 0, count = faults_count(faults);
    for (size_t i = 0; i < n; i++) {
        struct sluice_error *to = (struct sluice_error *)((char *)errors + i * size);
        to->size = size;
        library_fail(to, i < count ? &faults->list[i] : &none);
    }
    return library_fail(NULL, &faults->list[0]);
}

int sluice_chain_parse(struct sluice_chain **chain, const char *text,
                       struct sluice_definitions *definitions, struct sluice_error *errors,
                       size_t n_errors)
{
    struct faults faults = {0};
    struct sluice_chain *made = calloc(1, sizeof *made);
    *chain = NULL;
    if (!made) {
        fault_set(faults_next(&faults), FAULT_MEMORY, "no memory for a chain");
        return fill_errors(&faults, errors, n_errors);
    }
    atomic_init(&made->users, 1);
    if (definitions) {
        made->definitions = sluice_definitions_ref(definitions);
        atomic_store(&definitions->used, true);
    }
    if (chain_parse_all(&made->chain, text, definitions ? &definitions->own : NULL, &faults) == 0) {
        chain_print(&made->chain, &made->canonical);
        chain_print_short(&made->chain, &made->brief);
        if (made->canonical.failed || made->brief.failed)
            fault_set(faults_next(&faults), FAULT_MEMORY, "no memory for a chain");
    }
    int result = fill_errors(&faults, errors, n_errors);
    if (result != 0)
        sluice_chain_unref(&made);
    *chain = made;
    return result;
}

struct sluice_chain *sluice_chain_ref(struct sluice_chain *chain)
{
    atomic_fetch_add(&chain->users, 1);
    return chain;
}

void sluice_chain_unref(struct sluice_chain **chain)
{
    struct sluice_chain *c = *chain;
    *chain = NULL;
    if (!c || atomic_fetch_sub(&c->users, 1) > 1)
        return;
    chain_finish(&c->chain);
    sluice_definitions_unref(&c->definitions);
    text_finish(&c->canonical);
    text_finish(&c->brief);
    free(c);
}

const char *sluice_chain_text(const struct sluice_chain *chain)
{
    return text_string(&chain->canonical);
}

const char *sluice_chain_short(const struct sluice_chain *chain)
{
    return text_string(&chain->brief);
}

/* ---- stages as data ---- */

static unsigned count_parameters(const struct stage *stage)
{
    unsigned n = 0;
    while (stage->params && stage->params[n].name)
        n++;
    return n;
}

int sluice_stage_get(size_t index, struct sluice_stage *stage)
{
    for (const struct stage *const *s = stage_registry; *s; s++)
        if (!(*s)->internal && index-- == 0) {
            struct sluice_stage own = {
                .name = (*s)->name, .summary = (*s)->summary, .n_parameters = count_parameters(*s)};
            library_give(stage, &own, sizeof own);
            return 0;
        }
    return SLUICE_E_USAGE;
}

static int kind_of(enum param_type type)
{
    switch (type) {
    case PARAM_INTEGER:
        return SLUICE_INTEGER;
    case PARAM_REAL:
    case PARAM_REAL_OR_CHOICE:
        return SLUICE_REAL;
    case PARAM_FLAG:
        return SLUICE_FLAG;
    case PARAM_CHOICE:
        return SLUICE_CHOICE;
    case PARAM_INTEGERS:
    case PARAM_REALS:
        return SLUICE_NUMBERS;
    case PARAM_MATRIX:
        return SLUICE_MATRIX;
    default:
        return SLUICE_WORDS;
    }
}

int sluice_stage_parameter(const char *name, size_t index, struct sluice_parameter *parameter)
{
    const struct stage *stage = stage_find(name, strlen(name));
    if (!stage || stage->internal || index >= count_parameters(stage))
        return SLUICE_E_USAGE;
    const struct param *param = &stage->params[index];
    struct text allowed = {0};
    struct sluice_parameter own = {.name = param->name,
                                   .help = param->help,
                                   .fallback = param->fallback,
                                   .kind = kind_of(param->type),
                                   .required = param->required,
                                   .limited = param_is_limited(param),
                                   .min = param->min,
                                   .max = param->max};
    for (const struct param_choice *c = param->choices; c && c->name; c++)
        if (own.n_choices < SLUICE_CHOICES)
            own.choices[own.n_choices++] = c->name;
    param_print_allowed(param, &allowed);
    snprintf(own.allowed, sizeof own.allowed, "%s", text_string(&allowed));
    text_finish(&allowed);
    library_give(parameter, &own, sizeof own);
    return 0;
}
