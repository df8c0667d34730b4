#include "config/reader.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bank/definitions.h"
#include "base/log.h"

/* Filters as the file has them. */
struct filter_set {
    unsigned n;
    struct bank_filter *filters; /* owned */
};

struct bank_entry {
    char what[96]; /* "bank 'thirds'" */
    int64_t sampling[2];
    struct filter_set set[2][2]; /* analysis and synthesis; horizontal and vertical */
    bool lossy;
    unsigned n_qmf;
    double qmf[BANK_TAPS_MAX];
    unsigned n_steps;
    struct bank_step steps[BANK_STEPS_MAX];
    double gain[2]; /* behind them */
};

static unsigned read_taps(struct reader *reader, yaml_node_t *node, size_t most, double *taps)
{
    size_t n = reader_count(reader, node, "taps", 1, most);
    for (size_t i = 0; i < n; i++) {
        yaml_node_t *item = reader_item(reader, node, i);
        if (!reader_real(reader, item, "a tap", &taps[i]))
            return 0;
        if (taps[i] < -BANK_TAP_MAX || taps[i] > BANK_TAP_MAX)
            return reader_complain(reader, item, "a tap beyond %g", BANK_TAP_MAX);
    }
    return (unsigned)n;
}

static void read_filter_taps(struct reader *reader, const struct reader_key *key, yaml_node_t *node,
                             void *to)
{
    struct bank_filter *filter = to;
    filter->n_taps = read_taps(reader, node, BANK_TAPS_MAX, filter->taps);
}

static void read_place(struct reader *reader, const struct reader_key *key, yaml_node_t *node,
                       void *to)
{
    int64_t value = 0;
    if (reader_integer(reader, node, key->name, -BANK_PLACE_MAX, BANK_PLACE_MAX, &value))
        *(int *)to = (int)value;
}

static const struct reader_key filter_keys[] = {
    {.name = "taps", .read = read_filter_taps, .required = true},
    {.name = "zero", .read = read_place, .offset = offsetof(struct bank_filter, zero)},
    {.name = "shift", .read = read_place, .offset = offsetof(struct bank_filter, shift)},
    {0},
};

static void read_filters(struct reader *reader, const struct reader_key *key, yaml_node_t *node,
                         void *to)
{
    struct filter_set *set = to;
    size_t n = reader_count(reader, node, "filters", 1, BANK_FILTERS_MAX);
    set->filters = calloc(n + 1, sizeof *set->filters);
    if (!set->filters) {
        reader->errors->failed = true;
        return;
    }
    for (size_t i = 0; i < n; i++)
        reader_mapping(reader, reader_item(reader, node, i), "filter", filter_keys,
                       &set->filters[i]);
    set->n = (unsigned)n;
}

/* Analysis or synthesis. */
static void read_way(struct reader *reader, const struct reader_key *key, yaml_node_t *node,
                     void *to)
{
    static const struct reader_key keys[] = {
        {.name = "horizontal", .read = read_filters, .required = true},
        {.name = "vertical", .read = read_filters, .offset = sizeof(struct filter_set)},
        {0}};
    reader_mapping(reader, node, key->name, keys, to);
}

static void read_sampling(struct reader *reader, const struct reader_key *key, yaml_node_t *node,
                          void *to)
{
    int64_t *sampling = to;
    if (reader_count(reader, node, key->name, 2, 2) == 0)
        return;
    for (size_t i = 0; i < 2; i++)
        reader_integer(reader, reader_item(reader, node, i), key->name, 1, BANK_FACTOR_MAX,
                       &sampling[i]);
}

static void read_qmf(struct reader *reader, const struct reader_key *key, yaml_node_t *node,
                     void *to)
{
    struct bank_entry *entry = to;
    entry->n_qmf = read_taps(reader, node, BANK_TAPS_MAX, entry->qmf);
}

static void read_step_taps(struct reader *reader, const struct reader_key *key, yaml_node_t *node,
                           void *to)
{
    struct bank_step *step = to;
    step->updates = strcmp(key->name, "update") == 0;
    step->n_taps = read_taps(reader, node, BANK_STEP_TAPS_MAX, step->taps);
}

