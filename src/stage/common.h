/* What several stages share: parameters, shapes, checks, references. */
#ifndef SLUICE_STAGE_COMMON_H
#define SLUICE_STAGE_COMMON_H

#include "param/param.h"
#include "stage/stage.h"

extern const struct param_choice stage_border_choices[];
extern const struct param_choice stage_border_choices_but_crop[];

/* A row of the table for the parameter `border`, which is at that offset. */
#define STAGE_BORDER_PARAM(offset_)                                                                \
    {                                                                                              \
        .name = "border", .type = PARAM_CHOICE, .offset = (offset_),                               \
        .choices = stage_border_choices, .fallback = "edge",                                       \
        .help = "what stands outside the picture; crop keeps only positions whose whole window "   \
                "lies inside"                                                                      \
    }

/* A place in a picture. In rows of three: gravity % 3 is 0 on the left, 1 in the middle, 2 on the
 * right; gravity / 3 the same from the top. */
enum gravity {
    GRAVITY_NORTHWEST,
    GRAVITY_NORTH,
    GRAVITY_NORTHEAST,
    GRAVITY_WEST,
    GRAVITY_CENTRE,
    GRAVITY_EAST,
    GRAVITY_SOUTHWEST,
    GRAVITY_SOUTH,
    GRAVITY_SOUTHEAST,
};
extern const struct param_choice stage_gravity_choices[];

/* "u8" to "f64": for parameters that name a plane's former type. */
extern const struct param_choice stage_type_choices[];

/* frame_add_plane; FAULT_MEMORY without memory. */
int stage_add_plane(struct frame *frame, const struct plane *plane, size_t alignment,
                    struct fault *fault);

/* The window() of stages that compute each pixel from the same one, row by row. */
bool stage_window_of_pixel(const void *config, struct stage_window *window);

/* The types of most per-pixel stages, as a bit set for stage_require_type. */
#define STAGE_TYPES_BUT_F64                                                                        \
    (1u << SAMPLE_U8 | 1u << SAMPLE_I8 | 1u << SAMPLE_U16 | 1u << SAMPLE_I16 | 1u << SAMPLE_I32 |  \
     1u << SAMPLE_F32)

/* Those of stages that say nothing about types, and of stages that only move samples. */
#define STAGE_TYPES_ALL     ((1u << SAMPLE_TYPES) - 1)
#define STAGE_TYPES_BUT_F16 (STAGE_TYPES_ALL & ~(1u << SAMPLE_F16))

/* FAULT_SHAPE unless the type is in `types`, a bit set (1 << SAMPLE_U8). The text names the stage,
 * the type, and `convert` as a solution. */
int stage_require_type(const char *stage, enum sample_type type, unsigned types,
                       struct fault *fault);

/* The same for all planes. */
int stage_require_types(const char *stage, const struct frame *in, unsigned types,
                        struct fault *fault);

/* For a stage with the parameter `background` (PARAM_REALS): FAULT_CHAIN when it has more values
 * than a pixel can have channels. */
int stage_check_background(const char *stage, const struct param_matrix *background,
                           struct fault *fault);

/* The background of a plane's pixels, a value for each channel. FAULT_SHAPE when the parameter has
 * neither one value nor one for each channel. */
int stage_background(const char *stage, const struct param_matrix *background,
                     const struct plane *plane, double values[PLANE_CHANNELS_MAX],
                     struct fault *fault);

/* The size of a window's result: that of the plane; with BORDER_CROP that of the positions whose
 * whole window is inside, FAULT_SHAPE if there are none. */
int stage_window_size(const char *stage, enum border border, uint32_t window_width,
                      uint32_t window_height, struct plane *plane, struct fault *fault);

/* Says by pass_set_rows which rows a pass of such a window needs. The result of a cropped one begins
 * at the source's first row that has a whole window. */
void stage_set_rows(struct pass *pass, uint32_t band, const struct stage_window *window,
                    uint64_t item);

/* The value as the type has it: of integers rounded and limited, else in f32. */
double stage_limited(enum sample_type type, double v);

/* For references: another channel of the input's pixel at that place. */
double stage_channel(const struct stage_place *place, uint32_t channel);

/* The border as kernels take it: a cropped window never sees one. */
int stage_border(enum border border);

/* The least multiple that is not below the value. */
static inline uint32_t stage_round_up(uint32_t value, uint32_t multiple)
{
    return (value + multiple - 1) / multiple * multiple;
}

#endif
