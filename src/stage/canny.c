/* canny: gradients, then thin lines of weak and strong pixels, and at last the weak ones that hang
 * together with strong ones. The latter needs the whole picture: pixels that touch are joined to
 * trees, whose roots learn whether a strong one is among them (cl/canny.cl). */
#include "stage/canny.h"

#include <math.h>
#include <stdio.h>

#include "stage/common.h"

static const struct param params[] = {
    PARAM(REAL, "low", offsetof(struct canny_config, low),
          "gradients above it are edges if they hang together with one above high", RANGE(0, 1e6),
          .required = true),
    PARAM(REAL, "high", offsetof(struct canny_config, high), "gradients above it are edges",
          RANGE(0, 1e6), .required = true),
    PARAM(CHOICE, "norm", offsetof(struct canny_config, norm),
          "how large a gradient is: l1, |dx| + |dy|; l2, the root of dx² + dy²",
          CHOICES({"l1", CANNY_L1}, {"l2", CANNY_L2}), DEFAULT("l1")),
    {0},
};

static int complete(void *config_, param_given *given, struct fault *fault)
{
    const struct canny_config *config = config_;
    if (config->low > config->high)
        return fault_set(fault, FAULT_CHAIN, "canny: low=%g is above high=%g: swap them",
                         config->low, config->high);
    return 0;
}

void canny_limits(const struct canny_config *config, uint64_t *low, uint64_t *high)
{
    bool squares = config->norm == CANNY_L2;
    *low = (uint64_t)floor(squares ? config->low * config->low : config->low);
    *high = (uint64_t)floor(squares ? config->high * config->high : config->high);
}

static int change(const void *config, struct plane *plane, struct fault *fault)
{
    plane->type = SAMPLE_U8;
    plane->channels = 1;
    return 0;
}

/* Of gradients: unsigned numbers of that size, none of which is larger than `most`. */
struct magnitude {
    enum sample_type type;
    const char *number;
    uint64_t most;
};
static const struct magnitude small = {SAMPLE_U16, "ushort", UINT16_MAX >> 2};
static const struct magnitude middle = {SAMPLE_I32, "uint", UINT32_MAX >> 2};
static const struct magnitude large = {SAMPLE_F64, "ulong", INT64_MAX >> 2};

struct work {
    struct stage_plan *plan;
    const struct plane *in;
    struct view gradients, classes, parents, out;
    const struct magnitude *magnitude;
    bool on_cpu;
    uint32_t lanes; /* of gradients, and of thinning; 0: pixel by pixel */
};

enum {
    STEP_SPAN = 8, /* pixels of a work-item that joins, marks or shows; most are no edges */
};

/* Of a kernel that takes `lanes` pixels at once, or `span` one after the other, where it has no
 * vectors; a CPU's whole rows. */
static struct pass *begin(const struct work *work, const char *part, uint32_t lanes, uint32_t span)
{
    enum kernel_form form = work->on_cpu ? FORM_ROWS : lanes > 0 ? FORM_VECTOR : FORM_SCALAR;
    struct pass *pass = pass_begin(work->plan, "canny", part, form,
                                   work->on_cpu ? 0
                                   : lanes > 0  ? lanes
                                                : span,
                                   work->in->width, work->in->height);
    pass->lanes = lanes;
    pass_name(pass, kernel_form_name(form));
    return pass;
}

static void add_gradients(const struct work *work, unsigned plane,
                          const struct canny_config *config)
{
    const struct plane *in = work->in;
    bool squares = config->norm == CANNY_L2;
    uint32_t lanes = work->on_cpu || in->channels == 1 ? work->lanes : 0;
    struct pass *pass = begin(work, "gradient", lanes, 1);
    pass_define_type(pass, "SRC", in->type);
    pass_define(pass, "MAGNITUDE", "%s", work->magnitude->number);
    pass_define(pass, "DIFFERENCE", "%s", work->magnitude->number + 1); /* signed */
    pass_define(pass, "TANGENT", "%d", CANNY_TANGENT);
    if (work->magnitude == &small)
        pass_define(pass, "HALVES", "1");
    pass_define(pass, "CH", "%u", in->channels);
    pass_define(pass, "COLOURS", "%u", in->channels - plane_has_alpha(in));
    if (squares)
        pass_define(pass, "SQUARES", "1");
    pass_name(pass, squares ? "l2" : "l1");
    if (in->channels > 1)
        pass_name(pass, (const char *const[]){"c2", "c3", "c4"}[in->channels - 2]);
    pass->work = 30.0 * in->channels;
    pass->bytes_read = plane_bytes(in);
    pass->bytes_written = plane_bytes(&work->gradients.plane);
    pass_plane(pass, OPERAND_IN, plane);
    pass_view(pass, &work->gradients);
    pass_ints(pass, in->width, in->height);
}

