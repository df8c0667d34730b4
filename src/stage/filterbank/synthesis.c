/* synthesis: bands are put together along columns, then along rows, level by level from the
 * coarsest. A pass adds two bands; further passes add to the sums of the pass before. */
#include "stage/filterbank/synthesis.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "stage/common.h"
#include "stage/dwt/dwt_level.h"

#define AT(member) offsetof(struct filterbank_config, member)
static const struct param params[] = {
    PARAM(WORD, "bank", AT(bank),
          "haar, legall53, cdf97 or @name; without it the planes say what they came from"),
    PARAM(INTEGER, "levels", AT(levels), "how many are undone, from the coarsest; without it all",
          RANGE(1, FILTERBANK_LEVELS_MAX)),
    PARAM(WORDS, "sequence", AT(sequence), "the bank of each level, joined by _"),
    PARAM(WORDS, "sequences", AT(sequences),
          "several sequences, joined by /: a plane comes out for each"),
    PARAM(CHOICE, "border", AT(border),
          "of the analysis; periodization: bands go on cyclically, with others they are zero outside "
          "their samples",
          .choices = filterbank_borders),
    PARAM(CHOICE, "precision", AT(precision), "of the arithmetic; without it that of the analysis",
          .choices = filterbank_precisions),
    PARAM(INTEGER, "dims", AT(dims), "2: rows and columns; 1: each row is a signal of its own",
          RANGE(1, 2)),
    PARAM(FLAG, "crop", AT(crop),
          "cut to the original's size, place and type; 0: all samples, as f32 or f64",
          DEFAULT("1")),
    PARAM(WORD, "size", AT(size),
          "WIDTHxHEIGHT of the original, for planes that do not say it; places their bands, too"),
    PARAM(CHOICE, "type", AT(type),
          "of the samples that such planes came from; without it that of the planes",
          .choices = stage_type_choices),
    {0},
};

static int complete(void *config_, param_given *given, struct fault *fault)
{
    struct filterbank_config *config = config_;
    struct plane size;
    config->given = *given;
    if (*given & FILTERBANK_WORD_SIZE &&
        (!plane_parse_size(config->size, &size) || size.channels != 1))
        return fault_set(fault, FAULT_CHAIN, "synthesis: size=%s: expected WIDTHxHEIGHT",
                         config->size);
    if (!(*given & FILTERBANK_WORD_LEVELS))
        config->levels = 1;
    if (!(*given & FILTERBANK_WORD_DIMS))
        config->dims = 2;
    if (!(*given & FILTERBANK_WORD_BORDER))
        config->border = WAVELET_ZERO;
    return filterbank_resolve(config, "synthesis", fault);
}

static int shape(const void *config, const struct frame *in, size_t alignment, struct frame *out,
                 struct fault *fault)
{
    struct synthesis_work work;
    int result = synthesis_work_create(&work, config, in, fault);
    for (size_t i = 0; i < work.n && result == 0; i++)
        result = stage_add_plane(out, &work.cascades[i].out, alignment, fault);
    synthesis_work_finish(&work);
    return result;
}

/* A plane that passes read or write, and the index of its first samples. */
struct place {
    unsigned operand, index;
    struct bank_span x, y;
};

struct run {
    const struct filterbank_config *config;
    struct stage_plan *plan;
    struct filterbank_taps *taps;
    enum sample_type sum; /* of sums and of planes between levels */
    uint32_t channels;
    unsigned level; /* at which passes are added */
    bool cyclic;    /* bands go on cyclically */
    /* columns of a level; results of levels, by turns; sums of rows that are not complete */
    struct filterbank_scratch columns, results[2], sums;
};

static const struct plane *plane_at(const struct run *run, const struct place *place)
{
    return dwt_plane(run->plan, (struct dwt_place){place->operand, place->index});
}

/* A plane for sums. */
static struct place add_scratch(struct run *run, struct filterbank_scratch *scratch,
                                struct bank_span x, struct bank_span y)
{
    struct plane like = {.channels = run->channels, .type = run->sum};
    unsigned index = filterbank_scratch_add(run->plan, scratch, like, x, y);
    return (struct place){run->plan->out_of_memory ? OPERAND_IN : scratch->operand, index, x, y};
}

