/* The forms in which a level is put together: on CPUs one kernel, except for integers
 * (cl/dwt/dwt.cl); on GPUs with local memory lifting (cl/dwt/dwt_walk.cl), for wavelets that have
 * it, or sums down columns (cl/dwt/dwt_sums.cl) for other short filters; otherwise one direction
 * after the other (cl/dwt/dwt_lines.cl). */
#include "stage/dwt/dwt_level.h"
#include "stage/dwt/shrink.h"

/* As in dwt_analysis.c. */
enum {
    LEVEL_SAMPLES = 512,
    FEW_TAPS = 6 /* of each pair of columns, on GPUs with few registers */
};

/* Definitions and first arguments of a kernel that does all of a level. */
static void describe(const struct dwt_synthesis *s, struct pass *pass)
{
    dwt_define_work(&s->task, pass);
    pass_define_type(pass, "DST", s->out_type);
    pass->bytes_read = dwt_band_bytes(&s->task);
    pass->bytes_written = dwt_signal_samples(&s->task) * sample_size(s->out_type);
    dwt_pass_bands(&s->task, pass);
    dwt_pass_place(pass, s->out);
}

static bool makes_sums(const struct dwt_synthesis *s)
{
    return s->task.config->precision != DWT_REVERSIBLE;
}

static bool suits_level(const struct dwt_synthesis *s)
{
    return s->task.plan->profile->form == FORM_ROWS && makes_sums(s);
}

static void add_level(const struct dwt_synthesis *s)
{
    const struct dwt_level *l = s->task.level;
    uint32_t c = s->task.layout->channels;
    struct dwt_taps vertical = dwt_synthesis_taps(&s->task, l->height, 1);
    struct dwt_taps horizontal = dwt_synthesis_taps(&s->task, l->width, s->scale);
    struct pass *pass = pass_begin(s->task.plan, "dwt", "synthesis", FORM_ROWS,
                                   LEVEL_SAMPLES / c * c, (l->width + 1) / 2 * c,
                                   (l->height + 1) / 2);
    describe(s, pass);
    pass->work = 16.0 * (vertical.count + horizontal.count);
    dwt_pass_taps(pass, &vertical);
    dwt_pass_taps(pass, &horizontal);
    dwt_pass_size(&s->task, pass);
    dwt_pass_band_sizes(l, pass);
    pass_int(pass, dwt_kernel_ends(&s->task));
}

static bool suits_walk(const struct dwt_synthesis *s)
{
    return dwt_is_lifting(&s->task) && (dwt_suits_gpu(&s->task) || dwt_suits_columns(&s->task));
}

/* cdf53 and cdf97 have a gain of 1, so there is nothing to scale. */
static void add_walk(const struct dwt_synthesis *s)
{
    uint32_t rows;
    struct pass *pass = dwt_begin_walk(&s->task, "synthesis", &rows);
    describe(s, pass);
    pass_define(pass, "DST_SIZE", "%zu", sample_size(s->out_type));
    dwt_define_lifting(&s->task, pass, rows);
    dwt_pass_lifting(&s->task, pass, true, rows);
}

/* Whether sums of up to `most` products are constant code: their filters. */
static bool fits(const struct dwt_synthesis *s, unsigned most, struct wavelet_synthesis *w)
{
    wavelet_synthesis(s->task.config->wavelet, s->task.config->mode, w);
    return makes_sums(s) && !s->task.plan->profile->generic && w->count <= most &&
           s->task.layout->channels == 1 && s->task.level->width > 1 && s->task.level->height > 1;
}

/* By sums of products, on GPUs with few registers: 7 for each of a pair of columns do not fit. */
static bool suits_taps(const struct dwt_synthesis *s)
{
    struct wavelet_synthesis w;
    return dwt_suits_columns(&s->task) && fits(s, FEW_TAPS, &w);
}

static void add_taps(const struct dwt_synthesis *s)
{
    const struct dwt_level *l = s->task.level;
    struct wavelet_synthesis w;
    wavelet_synthesis(s->task.config->wavelet, s->task.config->mode, &w);
    struct dwt_taps taps = dwt_synthesis_taps(&s->task, l->width, 1);
    uint32_t rows = dwt_walk_rows(&s->task, 1), n_rows = (l->height + 1) / 2;
    struct pass *pass = pass_begin(s->task.plan, "dwt_taps", "synthesis", FORM_SCALAR, 1,
                                   (l->width + 1) / 2, (n_rows + rows - 1) / rows);
    dwt_name_wavelet(pass, s->task.config->wavelet);
    describe(s, pass);
    pass_define(pass, "TAPS", "%u", w.count);
    pass_define(pass, "LAST", "%u", w.count - 1);
    pass_define(pass, "WINDOW_AT", "(%d)", w.first);
    pass_define(pass, "GAIN", "%af", (double)(float)s->scale);
    dwt_define_each(pass, "EL", w.low[0], w.count, FEW_TAPS);
    dwt_define_each(pass, "OL", w.low[1], w.count, FEW_TAPS);
    dwt_define_each(pass, "EH", w.high[0], w.count, FEW_TAPS);
    dwt_define_each(pass, "OH", w.high[1], w.count, FEW_TAPS);
    pass->work = 16.0 * w.count * rows;
    pass_buffer(pass, taps.table);
    pass_ints(pass, rows, n_rows);
    dwt_pass_size(&s->task, pass);
    dwt_pass_band_sizes(l, pass);
    pass_int(pass, dwt_kernel_ends(&s->task));
}

