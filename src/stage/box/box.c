#include "stage/box/box.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "stage/box/box_internal.h"
#include "stage/common.h"

static const struct param params[] = {
    PARAM(INTEGERS, "width", offsetof(struct box_config, width),
          "of the window in pixels; several, as 3_9_27, give a plane each: box3, box9, box27",
          RANGE(1, BOX_SIDE_MAX)),
    PARAM(INTEGER, "height", offsetof(struct box_config, height),
          "of the window in pixels; as its width unless given", RANGE(1, BOX_SIDE_MAX)),
    PARAM(INTEGERS, "radius", offsetof(struct box_config, radius),
          "in place of width and height: a square window of 2·radius + 1 pixels a side",
          RANGE(0, (BOX_SIDE_MAX - 1) / 2)),
    PARAM(CHOICE, "method", offsetof(struct box_config, method),
          "sums along columns and rows (separable) or a summed-area table (sat); both give the "
          "same picture",
          CHOICES({"auto", BOX_AUTO}, {"separable", BOX_SEPARABLE}, {"sat", BOX_SAT}),
          DEFAULT("auto")),
    PARAM(INTEGER, "passes", offsetof(struct box_config, passes),
          "how often the filter runs, each time on its own rounded result", RANGE(1, 100),
          DEFAULT("1")),
    STAGE_BORDER_PARAM(offsetof(struct box_config, border)),
    PARAM(FLAG, "table", offsetof(struct box_config, table),
          "1: the summed-area table is a plane, too, and without a window the only one",
          DEFAULT("0")),
    {0},
};

/* A table alone has no window, nor what belongs to one. */
static int complete_table(const struct box_config *config, param_given given, struct fault *fault)
{
    const char *extra = given & param_bit(params, "height") ? "height"
                        : config->passes != 1               ? "passes"
                        : config->border != BORDER_EDGE     ? "border"
                                                            : NULL;
    return extra ? fault_set(fault, FAULT_CHAIN,
                             "box: table=1 without a window is the table alone: leave out %s=, or "
                             "give width=W, too, for means beside it",
                             extra)
                 : 0;
}

/* Windows are given by width, and by a height for all of them. */
static int complete(void *config_, param_given *given, struct fault *fault)
{
    struct box_config *config = config_;
    struct param_integers *width = &config->width;
    const param_given by_width = param_bit(params, "width"), height = param_bit(params, "height");
    const param_given radius = param_bit(params, "radius");
    if (*given & radius && *given & (by_width | height))
        return fault_set(fault, FAULT_CHAIN, "box: give either radius or %s, not both",
                         *given & by_width ? "width" : "height");
    if (*given & radius) {
        *width = config->radius;
        for (unsigned i = 0; i < width->count; i++)
            width->v[i] = 2 * width->v[i] + 1;
        config->radius = (struct param_integers){0};
        *given = (*given & ~radius) | by_width;
    }
    if (!(*given & by_width) && config->table)
        return complete_table(config, *given, fault);
    if (!(*given & by_width))
        return fault_set(fault, FAULT_CHAIN,
                         "box: its window is missing: give width=W or radius=R");
    for (unsigned i = 1; i < width->count; i++)
        for (unsigned k = 0; k < i; k++)
            if (width->v[i] == width->v[k])
                return fault_set(fault, FAULT_CHAIN, "box: width %" PRId64 " is given twice",
                                 width->v[i]);
    if (width->count == 1 && !(*given & height)) {
        config->height = width->v[0];
        *given |= height;
    }
    return 0;
}

static int64_t height_of(const struct box_config *config, int64_t width)
{
    return config->height ? config->height : width;
}

/* The size of plane `plane` after the given number of passes. */
static int size_after(const struct box_config *config, int64_t width, int64_t passes,
                      struct plane *plane, struct fault *fault)
{
    int result = 0;
    for (int64_t i = 0; i < passes && result == 0; i++)
        result = stage_window_size("box", (enum border)config->border, (uint32_t)width,
                                   (uint32_t)height_of(config, width), plane, fault);
    return result;
}

/* The planes that come of one: means of each width, and the table. */
static unsigned planes_of(const struct box_config *config)
{
    return config->width.count + config->table;
}

/* Where several planes come of one, they are called as what they are. */
static void name_plane(const struct box_config *config, const char *name, const char *what,
                       struct plane *plane)
{
    if (planes_of(config) > 1)
        snprintf(plane->name, sizeof plane->name, "%.23s%s%s", name, name[0] ? "." : "", what);
}