/* Up to two bands of a signal, in one direction. */
struct task {
    unsigned n_bands;
    struct place from[2];
    const struct bank_filter *filter[2];
    unsigned factor;
    bool rows;
    const struct place *sums; /* sums to add to; NULL: none */
};

static struct bank_span along(const struct task *task, const struct place *place)
{
    return task->rows ? place->x : place->y;
}

static struct bank_span across(const struct task *task, const struct place *place)
{
    return task->rows ? place->y : place->x;
}

/* The sample at position M·g + r is the sum of taps[r][t] times the band's sample g + base + t. */
struct stencil {
    int32_t at, n_taps, base[2];
};

/* The filter's tap for position o of the result and sample n of the band is o + offset − M·n. */
static int64_t tap_offset(const struct task *task, unsigned b, const struct place *to)
{
    const struct bank_filter *f = task->filter[b];
    return f->zero - f->shift + task->factor * along(task, &task->from[b]).zero -
           along(task, to).zero;
}

static bool make_stencil(struct run *run, const struct task *task, const struct place *to,
                         struct stencil *stencil)
{
    int64_t m = task->factor, n = 0;
    for (unsigned b = 0; b < task->n_bands; b++) {
        int64_t offset = tap_offset(task, b, to);
        int64_t first = bank_ceil(offset - task->filter[b]->n_taps + 1, m);
        int64_t last = bank_floor(m - 1 + offset, m);
        stencil->base[b] = (int32_t)first;
        n = last - first + 1 > n ? last - first + 1 : n;
    }
    double *data = filterbank_taps_add(run->taps, (size_t)(n * m) * task->n_bands, &stencil->at);
    for (unsigned b = 0; b < task->n_bands && data; b++) {
        const struct bank_filter *f = task->filter[b];
        int64_t offset = tap_offset(task, b, to);
        for (int64_t r = 0; r < m; r++)
            for (int64_t t = 0; t < n; t++) {
                int64_t p = r + offset - m * (stencil->base[b] + t);
                if (p >= 0 && p < f->n_taps)
                    data[(b * m + r) * n + t] = f->taps[p];
            }
    }
    stencil->n_taps = (int32_t)n;
    return data != NULL;
}

/* Positions of the result whose taps all have samples, in whole steps of M. */
static void inner_range(const struct task *task, const struct stencil *stencil, int64_t length,
                        int64_t *begin, int64_t *end)
{
    *begin = 0;
    *end = length / task->factor;
    for (unsigned b = 0; b < task->n_bands; b++) {
        int64_t first = -stencil->base[b];
        int64_t last = along(task, &task->from[b]).length - stencil->n_taps - stencil->base[b] + 1;
        *begin = first > *begin ? first : *begin;
        *end = last < *end ? last : *end;
    }
    if (*end < *begin)
        *begin = *end = 0;
    *begin *= task->factor;
    *end *= task->factor;
}

/* In the other direction a band is only moved to its place. */
static void add_bands(struct pass *pass, const struct run *run, const struct task *task,
                      const struct place *to, const struct stencil *stencil)
{
    int32_t scale = task->rows ? 1 : (int32_t)run->channels;
    for (unsigned b = 0; b < task->n_bands; b++) {
        const struct place *from = &task->from[b];
        pass_plane(pass, from->operand, from->index);
        pass_ints(pass, stencil->base[b], (int32_t)along(task, from).length,
                  (int32_t)(across(task, to).zero - across(task, from).zero) * scale,
                  (int32_t)across(task, from).length * scale);
        pass->bytes_read += plane_bytes(plane_at(run, from));
    }
}

/* Of how many samples of the bands GPUs compute all results together, with the taps written into
 * the kernel; 0: they cannot. Down columns so many that registers hold their rows. */
