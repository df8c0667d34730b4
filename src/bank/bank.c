#include "bank/bank.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Haar has the normalisation of PyWavelets. The others follow ISO/IEC 15444-1: the low-pass has a
 * gain of 1. A high-pass filter takes the odd samples, so its shift is 1. */
static const struct bank_filter haar_analysis[] = {
    {2, 1, 0, {M_SQRT1_2, M_SQRT1_2}},
    {2, 0, 1, {-M_SQRT1_2, M_SQRT1_2}},
};
static const struct bank_filter haar_synthesis[] = {
    {2, 0, 0, {M_SQRT1_2, M_SQRT1_2}},
    {2, 1, 1, {M_SQRT1_2, -M_SQRT1_2}},
};
static const struct bank_filter legall53_analysis[] = {
    {5, 2, 0, {-0.125, 0.25, 0.75, 0.25, -0.125}},
    {3, 1, 1, {-0.5, 1, -0.5}},
};
static const struct bank_filter legall53_synthesis[] = {
    {3, 1, 0, {0.5, 1, 0.5}},
    {5, 2, 1, {-0.125, -0.25, 0.75, -0.25, -0.125}},
};
static const struct bank_filter cdf97_analysis[] = {
    {9,
     4,
     0,
     {0.026748757411, -0.016864118443, -0.078223266529, 0.266864118443, 0.602949018236,
      0.266864118443, -0.078223266529, -0.016864118443, 0.026748757411}},
    {7,
     3,
     1,
     {0.091271763114, -0.057543526228, -0.591271763114, 1.115087052457, -0.591271763114,
      -0.057543526228, 0.091271763114}},
};
static const struct bank_filter cdf97_synthesis[] = {
    {7,
     3,
     0,
     {-0.091271763114, -0.057543526228, 0.591271763114, 1.115087052457, 0.591271763114,
      -0.057543526228, -0.091271763114}},
    {9,
     4,
     1,
     {0.026748757411, 0.016864118443, -0.078223266529, -0.266864118443, 0.602949018236,
      -0.266864118443, -0.078223266529, 0.016864118443, 0.026748757411}},
};

#define HALVES(name_)                                                                              \
    {                                                                                              \
        2, 2, name_##_analysis, name_##_synthesis                                                  \
    }
static const struct bank builtin[] = {
    {"haar", HALVES(haar), HALVES(haar)},
    {"legall53", HALVES(legall53), HALVES(legall53)},
    {"cdf97", HALVES(cdf97), HALVES(cdf97)},
};
#define N_BUILTIN (sizeof builtin / sizeof *builtin)

const struct bank *bank_builtin(const char *name, size_t length)
{
    for (size_t i = 0; i < N_BUILTIN; i++)
        if (strlen(builtin[i].name) == length && memcmp(builtin[i].name, name, length) == 0)
            return &builtin[i];
    return NULL;
}

const char *bank_builtin_name(size_t index)
{
    return index < N_BUILTIN ? builtin[index].name : NULL;
}

static int64_t most(int64_t a, int64_t b)
{
    return a > b ? a : b;
}

struct bank_span bank_analysis_span(struct bank_span in, const struct bank_filter *filter,
                                    const struct bank_filter *back, unsigned factor, bool all)
{
    int64_t m = factor, shift = filter->shift;
    int64_t whole = in.length + filter->n_taps - 1; /* of the convolution */
    int64_t lead = in.zero + filter->zero + shift;
    int64_t zero = bank_floor(lead, m), ignored = lead - zero * m;
    int64_t length = most(bank_ceil(whole - ignored, m), 0);
    if (all) {
        int64_t after = (int64_t)back->n_taps - back->zero - 1;
        int64_t first = -most(zero, -bank_ceil(-in.zero - shift - after, m));
        int64_t last =
            most(length - zero - 1, bank_floor(in.length - 1 - in.zero - shift + back->zero, m));
        zero = -first;
        length = most(last - first + 1, 0);
    }
    return (struct bank_span){length, zero};
}

struct bank_span bank_period(struct bank_span in, unsigned factor)
{
    return (struct bank_span){bank_ceil(in.length, factor), 0};
}

struct bank_span bank_synthesis_span(const struct bank_span *bands,
                                     const struct bank_filter *filters, unsigned n_filters,
                                     unsigned factor)
{
    int64_t m = factor, negative = INT64_MIN / 4, rest = INT64_MIN / 4;
    for (unsigned j = 0; j < n_filters; j++) {
        const struct bank_filter *f = &filters[j];
        if (bands[j].length == 0)
            continue;
        negative = most(negative, most(bands[j].zero * m - f->shift, 0) + f->zero);
        rest = most(rest, (bands[j].length - bands[j].zero - 1) * m + 1 + f->shift +
                              (int64_t)f->n_taps - f->zero - 1);
    }
    if (negative < 0 && rest < 0)
        return (struct bank_span){0, 0};
    return (struct bank_span){most(negative + rest, 0), negative};
}

