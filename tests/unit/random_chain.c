#include "random_chain.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "stage/filterbank/filterbank.h"

static uint64_t random_state = 88172645463325252u;

void random_seed(uint64_t seed)
{
    random_state = seed * 0x9E3779B97F4A7C15u ^ 88172645463325252u;
    for (int i = 0; i < 8; i++)
        random_below(2);
}

/* Marsaglia's xorshift. */
uint32_t random_below(uint32_t n)
{
    random_state ^= random_state << 13;
    random_state ^= random_state >> 7;
    random_state ^= random_state << 17;
    return (uint32_t)((random_state >> 16) % n);
}

double random_between(double low, double high)
{
    return low + (high - low) * random_below(1000001) / 1e6;
}

/* Numbers of every size, most of them small. */
static double random_number(const struct param *p)
{
    bool bounded = p->min != 0 || p->max != 0;
    double low = bounded ? p->min : -1e6, high = bounded ? p->max : 1e6;
    double size = pow(10, random_between(-3, 9)), v = random_between(-size, size);
    return v < low ? low : v > high ? high : v;
}

static const char *random_choice(const struct param_choice *choices)
{
    unsigned count = 0;
    while (choices[count].name)
        count++;
    return choices[random_below(count)].name;
}

static void add_number(struct text *text, const struct param *p)
{
    double v = random_number(p);
    text_printf(text, "%.*f", (int)random_below(4) * (v > -1e6 && v < 1e6), v);
}

static void add_matrix(struct text *text, const struct param *p, unsigned columns, unsigned rows)
{
    for (unsigned i = 0; i < columns * rows; i++) {
        text_append(text, i == 0 ? "" : i % columns ? "_" : "/");
        add_number(text, p);
    }
}

static void add_value(struct text *text, const struct param *p)
{
    static const char *const banks[] = {"haar", "legall53", "cdf97", "@thirds", "@lifted"};
    bool chosen = p->choices && random_below(2);
    switch (p->type) {
    case PARAM_FLAG:
        text_printf(text, "%u", random_below(2));
        break;
    case PARAM_INTEGER:
        if (p->min < 0) {
            text_printf(text, "%d", (int)fmax(p->min, (int)random_below(90) - 30));
            break;
        }
        text_printf(text, "%d", (int)fmin(p->max, p->min + random_below(1u << random_below(12))));
        break;
    case PARAM_INTEGERS:
        for (unsigned i = 0, n = 1 + random_below(3); i < n; i++)
            text_printf(text, "%s%u", i ? "_" : "", 1 + random_below(1u << random_below(9)));
        break;
    case PARAM_CHOICE:
        text_append(text, random_choice(p->choices));
        break;
    case PARAM_WORD:
        if (strcmp(p->name, "picture") == 0 && random_below(2))
            text_append(text, "@card");
        else if (strcmp(p->name, "picture") == 0)
            text_printf(text, "%d", (int)random_below(300) - 20);
        else
            text_append(text, p->choices ? random_choice(p->choices) : banks[random_below(5)]);
        break;
    case PARAM_WORDS:
        text_printf(text, "%s_%s", banks[random_below(3)], banks[random_below(3)]);
        break;
    default:
        if (chosen)
            text_append(text, random_choice(p->choices));
        else if (p->type == PARAM_MATRIX)
            add_matrix(text, p, random_below(2) ? 3 : 1 + 2 * random_below(5),
                       random_below(2) ? 3 : 1 + 2 * random_below(4));
        else if (p->type == PARAM_REALS)
            add_matrix(text, p, 3, 1);
        else
            add_number(text, p);
    }
}

/* Of the second picture, which blend alone takes for pictures of other sizes. */
#define CARD_WIDTH  37
#define CARD_HEIGHT 23

/* Parameters that have to fit each other or the picture. */
static const struct {
    const char *stage, *param;
} fitting[] = {
    {"warp", "matrix"},      {"warp", "from"},        {"warp", "to"},
    {"undistort", "matrix"}, {"undistort", "camera"}, {"undistort", "distortion"},
    {"canny", "low"},        {"canny", "high"},       {"histogram", "bins"},
    {"histogram", "low"},    {"histogram", "high"},
};

static bool is_fitting(const struct stage *stage, const struct param *p)
{
    bool is = false;
    for (size_t i = 0; i < sizeof fitting / sizeof *fitting; i++)
        is |= strcmp(stage->name, fitting[i].stage) == 0 && strcmp(p->name, fitting[i].param) == 0;
    return is;
}

static void add_row(struct text *text, double a, double b, double c)
{
    text_printf(text, "%g_%g_%g", a + random_between(-0.4, 0.4) * fabs(a),
                b + random_between(-0.2, 0.2) * fabs(a + b), c);
}

