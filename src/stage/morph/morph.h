/* The stages erode, dilate, open and close: the least or the largest sample of a window, or one
 * behind the other. Windows are those of box; dilate's are mirrored, which makes a difference to
 * even ones. */
#ifndef SLUICE_STAGE_MORPH_H
#define SLUICE_STAGE_MORPH_H

#include "stage/stage.h"
#include "stage/strips.h"

enum morph_kind {
    MORPH_LEAST,
    MORPH_LARGEST,
};

struct morph_config {
    int64_t width;
    int64_t height; /* as the width unless given */
    int64_t radius; /* width = height = 2 · radius + 1; completed into those */
    int border;     /* enum border */

    /* What the stage's name means: the first window, and whether one of the other kind follows. */
    enum morph_kind kind;
    bool twice;
};

/* Adds the planes that one window after `in` leaves, or both of them. */
int morph_shape(const struct morph_config *config, unsigned windows, const struct frame *in,
                size_t alignment, struct frame *out, struct fault *fault);

/* The definition, in plain C. */
stage_reference morph_reference;

/* One window over one plane, while it is planned. */
struct morph_task {
    struct stage_plan *plan;
    uint32_t width, height;
    enum border border;
    enum morph_kind kind;
    struct view in, out;
    unsigned own, between, half[2], turn; /* scratch operands; `half` are used in turn */
};

/* How far the window reaches; dilate's is mirrored. */
struct stage_window morph_window(const struct morph_task *task);

/* Defines and names what differs between erosion and dilation. */
void morph_describe(struct pass *pass, enum morph_kind kind);

/* Adds the passes of morph_bytes.c; false where they do not suit the device, the plane or the
 * window. */
bool morph_add_bytes(struct morph_task *task);

#endif
