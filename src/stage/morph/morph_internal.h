/* Shared by the files that plan erosion and dilation. */
#ifndef SLUICE_STAGE_MORPH_INTERNAL_H
#define SLUICE_STAGE_MORPH_INTERNAL_H

#include "stage/morph/morph.h"
#include "stage/strips.h"

/* One window over one plane. */
struct morph_task {
    struct stage_plan *plan;
    uint32_t width, height;
    enum border border;
    enum morph_kind kind;
    struct strips_view in, out;
    unsigned own, between, half[2], turn; /* scratch operands; `half` are used in turn */
    bool too_large;                       /* a plane between does not fit */
};

/* How far the window reaches; dilate's is mirrored. */
struct strips_window morph_window(const struct morph_task *task);

/* Defines and names what differs between erosion and dilation. */
void morph_describe(struct pass *pass, enum morph_kind kind);

/* Adds the passes of morph_bytes.c; false where they do not suit the device, the plane or the
 * window. */
bool morph_add_bytes(struct morph_task *task);

#endif