static void add_fitting(const struct stage *stage, struct text *text)
{
    if (strcmp(stage->name, "undistort") == 0) {
        double focal = random_between(20, 2000);
        text_printf(text, ":matrix=%g_0_%g/0_%g_%g/0_0_1:distortion=%g_%g_%g_%g", focal,
                    random_between(0, 500), focal * random_between(0.9, 1.1),
                    random_between(0, 500), random_between(-0.3, 0.3), random_between(-0.1, 0.1),
                    random_between(-0.01, 0.01), random_between(-0.01, 0.01));
    } else if (strcmp(stage->name, "warp") == 0 && random_below(3) == 0) {
        text_printf(text, ":from=%u_%u/%u_%u/%u_%u/%u_%u", random_below(9), random_below(9),
                    20 + random_below(9), random_below(9), 20 + random_below(9),
                    20 + random_below(9), random_below(9), 20 + random_below(9));
    } else if (strcmp(stage->name, "warp") == 0) {
        text_append(text, ":matrix=");
        add_row(text, 1, 0, random_between(-50, 50));
        text_append(text, "/");
        add_row(text, 0, 1, random_between(-50, 50));
        if (random_below(2))
            text_printf(text, "/%g_%g_1", random_between(-1e-3, 1e-3), random_between(-1e-3, 1e-3));
    } else if (strcmp(stage->name, "canny") == 0) {
        uint32_t low = random_below(1u << random_below(18));
        text_printf(text, ":low=%u:high=%u", low, low + random_below(1000));
    } else if (strcmp(stage->name, "histogram") == 0) {
        double low = random_between(-300, 300);
        text_printf(text, ":bins=%u", 1u << random_below(random_below(4) ? 9 : 17));
        if (random_below(2))
            text_printf(text, ":low=%.2f:high=%.2f", low, low + random_between(1, 300));
    }
}

static void add_parameters(const struct stage *stage, struct text *text)
{
    add_fitting(stage, text);
    for (const struct param *p = stage->params; p && p->name; p++) {
        if (is_fitting(stage, p) || (!p->required && random_below(2)))
            continue;
        text_printf(text, ":%s=", p->name);
        add_value(text, p);
    }
}

/* In front of a stage that takes what a transform gives. */
static void add_transform(const char *name, struct text *text)
{
    if (strcmp(name, "idwt") == 0 || strcmp(name, "shrink") == 0)
        text_printf(text, "dwt:%s:levels=%u%s,", random_below(2) ? "cdf53" : "db3",
                    1 + random_below(4),
                    random_below(3)   ? ""
                    : random_below(2) ? ":precision=double"
                                      : ":precision=reversible");
    if (strcmp(name, "synthesis") == 0) {
        text_printf(text, "analysis:%s:levels=%u%s",
                    random_below(3)   ? "haar"
                    : random_below(2) ? "cdf97"
                    : random_below(2) ? "@lifted"
                                      : "@thirds",
                    1 + random_below(3), random_below(2) ? ":precision=double" : "");
        if (random_below(2))
            text_printf(text, ":border=%s", random_choice(filterbank_borders));
        text_append(text, ",");
    }
}

void random_chain(const struct stage *stage, struct text *text)
{
    static const char *const patterns[] = {"LL*", "*H*", "HH1", "HL*/LH*/x", "*"};
    bool some = !stage->inverse && random_below(8) == 0; /* of a transform's planes */
    add_transform(stage->name, text);
    if (some && !stage->whole)
        text_printf(text, "dwt:%s:levels=%u,", random_below(2) ? "haar" : "cdf97",
                    1 + random_below(2));
    text_append(text, stage->name);
    add_parameters(stage, text);
    if (some)
        text_printf(text, ":only=%s", patterns[random_below(5)]);
}

const struct definitions *random_definitions(void)
{
    static struct bank_filter filters[6];
    static struct bank_filter lifts[4];
    static struct definition_bank thirds = {.name = "thirds"}, lifted = {.name = "lifted"};
    static struct definition_bank *banks[] = {&thirds, &lifted};
    static const struct bank_step steps[] = {
        {false, -1, 4, {0.0625, -0.5625, -0.5625, 0.0625}}, {true, -2, 3, {0.25, 0.25, -0.125}}};
    static uint8_t samples[CARD_HEIGHT * CARD_WIDTH * 4];
    static struct definition_picture card = {.name = "card", .samples = samples, .n_bytes = sizeof samples,
                                             .lock = PTHREAD_MUTEX_INITIALIZER};
    static struct definition_picture *pictures[] = {&card};
    static struct definitions definitions = {
        .n_banks = 2, .banks = banks, .n_pictures = 1, .pictures = pictures};
    card.plane = (struct plane){.width = CARD_WIDTH, .height = CARD_HEIGHT, .channels = 4, .stride = CARD_WIDTH * 4};
    for (size_t i = 0; i < sizeof samples; i++)
        samples[i] = (uint8_t)(i * i / 7);
    for (int i = 0; i < 6; i++)
        filters[i] = (struct bank_filter){
            .n_taps = 3, .zero = i < 3 ? 2 : 0, .taps = {1, i % 3 - 1, i % 3 == 2 ? 1 : -1}};
    struct bank_direction direction = {3, 3, filters, filters + 3};
    thirds.bank = (struct bank){thirds.name, direction, direction};
    if (!bank_make_lifting(steps, 2, (const double[]){1, 0.5}, lifts, lifts + 2))
        abort();
    struct bank_direction halves = {2, 2, lifts, lifts + 2};
    lifted.bank = (struct bank){lifted.name, halves, halves};
    return &definitions;
}

static uint32_t random_side(void)
{
    return random_below(4) ? 1 + random_below(1u << (1 + random_below(12))) : 1;
}

struct plane random_plane(void)
{
    return (struct plane){.width = random_side(),
                          .height = random_side(),
                          .channels = 1 + random_below(4),
                          .type = (enum sample_type)random_below(SAMPLE_TYPES)};
}