static unsigned level_of(const struct dwt_synthesis *s)
{
    return (unsigned)(s->task.level - s->task.layout->levels);
}

/* The thresholds that this level's kernel applies, or NULL. */
static const struct shrink_limits *limits_of(const struct dwt_synthesis *s)
{
    const struct shrink_limits *limits = s->task.scratch->limits;
    return limits && shrink_takes_level(limits->config, level_of(s)) ? limits : NULL;
}

/* By sums of products down columns, on GPUs with many registers: as many as fit for each of a pair
 * of columns. */
static bool suits_sums(const struct dwt_synthesis *s)
{
    struct wavelet_synthesis w;
    return dwt_suits_gpu(&s->task) && fits(s, s->task.layout->type == SAMPLE_F64 ? 5 : 9, &w);
}

static void add_sums(const struct dwt_synthesis *s)
{
    enum {
        COLUMNS = 2, /* pairs of columns of each work-item; and items of a group */
        ITEMS = 64
    };
    const struct dwt_level *l = s->task.level;
    enum sample_type type = s->task.layout->type;
    struct wavelet_synthesis w;
    wavelet_synthesis(s->task.config->wavelet, s->task.config->mode, &w);
    uint32_t n_rows = (l->height + 1) / 2, rows = w.count > 4 ? 24 : 16;
    uint32_t offset = (uint32_t)(w.first & 1);
    if (rows > n_rows / 64)
        rows = n_rows / 64 > 8 ? n_rows / 64 : 8;
    struct pass *pass = pass_begin(s->task.plan, "dwt_sums", "synthesis", FORM_VECTOR, COLUMNS,
                                   (l->width + 1) / 2, (n_rows + rows - 1) / rows);
    pass->group[0] = ITEMS;
    pass_define(pass, "ITEMS", "%u", ITEMS);
    dwt_name_wavelet(pass, s->task.config->wavelet);
    describe(s, pass);
    pass_define(pass, "M", "%u", w.count);
    pass_define(pass, "WINDOW_AT", "(%d)", w.first);
    pass_define(pass, "OFFSET", "%u", offset);
    pass_define(pass, "BEGIN", "(%d)", w.first - (int)offset);
    pass_define(pass, "PAIRS", "%u", (offset + COLUMNS + w.count - 1 + 1) / 2);
    pass_define(pass, "GAIN", type == SAMPLE_F64 ? "%a" : "%af", s->scale);
    dwt_define_taps(pass, type, "EVEN_LOW", w.low[0], w.count);
    dwt_define_taps(pass, type, "ODD_LOW", w.low[1], w.count);
    dwt_define_taps(pass, type, "EVEN_HIGH", w.high[0], w.count);
    dwt_define_taps(pass, type, "ODD_HIGH", w.high[1], w.count);
    pass->work = 32.0 * w.count * rows;
    pass_ints(pass, rows, n_rows);
    dwt_pass_size(&s->task, pass);
    dwt_pass_band_sizes(l, pass);
    pass_int(pass, dwt_kernel_ends(&s->task));
    const struct shrink_limits *limits = limits_of(s);
    if (limits) {
        pass_name(pass, "shrink");
        for (int b = DWT_HL; b < DWT_BANDS; b++)
            pass_int(pass, (int32_t)shrink_value_at(s->task.bands[b].plane));
        shrink_add_limits(pass, limits);
    }
}

/* Which movement serves what: the first that suits. */
static const struct {
    bool (*suits)(const struct dwt_synthesis *s); /* NULL: all that is left */
    void (*add)(const struct dwt_synthesis *s);
} ways[] = {
    {suits_level, add_level}, /* both directions at once: CPUs */
    {suits_walk, add_walk},   /* walker, by steps: cdf97 and cdf53 of one channel on GPUs */
    {suits_taps, add_taps},   /* walker, by sums: few taps on Mali */
    {suits_sums, add_sums},   /* walker, by sums: few taps on GPUs with local memory */
    {NULL, dwt_join_lines},   /* one direction at a time */
};

void dwt_add_synthesis(const struct dwt_synthesis *s)
{
    unsigned way = 0;
    bool by_lines = dwt_goes_by_lines(s->task.config);
    while (ways[way].suits && (by_lines || !ways[way].suits(s)))
        way++;
    if (limits_of(s) && ways[way].add != add_sums) /* which alone applies them */
        s->task.scratch->missed = true;
    else
        ways[way].add(s);
}