static void read_at(struct reader *reader, const struct reader_key *key, yaml_node_t *node,
                    void *to)
{
    int64_t value = 0;
    if (reader_integer(reader, node, key->name, -BANK_STEP_AT_MAX, BANK_STEP_AT_MAX, &value))
        *(int *)to = (int)value;
}

enum {
    KEY_PREDICT,
    KEY_UPDATE,
    KEY_AT
};
static const struct reader_key step_keys[] = {
    [KEY_PREDICT] = {.name = "predict", .read = read_step_taps},
    [KEY_UPDATE] = {.name = "update", .read = read_step_taps},
    [KEY_AT] = {.name = "at", .read = read_at, .offset = offsetof(struct bank_step, at)},
    {0},
};

static void read_lifting(struct reader *reader, const struct reader_key *key, yaml_node_t *node,
                         void *to)
{
    struct bank_entry *entry = to;
    entry->n_steps = (unsigned)reader_count(reader, node, "lifting", 1, BANK_STEPS_MAX);
    for (unsigned i = 0; i < entry->n_steps; i++) {
        struct bank_step *step = &entry->steps[i];
        yaml_node_t *item = reader_item(reader, node, i);
        uint64_t given = reader_mapping(reader, item, "step", step_keys, step);
        bool predicts = given & 1 << KEY_PREDICT, updates = given & 1 << KEY_UPDATE;
        if (predicts == updates)
            reader_complain(reader, item, "a step has either predict or update");
        if (!(given & 1 << KEY_AT)) /* the neighbours on both sides */
            step->at = -(int)(step->updates ? step->n_taps : step->n_taps - 1) / 2;
    }
}

static void read_gain(struct reader *reader, const struct reader_key *key, yaml_node_t *node,
                      void *to)
{
    double *gain = to;
    if (reader_count(reader, node, key->name, 2, 2) == 0)
        return;
    for (size_t i = 0; i < 2; i++) {
        yaml_node_t *item = reader_item(reader, node, i);
        if (reader_real(reader, item, "a gain", &gain[i]) &&
            !(fabs(gain[i]) >= 1e-9 && fabs(gain[i]) <= BANK_TAP_MAX))
            reader_complain(reader, item, "a gain is from 1e-9 to %g, of either sign",
                            BANK_TAP_MAX);
    }
}

static void read_lossy(struct reader *reader, const struct reader_key *key, yaml_node_t *node,
                       void *to)
{
    reader_flag(reader, node, key->name, to);
}

enum {
    KEY_SAMPLING,
    KEY_ANALYSIS,
    KEY_SYNTHESIS,
    KEY_QMF,
    KEY_LIFTING,
    KEY_GAIN,
};
#define AT(member) offsetof(struct bank_entry, member)
static const struct reader_key bank_keys[] = {
    [KEY_SAMPLING] = {.name = "sampling", .read = read_sampling, .offset = AT(sampling)},
    [KEY_ANALYSIS] = {.name = "analysis", .read = read_way, .offset = AT(set[0])},
    [KEY_SYNTHESIS] = {.name = "synthesis", .read = read_way, .offset = AT(set[1])},
    [KEY_QMF] = {.name = "qmf", .read = read_qmf},
    [KEY_LIFTING] = {.name = "lifting", .read = read_lifting},
    [KEY_GAIN] = {.name = "gain", .read = read_gain, .offset = AT(gain)},
    {.name = "lossy", .read = read_lossy, .offset = AT(lossy)},
    {0},
};