static void add_thinning(const struct work *work, const struct canny_config *config)
{
    uint64_t low, high;
    /* Vectors of numbers of 64 bits have no room in Mali's registers. */
    uint32_t lanes = work->on_cpu || work->magnitude != &large ? work->lanes : 0;
    struct pass *pass = begin(work, "thin", lanes, 1);
    canny_limits(config, &low, &high);
    pass_define(pass, "MAGNITUDE", "%s", work->magnitude->number);
    pass_define(pass, "LIMIT", "%s", work->magnitude == &large ? "ulong" : "uint");
    pass_name(pass, work->magnitude->number);
    pass->work = 20;
    pass->bytes_read = plane_bytes(&work->gradients.plane);
    pass->bytes_written = plane_bytes(&work->classes.plane);
    pass_view(pass, &work->gradients);
    pass_view(pass, &work->classes);
    pass_view(pass, &work->parents);
    pass_ints(pass, work->in->width, work->in->height);
    low = low < work->magnitude->most ? low : work->magnitude->most;
    high = high < work->magnitude->most ? high : work->magnitude->most;
    if (work->magnitude == &large) {
        pass_long(pass, (int64_t)low);
        pass_long(pass, (int64_t)high);
    } else {
        pass_uint(pass, (uint32_t)low);
        pass_uint(pass, (uint32_t)high);
    }
}

/* What joins pixels, finds out about trees, or writes the result. */
static struct pass *add_step(const struct work *work, const char *part)
{
    struct pass *pass = begin(work, part, 0, STEP_SPAN);
    pass->work = 4;
    pass->bytes_read = plane_bytes(&work->classes.plane);
    pass_view(pass, &work->classes);
    pass_view(pass, &work->parents);
    return pass;
}

static int passes(const void *config_, struct stage_plan *plan, struct fault *fault)
{
    const struct canny_config *config = config_;
    struct scratch gradients = {0}, classes = {0}, parents = {0};
    for (unsigned i = 0; i < plan->in->n_planes; i++) {
        const struct plane *in = &plan->in->planes[i];
        struct plane shape = plan->out->planes[i];
        struct work work = {.plan = plan,
                            .in = in,
                            .out = {OPERAND_OUT, shape},
                            .on_cpu = plan->profile->form == FORM_ROWS};
        /* Other GPUs load vectors at addresses of whole vectors alone. */
        work.lanes = work.on_cpu ? 16 : plan->profile->takes_columns ? 4 : 0;
        bool squares = config->norm == CANNY_L2, bytes = in->type == SAMPLE_U8;
        work.magnitude = bytes && !squares ? &small : bytes || !squares ? &middle : &large;
        work.classes = stage_plan_view(plan, &classes, &shape);
        shape.type = work.magnitude->type;
        work.gradients = stage_plan_view(plan, &gradients, &shape);
        shape.type = SAMPLE_I32;
        work.parents = stage_plan_view(plan, &parents, &shape);
        add_gradients(&work, i, config);
        add_thinning(&work, config);
        add_step(&work, "join");
        add_step(&work, "mark");
        struct pass *show = add_step(&work, "show");
        show->bytes_written = plane_bytes(&work.out.plane);
        pass_plane(show, OPERAND_OUT, i);
    }
    return 0;
}

const struct stage stage_canny = {
    .name = "canny",
    .chains = (const char *const[]){"canny:50:100", "canny:50:100:norm=l2", NULL},
    .summary = "white lines, one pixel wide, where the picture changes most, on black",
    .params = params,
    .config_size = sizeof(struct canny_config),
    .types = 1u << SAMPLE_U8 | 1u << SAMPLE_U16,
    .complete = complete,
    .change = change,
    .passes = passes,
    .reference = canny_reference,
    .bench = "canny:50:100",
};
