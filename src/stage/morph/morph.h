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

/* The stages: the kind of the first window in the lowest bit, then whether one of the other kind
 * follows. */
enum {
    MORPH_ERODE,
    MORPH_DILATE,
    MORPH_OPEN,
    MORPH_CLOSE,
};

struct morph_config {
    int stage;
    int64_t width;
    int64_t height; /* as the width unless given */
    int64_t radius; /* width = height = 2 · radius + 1; completed into those */
    int border;     /* enum border */
};

extern const struct stage stage_erode;

/* The definition, in plain C. */
stage_reference morph_reference;

/* One window over one plane, while it is planned. */
struct morph_task {
    struct stage_plan *plan;
    uint32_t width, height;
    enum border border;
    enum morph_kind kind;
    struct view in, out;
    struct scratch own, between, half[2];
    unsigned turn;  /* `half` are used in turn */
    unsigned plane; /* its index */
};

/* How far the window reaches; dilate's is mirrored. */
struct stage_window morph_window(const struct morph_task *task);

/* Defines and names what differs between erosion and dilation. */
void morph_describe(struct pass *pass, enum morph_kind kind);

/* Of bytes on GPUs, in morph_bytes.c: whether device, plane and window suit, and the passes. */
bool morph_suits_far(const struct morph_task *task);
void morph_add_far(struct morph_task *task);

#endif
