/* Kernels are given the second picture with as many channels as the picture has:
 *
 *     the same samples      subtract, difference and blend of pictures of its type
 *     as f32                the same, of f32 pictures and second ones of integers
 *     its alpha             blend, of either type: what each sample's share is made of
 *     factors, f32          divide: the mean, or 1, divided by each sample, so that no device
 *                           divides
 *     0 or 255, u8          mask: whether a sample is not 0
 *
 * Each is made when a plan needs it first, and stays with the definition: all plans have it in
 * common, and a device has it once (stage_plan_lend). Of a number they are a single row, which a
 * stride of 0 repeats. */
#include "stage/second/second.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/number.h"

static const char *const names[] = {"subtract", "difference", "divide", "mask", "blend"};

#define NUMBER_MAX 1e9
#define PLACE_MAX  1000000

#define PICTURE(text)                                                                              \
    PARAM(WORD, "picture", offsetof(struct second_config, picture), text, .required = true)

static const struct param plain_params[] = {
    PICTURE("the second picture: @NAME, or a number, which all of its samples are"),
    {0},
};

static const struct param divide_params[] = {
    PICTURE("the flat field: @NAME, or a number, which all of its samples are"),
    PARAM(REAL_OR_CHOICE, "scale", offsetof(struct second_config, scale),
          "what the quotient is multiplied by: mean, that of the flat field's samples, keeps the "
          "picture as bright as it is",
          RANGE(0, NUMBER_MAX), CHOICES({"mean", SECOND_BY_MEAN}), DEFAULT("mean")),
    {0},
};

static const struct param mask_params[] = {
    PICTURE("the mask, of one channel, @NAME: where it is not 0, the picture stays"),
    PARAM(REALS, "background", offsetof(struct second_config, background),
          "what stands elsewhere: one value, or one for each channel", DEFAULT("0")),
    {0},
};

static const struct param blend_params[] = {
    PICTURE("the picture that is laid over: @NAME, with alpha or without, or a number"),
    PARAM(INTEGER, "x", offsetof(struct second_config, x),
          "how many pixels its left edge lies to the right of the picture's; with gravity of an "
          "east, its right edge to the left of that one's; in the middle, from there to the right",
          RANGE(-PLACE_MAX, PLACE_MAX), DEFAULT("0")),
    PARAM(INTEGER, "y", offsetof(struct second_config, y),
          "the same down from the upper edge, with gravity of a south up from the lower one",
          RANGE(-PLACE_MAX, PLACE_MAX), DEFAULT("0")),
    PARAM(REAL, "opacity", offsetof(struct second_config, opacity),
          "from 0, not seen, to 1; where it has alpha, times that", RANGE(0, 1), DEFAULT("1")),
    PARAM(CHOICE, "gravity", offsetof(struct second_config, gravity),
          "the corner, edge or middle of the picture from which x and y count",
          .choices = stage_gravity_choices, DEFAULT("northwest")),
    {0},
};

static void define(void *config_, const struct definitions *definitions)
{
    struct second_config *config = config_;
    config->defined =
        config->picture[0] == '@' ? definitions_picture(definitions, config->picture + 1) : NULL;
}

static int complete(void *config_, param_given *given, struct fault *fault)
{
    struct second_config *config = config_;
    const char *stage = names[config->operation], *word = config->picture;
    if (word[0] != '@' && !number_parse_real(word, strlen(word), &config->number))
        return fault_set(fault, FAULT_CHAIN, "%s: '%s': a picture is named @%s", stage, word, word);
    if (word[0] != '@')
        return fabs(config->number) <= NUMBER_MAX
                   ? 0
                   : fault_set(fault, FAULT_CHAIN, "%s: %s: expected a number within %.0f", stage,
                               word, NUMBER_MAX);
    if (!config->defined)
        return fault_set(fault, FAULT_CHAIN,
                         "%s: no picture '%s' is defined (--define %s=FILE does, or --config FILE "
                         "under pictures)",
                         stage, word + 1, word + 1);
    if (config->defined->plane.channels == 0)
        return fault_set(fault, FAULT_CHAIN, "%s: picture '%s' has not been read", stage, word + 1);
    return 0;
}

/* ---- which second pictures suit ---- */

