/* Included in front of kernels of stencils with large windows for CPUs (src/stage/strips.h). A work-item computes
 * `strip` samples in each of `band` rows. A pixel's window has `left` and `top` pixels before it and `right` and
 * `bottom` after it; the result's pixel (0, 0) has the source's (centre_x, centre_y) in its window's middle. `line`
 * is the number of samples for which a line of scratch memory has room: the strip and what windows need on both
 * sides. */
#include <border.cl>
#include <own.cl>
#define STRIP_PARAMETERS                                                                           \
    __global uchar *restrict scratch, int item_units, int strip, int line, int band, int channels, \
        int width, int height, int samples, int out_height, int left, int right, int top,          \
        int bottom, int border, int centre_x, int centre_y

/* The work-item's scratch memory; the first one of its samples in a row, their number, and its rows. */
#define STRIP_MEMORY                                                                               \
    (scratch + (size_t)(OWN_Y * grid_width + SPAN_BEGIN) * (size_t)item_units * 128)
#define STRIP_BEGIN   (SPAN_BEGIN * strip)
#define STRIP_COUNT   min(strip, samples - STRIP_BEGIN)
#define STRIP_ROW     (GRID_Y * band)
#define STRIP_ROW_END min(GRID_Y * band + band, out_height)

/* A row of the bordered source, from the first sample of the strip's first window on. Samples begin … end - 1 are in
 * the plane, at `row`. A vector that needs only these reads `row`; others read `pad`, a copy with the samples
 * outside of the plane and those near them. */
struct FN(line) {
    __global const SRC *row, *pad;
    int begin, end;
};

/* The address from which a vector reads `seen` samples from x on. */
#define STRIP_AT(line, x, seen)                                                                    \
    (((x) >= (line).begin && (x) + (seen) <= (line).end ? (line).row : (line).pad) + (x))

/* Prepares row y: `count` samples are needed, vectors may read up to `room`, and each reads `seen`. */
#define STRIP_LINE(y, count, room, seen, pad)                                                      \
    FN(strip_line)(ROW(src, max(border_index(y, height, border), 0)),                              \
                   border_index(y, height, border) < 0,                                            \
                   STRIP_BEGIN + (centre_x - left) * channels, count, room, seen, width, channels, \
                   border, pad)
inline struct FN(line) FN(strip_line)(__global const SRC *row, int zeros, int begin, int count,
                                      int room, int seen, int width, int channels, int border,
                                      __global SRC *pad)
{
    struct FN(line) line = {row + begin, pad, max(-begin, 0), zeros ? 0 : width * channels - begin};
    if (line.begin == 0 && line.end >= room)
        return line;
    int pixel = begin / channels, inside_end = min(count, line.end), p = 0;
    seen += channels; /* whole pixels */
    while (p < count) {
        if (!zeros && pixel >= 0 && pixel < width) {
            int stop = min(p + seen, inside_end);
            for (int i = p; i < stop; i++)
                pad[i] = row[begin + i];
            for (int i = max(stop, inside_end - seen); i < inside_end; i++)
                pad[i] = row[begin + i];
            pixel += (inside_end - p) / channels;
            p = inside_end;
        } else {
            int from = -1, step = 0, run = (count - p) / channels;
            if (!zeros)
                run = border_run(pixel, pixel + run, width, border, &from, &step);
            SRC repeated = from < 0 ? (SRC)0 : row[from * channels];
            for (int i = 0; i < run && channels == 1 && step == 0; i++)
                pad[p + i] = repeated;
            for (int i = 0; i < run * channels && (channels > 1 || step != 0); i++)
                pad[p + i] = from < 0 ? (SRC)0 : row[(from + i / channels * step) * channels + i % channels];
            p += run * channels;
            pixel += run;
        }
    }
    return line;
}

/* Copies the alpha samples of row y from the source to the result. */
#define STRIP_ALPHA(out, y, count)                                                                 \
    if ((channels & 1) == 0) {                                                                     \
        __global const SRC *in_ = ROW(src, (y) + centre_y) + centre_x * channels + STRIP_BEGIN;    \
        for (int x_ = channels - 1; x_ < (count); x_ += channels)                                  \
            (out)[x_] = in_[x_];                                                                   \
    }

/* Each row lies in pages of its own, where the processor's prefetching begins anew: so a row of the source and one of
 * the result are fetched so many rows before they are needed. */
#define AHEAD 4

#ifdef __AVX512BW__
#define VECTOR_BYTES 64
#else
#define VECTOR_BYTES 32
#endif
/* Vectors of STRIP_LANES samples, and access to them at any address. */
#define STRIP_LANES (VECTOR_BYTES / (int)sizeof(SRC))
typedef SRC __attribute__((ext_vector_type(STRIP_LANES))) FN(strip_lanes);
typedef FN(strip_lanes) __attribute__((aligned(sizeof(SRC)))) FN(strip_anywhere);
#define STRIP_IN(p)  (*(__global const FN(strip_anywhere) *)(p))
#define STRIP_OUT(p) (*(__global FN(strip_anywhere) *)(p))
