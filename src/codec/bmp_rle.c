/* Run lengths of BMP ("Bitmap Compression" in the Windows GDI reference). The data are pairs of
 * bytes: a count and a colour (RLE4: two colours in turn), or 0 and
 *
 *     0     end of the row
 *     1     end of the picture
 *     2     two bytes dx, dy follow: move right by dx and on by dy rows, without writing
 *     n≥3   n single colours follow, padded to an even number of bytes
 *
 * Pixels that no run writes have colour 0. Pixels outside of the picture are dropped, with a
 * warning. */

#include "base/deadline.h"
#include "codec/bmp.h"

enum escape {
    ESCAPE_ROW_ENDS,
    ESCAPE_PICTURE_ENDS,
    ESCAPE_MOVE,
};

struct rle {
    struct decoder *decoder;
    const struct bmp_state *state;
    const struct picture *into;
    const uint8_t *at, *end;
    uint32_t width, height;
    uint64_t x, y; /* of the next pixel, in the file's order of rows; may be outside */
    struct fault *fault;
};

static int left_picture(const struct rle *r)
{
    return decoder_warn(r->decoder, r->fault, "runs leave the picture");
}

static bool has(const struct rle *r, size_t bytes)
{
    return (size_t)(r->end - r->at) >= bytes;
}

/* Colour i of packed ones: bytes in RLE8, halves of bytes in RLE4. */
static unsigned colour(const struct rle *r, const uint8_t *colours, unsigned i)
{
    if (r->state->bits == 8)
        return colours[i];
    return i & 1 ? colours[i / 2] & 15 : colours[i / 2] >> 4;
}

static int put(struct rle *r, unsigned count, const uint8_t *colours, bool repeat)
{
    int result = 0;
    uint64_t room = r->y < r->height && r->x < r->width ? r->width - r->x : 0;
    unsigned inside = count < room ? count : (unsigned)room;
    uint8_t *row = inside > 0 ? bmp_row(r->state, r->into, (uint32_t)r->y) : NULL;
    for (unsigned i = 0; i < inside && result == 0; i++) {
        unsigned which = !repeat ? i : r->state->bits == 8 ? 0 : i & 1;
        if (!bmp_put_colour(r->state, row, (uint32_t)r->x + i, colour(r, colours, which)))
            result = bmp_bad_colour(r->decoder, r->fault);
    }
    r->x += count;
    return result == 0 && inside < count ? left_picture(r) : result;
}

static int move(struct rle *r)
{
    if (!has(r, 2))
        return bmp_truncated(r->fault);
    r->x += r->at[0];
    r->y += r->at[1];
    r->at += 2;
    return r->x > r->width || r->y > r->height ? left_picture(r) : 0;
}

static int put_one_by_one(struct rle *r, unsigned count)
{
    size_t bytes = r->state->bits == 8 ? count : (count + 1) / 2;
    size_t padded = (bytes + 1) & ~(size_t)1;
    if (!has(r, padded))
        return bmp_truncated(r->fault);
    int result = put(r, count, r->at, false);
    r->at += padded;
    return result;
}

static int end_row(struct rle *r)
{
    r->x = 0;
    r->y++;
    return r->y > r->height ? left_picture(r) : 0;
}

static int decode(struct rle *r)
{
    for (;;) {
        if (!has(r, 2))
            return bmp_truncated(r->fault);
        unsigned count = r->at[0], what = r->at[1];
        int result;
        r->at += 2;
        if (count > 0)
            result = put(r, count, r->at - 1, true);
        else if (what == ESCAPE_PICTURE_ENDS)
            return 0;
        else if (what == ESCAPE_ROW_ENDS)
            result = end_row(r);
        else if (what == ESCAPE_MOVE)
            result = move(r);
        else
            result = put_one_by_one(r, what);
        if (result != 0)
            return result;
    }
}

static int fill(const struct rle *r)
{
    int result = 0;
    for (uint32_t y = 0; y < r->height && (result = deadline_check(r->fault)) == 0; y++)
        for (uint32_t x = 0; x < r->width; x++)
            bmp_put_colour(r->state, bmp_row(r->state, r->into, y), x, 0);
    return result;
}

int bmp_read_rle(struct decoder *d, const struct picture *into, struct fault *fault)
{
    const struct bmp_state *state = d->state;
    const struct plane *plane = &into->frame.planes[0];
    struct fault why = FAULT_INIT;
    struct rle r = {.decoder = d,
                    .state = state,
                    .into = into,
                    .at = d->data + state->pixels,
                    .end = d->data + d->size,
                    .width = plane->width,
                    .height = plane->height,
                    .fault = &why};
    int result = fill(&r);
    if (result == 0)
        result = decode(&r);
    if (result == 0 || (result == FAULT_TRUNCATED && d->options.partial))
        return 0;
    return fault_set(fault, why.code, "%s", why.text);
}