static uint32_t colours_of(const struct plane *plane)
{
    return plane->channels - plane_has_alpha(plane);
}

int second_check(const char *stage, const struct second_config *config, const struct plane *in,
                 struct fault *fault)
{
    static const char *const kinds[] = {"", "grey", "grey and alpha", "RGB", "RGB and alpha"};
    const struct definition_picture *second = config->defined;
    if (!second || !second->plane.width) /* a number, or one that suits all */
        return 0;
    const struct plane *plane = &second->plane;
    bool masks = config->operation == SECOND_MASK;
    if (config->operation != SECOND_BLEND &&
        (plane->width != in->width || plane->height != in->height))
        return fault_set(
            fault, FAULT_SHAPE,
            "%s: picture '%s' is %u×%u, and this one %u×%u: they have to be of one size", stage,
            second->name, plane->width, plane->height, in->width, in->height);
    if (colours_of(plane) != 1 && (masks || colours_of(plane) != colours_of(in)))
        return fault_set(fault, FAULT_SHAPE, "%s: picture '%s' is %s, and %s", stage, second->name,
                         kinds[plane->channels],
                         masks ? "a mask has one channel: put luminance in front when it is made"
                               : kinds[in->channels]);
    bool any = masks || config->operation == SECOND_DIVIDE || in->type == SAMPLE_F32;
    if (!any && plane->type != in->type)
        return fault_set(fault, FAULT_SHAPE,
                         "%s: picture '%s' is of type %s, and this one of %s: put convert:type=f32 "
                         "in front, which takes both",
                         stage, second->name, sample_name(plane->type), sample_name(in->type));
    return 0;
}

/* A change() of nothing: not every plane is taken. */
static int check_plane(const void *config_, struct plane *plane, struct fault *fault)
{
    const struct second_config *config = config_;
    const char *stage = names[config->operation];
    double unused[PLANE_CHANNELS_MAX];
    int result = second_check(stage, config, plane, fault);
    if (result == 0 && config->operation == SECOND_MASK)
        result = stage_background(stage, &config->background, plane, unused, fault);
    return result;
}

/* ---- what kernels are given ---- */

/* A picture's forms are those of one channel, of two, and so on. */
enum form {
    FORM_SAMES,
    FORM_FLOATS,
    FORM_FACTORS,
    FORM_RECIPROCALS,
    FORM_SELECTS,
    FORM_ALPHAS,
    FORM_FLOAT_ALPHAS,
    FORMS
};
_Static_assert(FORMS *PLANE_CHANNELS_MAX == PICTURE_FORMS, "a definition has room for each form");

static enum form form_of(const struct second_config *config, const struct plane *in,
                         enum sample_type type)
{
    bool by_mean = config->scale.choice != PARAM_IS_NUMBER;
    return config->operation == SECOND_DIVIDE ? by_mean ? FORM_FACTORS : FORM_RECIPROCALS
           : config->operation == SECOND_MASK ? FORM_SELECTS
           : in->type == type                 ? FORM_SAMES
                                              : FORM_FLOATS;
}

static enum sample_type type_of(enum form form, const struct plane *in)
{
    return form == FORM_SELECTS                        ? SAMPLE_U8
           : form == FORM_SAMES || form == FORM_ALPHAS ? in->type
                                                       : SAMPLE_F32;
}

/* One sample of the form; the mean is that for factors. */
static double change(enum form form, double sample, double mean)
{
    if (form == FORM_SELECTS)
        return sample != 0 ? 255 : 0;
    if (form != FORM_FACTORS && form != FORM_RECIPROCALS)
        return sample;
    float factor = (float)((form == FORM_FACTORS ? mean : 1) / sample);
    return sample != 0 && isfinite(factor) ? factor : 0;
}

/* Samples as doubles, and back: by sample_load a picture of a camera would take a second. */
#define LOAD_EACH(type)                                                                            \
    for (size_t i = 0; i < count; i++)                                                             \
    to[i] = ((const type *)at)[i]
#define STORE_EACH(type)                                                                           \
    for (size_t i = 0; i < count; i++)                                                             \
    ((type *)at)[i] = (type)from[i]
