/* canny by its definition: gradients of all pixels, those that are greatest across their line, and
 * from each strong one on whatever it touches. */
#include "stage/canny.h"

#include <stdlib.h>

#include "base/fault.h"

struct gradient {
    int64_t dx, dy, size;
};

static struct gradient gradient_of(const struct picture *in, size_t index, int64_t x, int64_t y,
                                   uint32_t channel, bool squares)
{
#define AT(i, j) (int64_t) picture_sample(in, index, x + (i), y + (j), channel, BORDER_EDGE)
    struct gradient g = {
        .dx = AT(1, -1) + 2 * AT(1, 0) + AT(1, 1) - AT(-1, -1) - 2 * AT(-1, 0) - AT(-1, 1),
        .dy = AT(-1, 1) + 2 * AT(0, 1) + AT(1, 1) - AT(-1, -1) - 2 * AT(0, -1) - AT(1, -1)};
    g.size = squares ? g.dx * g.dx + g.dy * g.dy : llabs(g.dx) + llabs(g.dy);
    return g;
}

/* The greatest of the colours' gradients, the first of equal ones. */
static struct gradient greatest(const struct picture *in, size_t index, int64_t x, int64_t y,
                                bool squares)
{
    const struct plane *plane = &in->frame.planes[index];
    struct gradient best = gradient_of(in, index, x, y, 0, squares);
    for (uint32_t c = 1; c < plane->channels - plane_has_alpha(plane); c++) {
        struct gradient g = gradient_of(in, index, x, y, c, squares);
        if (g.size > best.size)
            best = g;
    }
    return best;
}

struct edges {
    const struct gradient *gradients;
    uint8_t *strong; /* 1: a weak pixel, 2: a strong one */
    uint32_t *stack;
    int64_t width, height;
};

static int64_t size_at(const struct edges *e, int64_t x, int64_t y)
{
    bool inside = x >= 0 && y >= 0 && x < e->width && y < e->height;
    return inside ? e->gradients[y * e->width + x].size : 0;
}

static bool is_thin(const struct edges *e, int64_t x, int64_t y)
{
    const struct gradient *g = &e->gradients[y * e->width + x];
    int64_t ax = llabs(g->dx), ay = llabs(g->dy) << 15, tangent = ax * CANNY_TANGENT;
    if (ay < tangent)
        return g->size > size_at(e, x - 1, y) && g->size >= size_at(e, x + 1, y);
    if (ay > tangent + (ax << 16))
        return g->size > size_at(e, x, y - 1) && g->size >= size_at(e, x, y + 1);
    int64_t s = (g->dx < 0) != (g->dy < 0) ? -1 : 1;
    return g->size > size_at(e, x - s, y - 1) && g->size > size_at(e, x + s, y + 1);
}

/* Makes all strong that a strong pixel touches, directly or by others. */
static void connect(struct edges *e, int64_t x, int64_t y)
{
    size_t n = 0;
    e->stack[n++] = (uint32_t)(y * e->width + x);
    while (n > 0) {
        uint32_t at = e->stack[--n];
        for (int64_t j = at / e->width - 1; j <= at / e->width + 1; j++)
            for (int64_t i = at % e->width - 1; i <= at % e->width + 1; i++)
                if (i >= 0 && j >= 0 && i < e->width && j < e->height &&
                    e->strong[j * e->width + i] == 1) {
                    e->strong[j * e->width + i] = 2;
                    e->stack[n++] = (uint32_t)(j * e->width + i);
                }
    }
}

static int compute(const struct canny_config *config, const struct picture *in, size_t index,
                   struct picture *out, struct fault *fault)
{
    const struct plane *plane = &in->frame.planes[index];
    size_t count = (size_t)plane->width * plane->height;
    struct gradient *gradients = calloc(count, sizeof *gradients);
    struct edges e = {gradients, calloc(count, 1), calloc(count, sizeof *e.stack), plane->width,
                      plane->height};
    uint64_t low, high;
    canny_limits(config, &low, &high);
    bool enough = gradients && e.strong && e.stack;
    for (int64_t at = 0; enough && at < (int64_t)count; at++)
        gradients[at] = greatest(in, index, at % e.width, at / e.width, config->norm == CANNY_L2);
    for (int64_t at = 0; enough && at < (int64_t)count; at++)
        if ((uint64_t)gradients[at].size > low && is_thin(&e, at % e.width, at / e.width))
            e.strong[at] = (uint64_t)gradients[at].size > high ? 2 : 1;
    for (int64_t at = 0; enough && at < (int64_t)count; at++)
        if (e.strong[at] == 2)
            connect(&e, at % e.width, at / e.width);
    for (int64_t at = 0; enough && at < (int64_t)count; at++)
        ((uint8_t *)picture_row(out, index, (uint32_t)(at / e.width)))[at % e.width] =
            e.strong[at] == 2 ? 255 : 0;
    free(gradients);
    free(e.strong);
    free(e.stack);
    return enough ? 0 : fault_set(fault, FAULT_MEMORY, "no memory for canny's reference");
}

int canny_reference(const void *config, const struct picture *in, struct picture *out,
                    struct fault *fault)
{
    int result = 0;
    for (size_t i = 0; i < in->frame.n_planes && result == 0; i++)
        result = compute(config, in, i, out, fault);
    return result;
}