/* Checks the given keys against each other. */
static bool check_entry(struct reader *reader, yaml_node_t *node, const struct bank_entry *entry,
                        uint64_t given)
{
    const uint64_t both = 1 << KEY_ANALYSIS | 1 << KEY_SYNTHESIS;
    static const char *const direction[] = {"horizontal", "vertical"};
    bool qmf = given & 1 << KEY_QMF, lifting = given & 1 << KEY_LIFTING;
    if (given & 1 << KEY_GAIN && !lifting)
        return reader_complain(reader, node, "%s: gain goes with lifting", entry->what);
    if (qmf || lifting) {
        bool halves = entry->sampling[0] == 2 && entry->sampling[1] == 2;
        if (given & both || !halves || (qmf && lifting))
            return reader_complain(reader, node, "%s: %s is the whole bank, of sampling [2, 2]",
                                   entry->what, qmf ? "qmf" : "lifting");
        return entry->n_qmf > 0 || entry->n_steps > 0;
    }
    if ((given & both) != both || !(given & 1 << KEY_SAMPLING))
        return reader_complain(reader, node,
                               "%s needs sampling, analysis and synthesis, or qmf or lifting in "
                               "place of them",
                               entry->what);
    for (int d = 0; d < 2; d++) {
        unsigned n[2];
        for (int way = 0; way < 2; way++)
            n[way] = entry->set[way][d].filters ? entry->set[way][d].n : entry->set[way][0].n;
        if (n[0] != n[1])
            return reader_complain(reader, node, "%s: %u %s filters of analysis, %u of synthesis",
                                   entry->what, n[0], direction[d], n[1]);
    }
    return true;
}

/* Copies the four sets into one block of memory, as a definition has them. */
static bool make_bank(const struct bank_entry *entry, struct definition_bank *bank, bool *too_long)
{
    struct bank_direction *direction[2] = {&bank->bank.x, &bank->bank.y};
    bank->filters = calloc(4 * BANK_FILTERS_MAX, sizeof *bank->filters);
    if (!bank->filters)
        return false;
    struct bank_filter *next = bank->filters;
    for (int d = 0; d < 2; d++) {
        for (int way = 0; way < 2; way++) {
            const struct filter_set *set = &entry->set[way][d];
            if (!set->filters)
                set = &entry->set[way][0]; /* the vertical set is the same as the horizontal one */
            if (set->n > 0)
                memcpy(next, set->filters, set->n * sizeof *next);
            *(way ? &direction[d]->synthesis : &direction[d]->analysis) = next;
            direction[d]->n_filters = entry->n_qmf || entry->n_steps ? 2 : set->n;
            next += BANK_FILTERS_MAX;
        }
        if (entry->n_qmf)
            bank_make_qmf(entry->qmf, entry->n_qmf, next - 2 * BANK_FILTERS_MAX,
                          next - BANK_FILTERS_MAX);
        if (entry->n_steps &&
            !bank_make_lifting(entry->steps, entry->n_steps, entry->gain,
                               next - 2 * BANK_FILTERS_MAX, next - BANK_FILTERS_MAX))
            *too_long = true;
        direction[d]->factor = (unsigned)entry->sampling[d];
    }
    return true;
}

/* Logs how much a bank loses: always if it does not reconstruct, otherwise at level info. */
static void tell_error(const struct bank *bank)
{
    static const char format[] = "bank '%s': horizontally alias %.3g, distortion %.3g, vertically "
                                 "alias %.3g, distortion %.3g";
    struct bank_error x, y;
    if (!bank_measure(&bank->x, &x) || !bank_measure(&bank->y, &y))
        return;
    if (bank_check(bank, NULL) == 0)
        log_info(format, bank->name, x.alias, x.distortion, y.alias, y.distortion);
    else
        log_warning(format, bank->name, x.alias, x.distortion, y.alias, y.distortion);
}