/* Of a plane of integers the table has a row and a column more. */
static int shape_of_table(struct plane *plane, struct fault *fault)
{
    if (!sample_is_integer(plane->type))
        return fault_set(fault, FAULT_SHAPE,
                         "box:table=1 takes integers, since differences of large sums of f32 would "
                         "lose digits; put convert:type=u16 in front");
    if (!box_table_fits(plane))
        return fault_set(fault, FAULT_LIMIT,
                         "box:table=1: %" PRIu32 "×%" PRIu32 " with %" PRIu32
                         " channels has more than 2^31 entries",
                         plane->width, plane->height, plane->channels);
    plane->width++;
    plane->height++;
    plane->type = SAMPLE_I32;
    return 0;
}

static int shape(const void *config_, const struct frame *in, size_t alignment, struct frame *out,
                 struct fault *fault)
{
    const struct box_config *config = config_;
    int result = 0;
    for (size_t i = 0; i < in->n_planes && result == 0; i++) {
        for (unsigned w = 0; w < planes_of(config) && result == 0; w++) {
            struct plane plane = in->planes[i];
            char what[32] = "table";
            bool is_table = w == config->width.count;
            if (!is_table)
                snprintf(what, sizeof what, "box%" PRId64, config->width.v[w]);
            name_plane(config, in->planes[i].name, what, &plane);
            result = is_table ? shape_of_table(&plane, fault)
                              : size_after(config, config->width.v[w], config->passes, &plane, fault);
            if (result == 0)
                result = stage_add_plane(out, &plane, alignment, fault);
        }
    }
    return result;
}

struct stage_window box_reach_of(const struct box_task *task)
{
    bool crop = task->border == BORDER_CROP;
    uint32_t left = crop ? 0 : task->width / 2, top = crop ? 0 : task->height / 2;
    return (struct stage_window){left, task->width - 1 - left, top, task->height - 1 - top,
                                 task->border};
}

struct view box_scratch(const struct box_task *task, struct scratch *memory, uint32_t width,
                        uint32_t height, uint32_t channels, enum sample_type type)
{
    struct plane shape = {.width = width, .height = height, .channels = channels, .type = type};
    return stage_plan_view(task->plan, memory, &shape);
}

struct box_divider box_divider_of(const struct box_task *task)
{
    return box_divider_general(8 * (unsigned)sample_size(task->in.plane.type),
                               task->width * task->height);
}

uint32_t box_lowest(enum sample_type type)
{
    return sample_is_integer(type) ? (uint32_t)-sample_min(type) : 0;
}

void box_add_centre(struct pass *pass, const struct box_task *task)
{
    bool crop = task->border == BORDER_CROP;
    pass_ints(pass, crop ? (int32_t)task->width / 2 : 0, crop ? (int32_t)task->height / 2 : 0);
}

void box_add_reach(struct pass *pass, const struct box_task *task, uint32_t band)
{
    struct stage_window reach = box_reach_of(task);
    pass_ints(pass, task->in.plane.width, task->in.plane.height, task->out.plane.width,
              task->out.plane.height, band, reach.left, reach.right, reach.top, reach.bottom,
              stage_border(task->border));
}

void box_add_window(struct pass *pass, const struct box_task *task, uint32_t band)
{
    box_add_reach(pass, task, band);
    box_add_centre(pass, task);
}

void box_add_divider(struct pass *pass, const struct box_task *task,
                     const struct box_divider *divider)
{
    uint32_t lowest = box_lowest(task->in.plane.type);
    uint64_t bias = (uint64_t)lowest * divider->area + divider->area / 2;
    pass_define(pass, "LOWEST", "%u", lowest);
    pass_uint(pass, divider->area);
    pass_float(pass, divider->factor);
    if (divider->sum_bits == 64)
        pass_long(pass, (int64_t)bias);
    else
        pass_uint(pass, (uint32_t)bias);
}

static bool on_cpu(const struct box_task *task)
{
    return task->plan->profile->form == FORM_ROWS;
}