static void load(enum sample_type type, const void *at, size_t count, double *to)
{
    switch (type) {
    case SAMPLE_U8:
        LOAD_EACH(uint8_t);
        break;
    case SAMPLE_U16:
        LOAD_EACH(uint16_t);
        break;
    case SAMPLE_F32:
        LOAD_EACH(float);
        break;
    default:
        for (size_t i = 0; i < count; i++)
            to[i] = sample_load(type, (const uint8_t *)at + i * sample_size(type));
    }
}

static void store(enum sample_type type, const double *from, size_t count, void *at)
{
    switch (type) {
    case SAMPLE_U8:
        STORE_EACH(uint8_t);
        break;
    case SAMPLE_U16:
        STORE_EACH(uint16_t);
        break;
    case SAMPLE_F32:
        STORE_EACH(float);
        break;
    default:
        for (size_t i = 0; i < count; i++)
            sample_store(type, (uint8_t *)at + i * sample_size(type), from[i]);
    }
}

double second_mean(const struct plane *plane, const uint8_t *samples, uint32_t channel)
{
    double sum = 0; /* of integers of 16 bits exact, up to 2^37 of them */
    double part[256];
    uint32_t step = plane->channels, whole = 256 / step * step, count = plane->width * step;
    for (uint32_t y = 0; y < plane->height; y++) {
        const uint8_t *row = samples + plane->offset + y * plane->stride;
        for (uint32_t x = 0; x < count; x += whole) {
            uint32_t n = count - x < whole ? count - x : whole;
            load(plane->type, row + x * sample_size(plane->type), n, part);
            for (uint32_t i = channel; i < n; i += step)
                sum += part[i];
        }
    }
    return sum / ((double)plane->width * plane->height);
}

/* Makes a form of so many channels of the definition's samples, under its lock. */
static bool make_form(struct definition_picture *second, enum form form, uint32_t channels,
                      struct definition_form *made)
{
    enum {
        AT_ONCE = 64
    };
    struct frame frame = {0};
    struct picture picture = {0};
    const struct plane *from = &second->plane;
    struct plane plane = {.width = from->width,
                          .height = from->height,
                          .channels = channels,
                          .type = type_of(form, from)};
    bool of_alpha = form == FORM_ALPHAS || form == FORM_FLOAT_ALPHAS;
    uint32_t last = from->channels - 1, colours = colours_of(from), sources[PLANE_CHANNELS_MAX];
    double means[PLANE_CHANNELS_MAX], spread[AT_ONCE * PLANE_CHANNELS_MAX];
    double part[AT_ONCE * PLANE_CHANNELS_MAX] = {0};
    bool good =
        frame_add_plane(&frame, &plane, FRAME_ALIGNMENT) && picture_create(&picture, &frame);
    frame_finish(&frame);
    if (!good)
        return false;
    for (uint32_t c = 0; c < channels; c++) { /* what stands for the picture's alpha is not used */
        sources[c] = of_alpha ? last : colours > 1 && c < colours ? c : 0;
        means[c] = form == FORM_FACTORS ? second_mean(from, second->samples, sources[c]) : 0;
    }
    for (uint32_t y = 0; y < from->height; y++) {
        const uint8_t *row = second->samples + from->offset + y * from->stride;
        uint8_t *to = picture_row(&picture, 0, y);
        for (uint32_t x = 0; x < from->width; x += AT_ONCE) {
            uint32_t n = from->width - x < AT_ONCE ? from->width - x : AT_ONCE;
            load(from->type, row + x * from->channels * sample_size(from->type), n * from->channels,
                 part);
            for (uint32_t i = 0; i < n; i++)
                for (uint32_t c = 0; c < channels; c++)
                    spread[i * channels + c] =
                        change(form, part[i * from->channels + sources[c]], means[c]);
            store(plane.type, spread, n * channels, to + x * channels * sample_size(plane.type));
        }
    }
    *made = (struct definition_form){picture.frame.planes[0], picture.data, picture.frame.size};
    picture.data = NULL;
    picture_destroy(&picture);
    return true;
}