static void read_bank(struct reader *reader, const char *name, yaml_node_t *node, void *to)
{
    struct bank_entry *entry = calloc(1, sizeof *entry);
    struct definition_bank bank = {.bank.name = name};
    unsigned errors = reader->n_errors;
    if (!entry) {
        reader->errors->failed = true;
        return;
    }
    snprintf(entry->what, sizeof entry->what, "bank '%s'", name);
    snprintf(bank.name, sizeof bank.name, "%s", name);
    entry->sampling[0] = entry->sampling[1] = 2;
    entry->gain[0] = entry->gain[1] = 1;
    uint64_t given = reader_mapping(reader, node, entry->what, bank_keys, entry);
    if (bank_builtin(name, strlen(name)))
        reader_complain(reader, node, "%s is built in: choose another name", entry->what);
    if (reader->n_errors == errors && check_entry(reader, node, entry, given)) {
        struct fault fault = FAULT_INIT;
        bool too_long = false, made = make_bank(entry, &bank, &too_long);
        if (too_long)
            fault_set(
                &fault, FAULT_CONFIG,
                "%s: these steps make filters beyond a bank's limits: %d taps, each up to %g, "
                "zeros up to %d",
                entry->what, BANK_TAPS_MAX, BANK_TAP_MAX, BANK_PLACE_MAX);
        bool refused = made && (too_long || (!entry->lossy && bank_check(&bank.bank, &fault) != 0));
        if (made && !refused)
            tell_error(&bank.bank);
        if (refused)
            reader_complain(reader, node, "%s", fault.text);
        else if (!made || !definitions_add_bank(to, &bank))
            reader->errors->failed = true;
        else
            bank.filters = NULL; /* owned by the definitions now */
    }
    free(bank.filters);
    for (int i = 0; i < 4; i++)
        free(entry->set[i / 2][i % 2].filters);
    free(entry);
}

void config_read_banks(struct reader *reader, const struct reader_key *key, yaml_node_t *node,
                       void *to)
{
    reader_names(reader, node, key->name, read_bank, to);
}

/* Coefficients in the form that fir takes. */
static const struct param kernel_param = {
    .name = "k", .type = PARAM_MATRIX, .min = -1e9, .max = 1e9};

/* Reads a kernel: as chains write it, or as a sequence of rows. */
static void read_kernel(struct reader *reader, const char *name, yaml_node_t *node, void *to)
{
    struct definition_kernel *kernel = calloc(1, sizeof *kernel);
    struct text text = {0};
    char what[96];
    struct fault fault = FAULT_INIT;
    unsigned errors = reader->n_errors;
    snprintf(what, sizeof what, "kernel '%s'", name);
    if (node->type == YAML_SEQUENCE_NODE) {
        size_t rows = reader_count(reader, node, what, 1, PARAM_MATRIX_SIDE);
        for (size_t r = 0; r < rows; r++) {
            yaml_node_t *row = reader_item(reader, node, r);
            size_t columns = reader_count(reader, row, what, 1, PARAM_MATRIX_SIDE);
            for (size_t c = 0; c < columns; c++) {
                const char *value = reader_scalar(reader, reader_item(reader, row, c), what);
                text_printf(&text, "%s%s", c ? "_" : r ? "/" : "", value ? value : "0");
            }
        }
    } else {
        const char *value = reader_scalar(reader, node, what);
        text_append(&text, value ? value : "");
    }
    if (!kernel || text.failed) {
        reader->errors->failed = true;
    } else if (reader->n_errors == errors) {
        snprintf(kernel->name, sizeof kernel->name, "%s", name);
        if (param_set(&kernel_param, &kernel->k, text_string(&text), text.length, true, what,
                      &fault) != 0 ||
            kernel->k.choice != PARAM_IS_NUMBER)
            reader_complain(reader, node, "%s: expected rows of numbers, as 1_2_1/2_4_2/1_2_1",
                            what);
        else if (kernel->k.columns % 2 == 0 || kernel->k.rows % 2 == 0)
            reader_complain(reader, node,
                            "%s has %u columns and %u rows; each must be odd, from 1 to %d", what,
                            kernel->k.columns, kernel->k.rows, PARAM_MATRIX_SIDE);
        else if (!definitions_add_kernel(to, kernel))
            reader->errors->failed = true;
    }
    text_finish(&text);
    free(kernel);
}

void config_read_kernels(struct reader *reader, const struct reader_key *key, yaml_node_t *node,
                         void *to)
{
    reader_names(reader, node, key->name, read_kernel, to);
}
