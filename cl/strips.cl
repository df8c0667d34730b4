/* In front of kernels for CPUs of stencils with large windows (src/stage/strips.h). A work-item computes `strip`
 * samples of `band` rows. Its window goes from `left` and `top` pixels in front of a pixel to `right` and `bottom`
 * behind it; the result's pixel (0, 0) is the source's (centre_x, centre_y). `line`: samples that a line of a strip
 * has room for, with what windows see on both sides. */
#define STRIP_PARAMETERS                                                                           \
    __global uchar *restrict scratch, int item_units, int strip, int line, int band, int channels, \
        int width, int height, int samples, int out_height, int left, int right, int top,          \
        int bottom, int border, int centre_x, int centre_y

/* The work-item's scratch memory; its first sample of the result, how many they are, and its rows. */
#define STRIP_MEMORY                                                                               \
    (scratch + (size_t)(GRID_Y * grid_width + SPAN_BEGIN) * (size_t)item_units * 128)
#define STRIP_BEGIN   (SPAN_BEGIN * strip)
#define STRIP_COUNT   min(strip, samples - STRIP_BEGIN)
#define STRIP_ROW     (GRID_Y * band)
#define STRIP_ROW_END min(GRID_Y * band + band, out_height)

/* Row y of the bordered source from the strip's first window on, with what `count` results see: where it lies, or
 * in `pad`, where what is outside has been added. */
#define STRIP_LINE(y, count, pad)                                                                  \
    FN(strip_line)(ROW(src, max(border_index(y, height, border), 0)),                              \
                   border_index(y, height, border) < 0,                                            \
                   STRIP_BEGIN + (centre_x - left) * channels, (count) + (left + right) * channels, \
                   width, channels, border, pad)
inline __global const SRC *FN(strip_line)(__global const SRC *row, int zeros, int begin, int count,
                                          int width, int channels, int border, __global SRC *pad)
{
    int n = width * channels, end = begin + count;
    if (!zeros && begin >= 0 && end <= n)
        return row + begin;
    for (int p = begin; p < end;) {
        __global SRC *to = pad + (p - begin);
        int inside = zeros || p < 0 ? 0 : min(n, end) - p;
        for (int i = 0; i < inside; i++)
            to[i] = row[p + i];
        if (inside <= 0) {
            int pixel = zeros ? -1 : border_index(p / channels, width, border);
            for (int c = 0; c < channels; c++)
                to[c] = pixel < 0 ? (SRC)0 : row[pixel * channels + c];
        }
        p += max(inside, channels);
    }
    return pad;
}

/* Alpha of a row of the result is that of the source. */
#define STRIP_ALPHA(out, y, count)                                                                 \
    if ((channels & 1) == 0) {                                                                     \
        __global const SRC *in_ = ROW(src, (y) + centre_y) + centre_x * channels + STRIP_BEGIN;    \
        for (int x_ = channels - 1; x_ < (count); x_ += channels)                                  \
            (out)[x_] = in_[x_];                                                                   \
    }