/* Adds a row of pixels that are all alike, which stands for each row of a picture as `in`. */
static struct view add_row(struct stage_plan *plan, const struct plane *in, enum sample_type type,
                           const double pixel[PLANE_CHANNELS_MAX])
{
    struct view view = {
        OPERAND_TABLE,
        {.width = in->width, .height = in->height, .channels = in->channels, .type = type}};
    size_t size = sample_size(type), count = (size_t)in->width * in->channels;
    uint8_t *row = malloc(count * size);
    for (size_t i = 0; row && i < count; i++)
        sample_store(type, row + i * size, pixel[i % in->channels]);
    if (row)
        view.operand = stage_plan_table(plan, row, count * size);
    plan->out_of_memory |= !row;
    free(row);
    return view;
}

/* A row for a number, or for a definition that suits all pictures, of which there are no samples.
 */
static struct view add_number(struct stage_plan *plan, const struct second_config *config,
                              const struct plane *in, enum form form)
{
    double number = sample_is_integer(in->type) && form == FORM_SAMES
                        ? (double)sample_saturate(in->type, config->number)
                        : config->number;
    double one = change(form, number, number);
    const double pixel[PLANE_CHANNELS_MAX] = {one, one, one, one};
    return add_row(plan, in, type_of(form, in), pixel);
}

/* Adds the table with a form of the second picture for such a plane. */
static struct view add_form(struct stage_plan *plan, const struct second_config *config,
                            const struct plane *in, enum form form)
{
    struct definition_picture *second = config->defined;
    struct view view = {0};
    if (!second || !second->samples)
        return add_number(plan, config, in, form);
    struct definition_form same = {second->plane, second->samples, second->n_bytes}, *made = &same;
    bool as_it_is = form == FORM_SAMES && second->plane.channels == in->channels;
    if (!as_it_is) {
        made = &second->forms[form * PLANE_CHANNELS_MAX + in->channels - 1];
        pthread_mutex_lock(&second->lock);
        plan->out_of_memory |= !made->samples && !make_form(second, form, in->channels, made);
        pthread_mutex_unlock(&second->lock);
    }
    if (plan->out_of_memory)
        return view;
    view.plane = made->plane;
    view.operand = stage_plan_lend(plan, made->samples, made->n_bytes, as_it_is);
    return view;
}

void second_place(const struct second_config *config, const struct plane *in, uint32_t width,
                  uint32_t height, int32_t *left, int32_t *top)
{
    int64_t across = (int64_t)in->width - width, down = (int64_t)in->height - height;
    bool blends = config->operation == SECOND_BLEND;
    int column = config->gravity % 3, row = config->gravity / 3;
    /* Shifted, a half goes down below zero, too. */
    int64_t x = column == 2 ? across - config->x : (column == 1 ? across >> 1 : 0) + config->x;
    int64_t y = row == 2 ? down - config->y : (row == 1 ? down >> 1 : 0) + config->y;
    *left = blends ? (int32_t)x : 0;
    *top = blends ? (int32_t)y : 0;
}

/* ---- passes ---- */

/* The number that the kernels of divide and blend take. */
static float number_of(const struct second_config *config, bool shares)
{
    const struct definition_picture *second = config->defined;
    if (config->operation == SECOND_BLEND)
        return (float)(shares && second->samples ? config->opacity / plane_white(&second->plane)
                                                 : config->opacity);
    return config->scale.choice == PARAM_IS_NUMBER ? (float)config->scale.value : 1;
}

static void define_types(struct pass *pass, const struct plane *in, const struct plane *with,
                         bool masks)
{
    pass_define_type(pass, "SRC", in->type);
    pass_define(pass, "DST", "SRC");
    if (with->type == in->type)
        pass_define(pass, "WITH", "SRC");
    else
        pass_define_type(pass, "WITH", with->type);
    pass_define(pass, "EXTRA", "%s", masks ? "SRC" : "WITH");
    size_t size = sample_size(in->type);
    if (masks) {
        pass_define(pass, "BITS", "%s", size == 1 ? "uchar" : size == 2 ? "ushort" : "uint");
        pass_define(pass, "ONES", "%u", size == 1 ? 1u : size == 2 ? 0x101u : 0x1010101u);
    }
}