static unsigned tile_positions(const struct run *run, const struct task *task,
                               const struct place *to, const struct stencil *stencil)
{
    const struct plane *target = plane_at(run, to);
    int32_t taps = stencil->n_taps * (int32_t)task->factor;
    bool suits = filterbank_takes_tiles(run->plan, run->config, task->factor, taps) &&
                 pass_is_aligned(target) && (!task->rows || target->channels == 1) &&
                 (task->rows || target->type == SAMPLE_F32) &&
                 (target->type == SAMPLE_F32 || sample_size(target->type) <= 2);
    for (unsigned b = 0; b < task->n_bands; b++)
        suits &= plane_at(run, &task->from[b])->type == SAMPLE_F32;
    if (task->sums)
        suits &= pass_is_aligned(plane_at(run, task->sums));
    return !suits ? 0 : task->rows || task->factor == 2 ? 4 : 2;
}

static void add_pass(struct run *run, const struct task *task, const struct place *to)
{
    struct stencil stencil;
    int64_t inner, inner_end;
    const struct plane *target = plane_at(run, to);
    if (!make_stencil(run, task, to, &stencil))
        return;
    unsigned positions = tile_positions(run, task, to, &stencil);
    unsigned tile = positions * task->factor, height = target->height;
    enum kernel_form form = run->plan->profile->form == FORM_ROWS ? FORM_ROWS
                            : tile > 0                            ? FORM_VECTOR
                                                                  : FORM_SCALAR;
    struct pass *pass = pass_begin(run->plan, "synthesis",
                                   task->rows ? (tile > 0 ? "rows_tile" : "rows")
                                              : (tile > 0 ? "columns_tile" : "columns"),
                                   form,
                                   tile == 0    ? 0
                                   : task->rows ? tile
                                                : 4,
                                   target->width * target->channels,
                                   tile == 0 || task->rows ? height : (height + tile - 1) / tile);
    snprintf(pass->place, sizeof pass->place, "level %u, %s", run->level,
             task->rows ? "rows" : "columns");
    pass->lanes = form == FORM_ROWS ? 16 : 0;
    pass_define(pass, "BANDS", "%u", task->n_bands);
    pass_name(pass, task->n_bands == 2 ? "two" : "one");
    pass_define_type(pass, "SRC0", plane_at(run, &task->from[0])->type);
    if (task->n_bands == 2)
        pass_define_type(pass, "SRC1", plane_at(run, &task->from[1])->type);
    pass_define_type(pass, "DST", target->type);
    pass_define_type(pass, "ACC", run->sum);
    if (task->sums) {
        pass_define(pass, "ADDS", "1");
        pass_name(pass, "adds");
    }
    if (!run->plan->profile->generic) {
        pass_define(pass, "CYCLIC", "%d", run->cyclic);
        if (run->cyclic)
            pass_name(pass, "cyclic");
    }
    pass_name(pass, kernel_form_name(form));
    add_bands(pass, run, task, to, &stencil);
    pass_plane(pass, to->operand, to->index);
    if (task->sums) {
        pass_plane(pass, task->sums->operand, task->sums->index);
        pass->bytes_read += plane_bytes(plane_at(run, task->sums));
    }
    pass_buffer(pass, OPERAND_TABLE);
    inner_range(task, &stencil, task->rows ? target->width : 0, &inner, &inner_end);
    int32_t channels = task->rows ? (int32_t)run->channels : 1;
    pass_ints(pass, stencil.at, stencil.n_taps, task->factor, run->cyclic, channels,
              (int32_t)inner * channels, (int32_t)inner_end * channels);
    if (tile > 0) {
        pass_define(pass, "FACTOR", "%u", task->factor);
        pass_define(pass, "POSITIONS", "%u", positions);
        pass_define(pass, "TAPS", "%d", stencil.n_taps);
        int32_t n = stencil.n_taps * (int32_t)task->factor;
        for (unsigned b = 0; b < task->n_bands; b++)
            filterbank_define_taps(pass, b, run->taps, stencil.at + (int32_t)b * n, n);
    }
    if (tile > 0 && !task->rows)
        pass_int(pass, (int32_t)height);
    pass->bytes_written = plane_bytes(target);
    pass->work = 2.0 * task->n_bands * stencil.n_taps * (tile > 0 && !task->rows ? tile : 1);
}

/* One pass reads two bands; in generic plans only bands of the same type, so that there are few
 * kernels. */