/* Which movement serves what: the first that suits. */
static const struct {
    bool (*suits)(const struct box_task *task); /* NULL: all that is left */
    void (*add)(const struct box_task *task);
} ways[] = {
    {on_cpu, box_add_rows},             /* strips; rows of integers go in bands: CPUs */
    {box_suits_table, box_add_lookup},  /* table: GPUs */
    {box_suits_packed, box_add_packed}, /* walker, words: small windows on GPUs with local memory */
    {box_suits_fir, box_add_fir},       /* walker, columns: small windows on Mali */
    {box_suits_wide, box_add_wide},     /* tile: integers on GPUs with local memory */
    {box_suits_columns, box_add_columns}, /* walker, the windows' two ends: 8 bits on Mali */
    {NULL, box_add_sums},                 /* sums along columns, then along rows */
};

/* All passes of one width, from task.in to task.out. */
static void add_passes(const struct box_config *config, struct box_task task, int64_t width,
                       const struct view *table)
{
    const struct plane plane = task.in.plane;
    const struct view out = task.out;
    bool by_rows = task.plan->profile->band_bytes > 0 && config->passes <= BOX_TURNS + 1;
    int64_t turns = by_rows ? BOX_TURNS : 2;
    task.width = (uint32_t)width;
    task.height = (uint32_t)height_of(config, width);
    for (int64_t i = 1; i <= config->passes; i++) {
        task.out = out;
        if (i < config->passes) {
            struct plane size = plane;
            size_after(config, width, i, &size, NULL);
            task.out = box_scratch(&task, &task.memory->turn[i % turns], size.width, size.height,
                                   size.channels, size.type);
        }
        task.table = i == 1 ? table : NULL;
        unsigned way = 0;
        while (ways[way].suits && !ways[way].suits(&task))
            way++;
        ways[way].add(&task);
        task.in = task.out;
    }
}

void box_add_means(struct stage_plan *plan, struct box_memory *memory,
                   const struct box_config *config, const struct view *in, const struct view *out)
{
    const struct box_task task = {.plan = plan,
                                  .memory = memory,
                                  .in = *in,
                                  .out = *out,
                                  .border = (enum border)config->border};
    add_passes(config, task, config->width.v[0], NULL);
}

static int passes(const void *config_, struct stage_plan *plan, struct fault *fault)
{
    const struct box_config *config = config_;
    struct box_memory memory = {0};
    for (unsigned i = 0; i < plan->in->n_planes; i++) {
        struct box_task task = {.plan = plan,
                                .memory = &memory,
                                .in = {OPERAND_IN, plan->in->planes[i]},
                                .border = (enum border)config->border,
                                .by_table = config->method == BOX_SAT,
                                .width = 1,
                                .height = 1};
        unsigned first = i * planes_of(config);
        const struct view *shared = NULL;
        struct view table;
        if (config->table) { /* it is a result, too */
            table = (struct view){OPERAND_OUT, plan->out->planes[first + config->width.count]};
            box_make_table(&task, &table);
            shared = &table;
        } else if (config->width.count > 1 && box_suits_table(&task)) {
            table = box_add_table(&task, &memory.table[0]);
            shared = &table;
        }
        for (unsigned w = 0; w < config->width.count; w++) {
            task.out = (struct view){OPERAND_OUT, plan->out->planes[first + w]};
            add_passes(config, task, config->width.v[w], shared);
        }
    }
    return 0;
}

/* Around the widest window. An entry of a table needs all that lies above and left of it. */
static bool window(const void *config_, struct stage_window *window)
{
    const struct box_config *config = config_;
    int64_t side = config->height;
    for (unsigned i = 0; i < config->width.count; i++)
        side = config->width.v[i] > side ? config->width.v[i] : side;
    uint32_t reach = (uint32_t)side / 2;
    *window = (struct stage_window){reach, reach, reach, reach, (enum border)config->border};
    window->more = (uint32_t)config->passes - 1;
    return !config->table;
}

const struct stage stage_box = {
    .name = "box",
    .chains = (const char *const[]){"box:width=1:method=sat", "box:table=1",
                                    "box:width=3_4095:method=sat", "box:width=3_4095",
                                    "box:radius=110", "box:width=101", NULL},
    .summary = "blur: the mean over a window of any size, at about the same cost",
    .params = params,
    .config_size = sizeof(struct box_config),
    .complete = complete,
    .types =
        1u << SAMPLE_U8 | 1u << SAMPLE_I8 | 1u << SAMPLE_U16 | 1u << SAMPLE_I16 | 1u << SAMPLE_F32,
    .window = window,
    .shape = shape,
    .passes = passes,
    .reference = box_reference,
    .floats = &(const struct tolerance){5e-4, 1e-5},
    .bench = "box:radius=4",
};