void bank_make_qmf(const double *taps, unsigned n_taps, struct bank_filter analysis[2],
                   struct bank_filter synthesis[2])
{
    for (int band = 0; band < 2; band++) {
        analysis[band] = (struct bank_filter){.n_taps = n_taps};
        synthesis[band] = (struct bank_filter){.n_taps = n_taps, .zero = (int)n_taps - 1};
        for (unsigned k = 0; k < n_taps; k++) {
            double h = band == 1 && k % 2 == 1 ? -taps[k] : taps[k];
            analysis[band].taps[k] = h;
            synthesis[band].taps[k] = band == 1 ? -h : h;
        }
    }
}

/* ---- lifting ---- */

/* A finite sequence over the indices −LINE_REACH … LINE_REACH, of samples or of pairs of them. */
enum {
    STEP_REACH = BANK_STEP_AT_MAX + BANK_STEP_TAPS_MAX, /* of a step, in pairs */
    LINE_REACH = 2 * (BANK_STEPS_MAX * STEP_REACH + 1)
};
struct line {
    double v[2 * LINE_REACH + 1];
};

/* Adds `factor` times the sequence, moved by so many places. */
static void add_moved(struct line *to, const struct line *from, int moved, double factor)
{
    for (int i = 0; i <= 2 * LINE_REACH; i++)
        if (i + moved >= 0 && i + moved <= 2 * LINE_REACH)
            to->v[i + moved] += factor * from->v[i];
}

/* The taps from the first to the last one that is more than what rounding leaves of sums that
 * cancel; *first is the index of the first. */
static bool take_taps(const struct line *line, struct bank_filter *filter, int *first)
{
    double most = 0;
    int begin = 0, end = 2 * LINE_REACH;
    for (int i = 0; i <= 2 * LINE_REACH; i++)
        most = fmax(most, fabs(line->v[i]));
    while (begin < end && fabs(line->v[begin]) <= most * 0x1p-46)
        begin++;
    while (end > begin && fabs(line->v[end]) <= most * 0x1p-46)
        end--;
    *first = begin - LINE_REACH;
    *filter = (struct bank_filter){.n_taps = (unsigned)(end - begin + 1)};
    if (filter->n_taps > BANK_TAPS_MAX)
        return false;
    memcpy(filter->taps, &line->v[begin], filter->n_taps * sizeof *filter->taps);
    return true;
}

/* The window of samples x[2n + k] that make even and odd sample n after all steps. */
static bool lift_window(const struct bank_step *steps, unsigned n_steps, const double gain[2],
                        struct line half[2], struct bank_filter analysis[2])
{
    half[0].v[LINE_REACH] = half[1].v[LINE_REACH + 1] = 1;
    for (unsigned s = 0; s < n_steps; s++)
        for (unsigned j = 0; j < steps[s].n_taps; j++)
            add_moved(&half[!steps[s].updates], &half[steps[s].updates], 2 * (steps[s].at + (int)j),
                      steps[s].taps[j]);
    for (int band = 0; band < 2; band++) {
        int first;
        struct bank_filter window, *f = &analysis[band];
        if (!take_taps(&half[band], &window, &first))
            return false;
        /* tap p of a filter is for x[2n + shift − p + zero] */
        *f = (struct bank_filter){.n_taps = window.n_taps, .shift = band};
        f->zero = first + (int)window.n_taps - 1 - band;
        for (unsigned p = 0; p < f->n_taps; p++)
            f->taps[p] = window.taps[f->n_taps - 1 - p] * gain[band];
    }
    return true;
}

/* What a coefficient of 1 becomes, by the steps backwards: samples at index 2n + k. */
static bool lift_back(const struct bank_step *steps, unsigned n_steps, int band, double gain,
                      struct line half[2], struct line *all, struct bank_filter *filter)
{
    int first;
    half[band].v[LINE_REACH] = 1 / gain;
    for (unsigned s = n_steps; s-- > 0;)
        for (unsigned j = 0; j < steps[s].n_taps; j++)
            add_moved(&half[!steps[s].updates], &half[steps[s].updates], -(steps[s].at + (int)j),
                      -steps[s].taps[j]);
    for (int i = -LINE_REACH / 2; i < LINE_REACH / 2; i++) {
        all->v[LINE_REACH + 2 * i] = half[0].v[LINE_REACH + i];
        all->v[LINE_REACH + 2 * i + 1] = half[1].v[LINE_REACH + i];
    }
    if (!take_taps(all, filter, &first))
        return false;
    filter->shift = band;
    filter->zero = band - first;
    return true;
}

