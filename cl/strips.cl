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

/* A row of the bordered source from the strip's first window on: samples begin … end - 1 lie in `row`, where vectors
 * read them that see nothing else; others read `pad`, which has what is outside and what is near that. */
struct FN(line) {
    __global const SRC *row, *pad;
    int begin, end;
};

/* Where a vector finds sample x and those behind it, `seen` in all. */
#define STRIP_AT(line, x, seen)                                                                    \
    (((x) >= (line).begin && (x) + (seen) <= (line).end ? (line).row : (line).pad) + (x))

/* Row y, of which `count` samples are needed, and up to `room` are read. */
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

/* Alpha of a row of the result is that of the source. */
#define STRIP_ALPHA(out, y, count)                                                                 \
    if ((channels & 1) == 0) {                                                                     \
        __global const SRC *in_ = ROW(src, (y) + centre_y) + centre_x * channels + STRIP_BEGIN;    \
        for (int x_ = channels - 1; x_ < (count); x_ += channels)                                  \
            (out)[x_] = in_[x_];                                                                   \
    }

/* How wide vectors are. Without the attribute LLVM takes two instructions for 512 bits. */
#ifdef __AVX512BW__
#define VECTOR_BYTES        64
#define VECTORS_OF_512_BITS __attribute__((min_vector_width(512)))
#else
#define VECTOR_BYTES 32
#define VECTORS_OF_512_BITS
#endif