static unsigned count_together(const struct run *run, const struct place *bands, unsigned n)
{
    bool same = n > 1 && plane_at(run, &bands[0])->type == plane_at(run, &bands[1])->type;
    return n > 1 && (same || !run->plan->profile->generic) ? 2 : 1;
}

/* Adds all bands of one direction to `to`. */
static void add_passes(struct run *run, bool rows, const struct bank_direction *direction,
                       const struct place *bands, const bool *present, const struct place *to)
{
    struct place from[BANK_FILTERS_MAX] = {0}, sums = *to;
    const struct bank_filter *filters[BANK_FILTERS_MAX];
    struct task task = {.factor = direction->factor, .rows = rows};
    unsigned n = 0;
    for (unsigned i = 0; i < direction->n_filters; i++) {
        if (!present[i])
            continue;
        from[n] = bands[i];
        filters[n++] = &direction->synthesis[i];
    }
    if (count_together(run, from, n) < n && plane_at(run, to)->type != run->sum) {
        filterbank_scratch_rewind(&run->sums);
        sums = add_scratch(run, &run->sums, to->x, to->y);
    }
    for (unsigned i = 0; i < n; i += task.n_bands) {
        task.n_bands = count_together(run, from + i, n - i);
        memcpy(task.from, from + i, task.n_bands * sizeof *from);
        memcpy(task.filter, filters + i, task.n_bands * sizeof *filters);
        add_pass(run, &task, i + task.n_bands < n ? &sums : to);
        task.sums = &sums;
    }
}

static void add_level(struct run *run, unsigned dims, const struct synthesis_level *level,
                      const struct place *before, const struct place *to)
{
    struct place columns[BANK_FILTERS_MAX], bands[BANK_FILTERS_MAX];
    bool has_column[BANK_FILTERS_MAX], has_band[BANK_FILTERS_MAX];
    filterbank_scratch_rewind(&run->columns);
    for (unsigned i = 0; i < level->n_columns; i++) {
        has_column[i] = level->column[i].state == SYNTHESIS_PRESENT;
        if (!has_column[i])
            continue;
        for (unsigned j = 0; j < level->n_rows; j++) {
            has_band[j] = level->band[i][j].state == SYNTHESIS_PRESENT;
            const struct synthesis_band *band = &level->band[i][j];
            bands[j] = *before;
            if (band->plane >= 0)
                bands[j] = (struct place){OPERAND_IN, (unsigned)band->plane, band->x, band->y};
        }
        if (dims == 1) {
            columns[i] = bands[0];
            continue;
        }
        columns[i] = add_scratch(run, &run->columns, level->column[i].x, level->column[i].y);
        add_passes(run, false, &level->bank->y, bands, has_band, &columns[i]);
    }
    add_passes(run, true, &level->bank->x, columns, has_column, to);
}

static void add_cascade(struct run *run, const struct synthesis_cascade *cascade, unsigned out)
{
    struct place before = {0}, to = {0};
    run->channels = cascade->out.channels;
    run->cyclic = cascade->cyclic;
    for (unsigned l = 0; l < cascade->n_levels && !run->plan->out_of_memory; l++) {
        const struct synthesis_level *level = &cascade->levels[l];
        run->level = cascade->n_levels - l;
        if (l + 1 == cascade->n_levels) {
            to = (struct place){OPERAND_OUT, out, level->out.x, level->out.y};
        } else if (level->out.state != SYNTHESIS_PRESENT) {
            continue;
        } else {
            filterbank_scratch_rewind(&run->results[l % 2]);
            to = add_scratch(run, &run->results[l % 2], level->out.x, level->out.y);
        }
        add_level(run, cascade->dims, level, &before, &to);
        before = to;
    }
}