static bool is_within(const struct bank_filter *filter)
{
    bool is = abs(filter->zero) <= BANK_PLACE_MAX;
    for (unsigned k = 0; k < filter->n_taps; k++)
        is &= fabs(filter->taps[k]) <= BANK_TAP_MAX;
    return is;
}

bool bank_make_lifting(const struct bank_step *steps, unsigned n_steps, const double gain[2],
                       struct bank_filter analysis[2], struct bank_filter synthesis[2])
{
    struct line *lines = calloc(8, sizeof *lines);
    bool made = lines && lift_window(steps, n_steps, gain, lines, analysis);
    for (int band = 0; band < 2 && made; band++)
        made = lift_back(steps, n_steps, band, gain[band], &lines[2 + 3 * band],
                         &lines[4 + 3 * band], &synthesis[band]) &&
               is_within(&analysis[band]) && is_within(&synthesis[band]);
    free(lines);
    return made;
}

/* ---- perfect reconstruction ---- */

/* A single sample at each of its M places is taken apart and put
 * together, and the result is compared with the sample. */

/* The largest distance at which a sample can reappear: two filters with their zeros, and two
 * shifts. */
#define REACH (2 * (BANK_TAPS_MAX + BANK_PLACE_MAX) + 2 * BANK_PLACE_MAX)
#define WIDTH (2 * REACH + 1)

/* Adds one band's response to the sample at index `place`, by its distance from there. */
static void add_response(const struct bank_filter *h, const struct bank_filter *g, unsigned factor,
                         unsigned place, double *response)
{
    for (unsigned p = 0; p < h->n_taps; p++) {
        int64_t at = (int64_t)p - h->zero + place; /* index in the convolution for this tap */
        int64_t m = bank_floor(at - h->shift, factor);
        if (m * factor + h->shift != at)
            continue; /* not a sample of the band */
        for (unsigned q = 0; q < g->n_taps; q++) {
            int64_t index = m * factor + g->shift + (int64_t)q - g->zero;
            response[index - place + REACH] += h->taps[p] * g->taps[q];
        }
    }
}

bool bank_measure(const struct bank_direction *direction, struct bank_error *error)
{
    unsigned factor = direction->factor;
    double *responses = calloc((size_t)factor * WIDTH, sizeof *responses), largest = -1;
    if (!responses)
        return false;
    *error = (struct bank_error){0};
    for (unsigned place = 0; place < factor; place++)
        for (unsigned j = 0; j < direction->n_filters; j++)
            add_response(&direction->analysis[j], &direction->synthesis[j], factor, place,
                         &responses[(size_t)place * WIDTH]);
    for (int d = 0; d < WIDTH; d++) {
        double mean = 0;
        for (unsigned place = 0; place < factor; place++)
            mean += responses[(size_t)place * WIDTH + d] / factor;
        for (unsigned place = 0; place < factor; place++)
            error->alias = fmax(error->alias, fabs(responses[(size_t)place * WIDTH + d] - mean));
        if (fabs(mean) > largest) {
            largest = fabs(mean);
            error->delay = d - REACH;
        }
        error->distortion = fmax(error->distortion, fabs(mean - (d == REACH)));
    }
    free(responses);
    return true;
}

static bool reconstructs(const struct bank_error *error)
{
    return error->alias <= BANK_RECONSTRUCTS && error->distortion <= BANK_RECONSTRUCTS;
}

int bank_check(const struct bank *bank, struct fault *fault)
{
    struct bank_error x, y;
    if (!bank_measure(&bank->x, &x) || !bank_measure(&bank->y, &y))
        return fault_set(fault, FAULT_MEMORY, "no memory to check a bank");
    if (reconstructs(&x) && reconstructs(&y))
        return 0;
    int delay = reconstructs(&x) ? y.delay : x.delay;
    char hint[96] = "";
    if (delay != 0)
        snprintf(hint, sizeof hint, " (what comes out is moved by %d: add that to the zeros)",
                 delay);
    return fault_set(fault, FAULT_CONFIG,
                     "bank '%s' does not reconstruct: horizontally alias %.3g, distortion %.3g, "
                     "vertically alias %.3g, distortion %.3g; say 'lossy: true' if it need not%s",
                     bank->name, x.alias, x.distortion, y.alias, y.distortion, hint);
}