static void add_pass(const struct second_config *config, struct stage_plan *plan, unsigned index,
                     const struct view *with, const struct view *extra, bool shares)
{
    const struct plane *in = &plan->in->planes[index], *out = &plan->out->planes[index];
    uint32_t width = in->width * in->channels;
    bool masks = config->operation == SECOND_MASK, keeps = plane_has_alpha(in) && !masks;
    enum kernel_form form = pass_form_for(plan->profile, in, out);
    struct device_profile wide = *plan->profile;
    wide.vector_bytes = 16; /* without a window that needs few registers on any device */
    unsigned span = pass_vector_length(&wide, in->type, with->plane.type);
    int32_t left, top;
    if (form == FORM_VECTOR && (width < span || !pass_is_aligned(&with->plane)))
        form = FORM_SCALAR;
    struct pass *pass =
        pass_begin(plan, "second", shares ? "shares" : names[config->operation], form,
                   form == FORM_VECTOR ? span : 0, width, in->height);
    if (form == FORM_ROWS)
        pass->lanes = 16;
    define_types(pass, in, &with->plane, masks);
    pass_define(pass, "ALPHA", "%u", keeps ? in->channels : 0);
    if (keeps)
        pass_name(pass, in->channels == 2 ? "c2" : "c4");
    pass_name(pass, kernel_form_name(form));
    pass->work = 4;
    pass->goes_on = true;
    pass_planes(pass, plan, index);
    pass_view(pass, with);
    pass_view(pass, extra);
    pass->bytes_read += plane_bytes(&with->plane) * (shares ? 2 : 1);
    second_place(config, in, with->plane.width, with->plane.height, &left, &top);
    pass_float(pass, number_of(config, shares));
    pass_ints(pass, left * (int32_t)in->channels, top, (int32_t)(with->plane.width * in->channels),
              (int32_t)with->plane.height);
}

static void add(const void *config_, struct stage_plan *plan, unsigned i)
{
    const struct second_config *config = config_;
    const struct definition_picture *second = config->defined;
    const struct plane *in = &plan->in->planes[i];
    bool shares = config->operation == SECOND_BLEND && second && plane_has_alpha(&second->plane);
    enum form form = form_of(config, in, second && second->samples ? second->plane.type : in->type);
    struct view with = add_form(plan, config, in, form), extra = with;
    if (shares)
        extra = add_form(plan, config, in, form == FORM_SAMES ? FORM_ALPHAS : FORM_FLOAT_ALPHAS);
    if (config->operation == SECOND_MASK) {
        double background[PLANE_CHANNELS_MAX] = {0};
        stage_background("mask", &config->background, in, background, NULL);
        extra = add_row(plan, in, in->type, background);
    }
    if (!plan->out_of_memory)
        add_pass(config, plan, i, &with, &extra, shares);
}

/* "@grey", which the build defines (src/kernels/walk.c), suits pictures of any size and type, and
 * has alpha. */
#define SECOND_STAGE(word, operation, table, text)                                                 \
    {                                                                                              \
        .name = #word, .summary = text, .params = table,                                           \
        .chains = (const char *const[]){#word ":3", #word ":@grey", NULL},                         \
        .config_size = sizeof(struct second_config),                                               \
        .types = 1u << SAMPLE_U8 | 1u << SAMPLE_U16 | 1u << SAMPLE_I16 | 1u << SAMPLE_F32,         \
        .define = define, .kind = operation, .complete = complete,                                 \
        .window = stage_window_of_pixel, .change = check_plane, .add = add,                        \
        .reference = second_reference, .floats = &(const struct tolerance){0, 0},                  \
        .bench = #word ":3",                                                                       \
    }

const struct stage stage_subtract = SECOND_STAGE(subtract, SECOND_SUBTRACT, plain_params,
                                                 "the picture minus a second one, as a dark frame");
const struct stage stage_difference = SECOND_STAGE(difference, SECOND_DIFFERENCE, plain_params,
                                                   "how much the picture and a second one differ");
const struct stage stage_divide = SECOND_STAGE(
    divide, SECOND_DIVIDE, divide_params, "the picture divided by a second one, as a flat field");
const struct stage stage_mask =
    SECOND_STAGE(mask, SECOND_MASK, mask_params,
                 "the picture where a mask is not 0, and a background elsewhere");
const struct stage stage_blend = SECOND_STAGE(blend, SECOND_BLEND, blend_params,
                                              "a second picture laid over the picture, as a logo");