static int passes(const void *config_, struct stage_plan *plan, struct fault *fault)
{
    struct filterbank_taps taps = {0};
    struct synthesis_work work;
    struct filterbank_config config = *(const struct filterbank_config *)config_;
    int result = synthesis_work_create(&work, &config, plan->in, fault);
    if (result != 0)
        return result;
    if (plan->in->n_origins > 0 && config.given & (FILTERBANK_WORD_SIZE | FILTERBANK_WORD_TYPE))
        plan->warning = "these planes say what they came from: size and type do not count";
    if (plan->in->n_origins == 0 && !(config.given & FILTERBANK_WORD_SIZE))
        plan->warning = "these planes do not say what they came from, so their zeros alone align "
                        "them; size=WIDTHxHEIGHT of the original does it right";
    config.precision = work.cascades[0].precision;
    result = dwt_check_device(plan, config.precision, fault);
    struct run run = {
        .config = &config, .plan = plan, .taps = &taps, .sum = filterbank_type(&config)};
    for (size_t i = 0; i < work.n && result == 0; i++)
        add_cascade(&run, &work.cascades[i], (unsigned)i);
    filterbank_scratch_finish(&run.columns);
    filterbank_scratch_finish(&run.results[0]);
    filterbank_scratch_finish(&run.results[1]);
    filterbank_scratch_finish(&run.sums);
    filterbank_taps_store(&taps, &config, plan);
    synthesis_work_finish(&work);
    return result;
}

static struct tolerance tolerance(const void *config, enum sample_type in, enum sample_type out)
{
    if (sample_is_integer(out))
        return (struct tolerance){0, 0};
    return filterbank_tolerance(config, in);
}

/* Bands of one type and of another beside it, one and two at a time: planes of a transform get other
 * types by convert. */
static const char *const chains[] = {
    "analysis:bank=@thirds:precision=double,synthesis",
    "analysis:bank=@thirds,synthesis:bank=@thirds",
    "analysis:bank=@thirds:levels=2,convert:type=u8,synthesis:bank=@thirds",
    "analysis:bank=@thirds:levels=2,convert:type=u16,synthesis:bank=@thirds",
    "analysis:bank=@thirds:levels=2,synthesis:precision=double",
    "analysis:bank=@thirds:levels=2,convert:type=u8,synthesis:precision=double",
    "analysis:bank=@thirds:levels=2,convert:type=u16,synthesis:precision=double",
    "analysis:bank=haar,convert:type=u8,synthesis:sequence=haar_legall53",
    "analysis:bank=haar,convert:type=u16,synthesis:sequence=haar_legall53",
    "analysis:bank=haar:precision=double,convert:type=u8,synthesis:sequence=haar_legall53",
    "analysis:bank=haar:precision=double,convert:type=u16,synthesis:sequence=haar_legall53",
    "analysis:bank=haar:precision=double,convert:type=f32,synthesis:sequence=haar_legall53",
    "analysis:bank=haar:dims=1,convert:type=u8,synthesis",
    "analysis:bank=haar:dims=1,convert:type=u16,synthesis",
    "analysis:bank=haar:dims=1,synthesis:sequence=haar_legall53",
    "analysis:bank=haar:dims=1,convert:type=u8,synthesis:sequence=haar_legall53",
    "analysis:bank=haar:dims=1,convert:type=u16,synthesis:sequence=haar_legall53",
    "analysis:bank=haar:dims=1:precision=double,convert:type=u8,synthesis",
    "analysis:bank=haar:dims=1:precision=double,convert:type=u16,synthesis",
    "analysis:bank=haar:dims=1:precision=double,convert:type=f32,synthesis",
    "analysis:bank=haar:dims=1:precision=double,synthesis:sequence=haar_legall53",
    "analysis:bank=haar:dims=1:precision=double,convert:type=u8,synthesis:sequence=haar_legall53",
    "analysis:bank=haar:dims=1:precision=double,convert:type=u16,synthesis:sequence=haar_legall53",
    "analysis:bank=haar:dims=1:precision=double,convert:type=f32,synthesis:sequence=haar_legall53",
    NULL,
};

const struct stage stage_synthesis = {
    .name = "synthesis",
    .chains = chains,
    .summary = "the inverse of a filter bank: bands put together, level by level",
    .inverse = true,
    .params = params,
    .config_size = sizeof(struct filterbank_config),
    .define = filterbank_define,
    .complete = complete,
    .shape = shape,
    .passes = passes,
    .reference = synthesis_reference,
    .tolerance = tolerance,
    .bench = "analysis:cdf97:levels=3,synthesis",
};
