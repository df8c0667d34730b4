/* Bytes at a row's ends, where some lie outside, for kernels on GPUs that otherwise load and store words. Few work-items
 * come here, but the others of their group wait for them, and what is in registers meanwhile stays there. */
#include <border.cl>
/* Where sample x of a bordered row of `width` pixels of `channels` samples lies in the row; -1: it is a zero. */
inline int edge_sample(int x, int width, int channels, int border)
{
    int channel = modulo(x, channels), pixel = border_index((x - channel) / channels, width, border);
    return pixel < 0 ? -1 : pixel * channels + channel;
}

inline int4 edge_samples(int x, int width, int channels, int border)
{
    return (int4)(edge_sample(x, width, channels, border), edge_sample(x + 1, width, channels, border),
                  edge_sample(x + 2, width, channels, border), edge_sample(x + 3, width, channels, border));
}

/* The samples at four such places, in a word. */
inline uint edge_gather(__global const uchar *row, int4 at)
{
    return (at.s0 < 0 ? 0u : (uint)row[max(at.s0, 0)]) | (at.s1 < 0 ? 0u : (uint)row[max(at.s1, 0)]) << 8 |
           (at.s2 < 0 ? 0u : (uint)row[max(at.s2, 0)]) << 16 | (at.s3 < 0 ? 0u : (uint)row[max(at.s3, 0)]) << 24;
}

/* The four samples of a bordered row from x on. */
inline uint edge_word(__global const uchar *row, int x, int width, int channels, int border)
{
    uint word = 0;
    for (int i = 0; i < 4; i++) {
        int at = edge_sample(x + i, width, channels, border);
        word |= at < 0 ? 0u : (uint)row[at] << 8 * i;
    }
    return word;
}

/* The same in a loop that is not unrolled, for Mali: `never` is 0, but not for the compiler (Mesa would unroll loops with
 * constant bounds). x is no further than 256 pixels in front of the row. */
inline uint edge_word_near(__global const uchar *row, int x, int width, int channels, int border, int never)
{
    uint word = 0;
    for (int i = x; i < x + 4 + never; i++) {
        int pixel = (i + 256 * channels) / channels - 256, at = border_near(pixel, width, border);
        word = word >> 8 | (at < 0 ? 0u : (uint)row[at * channels + i - pixel * channels] << 24);
    }
    return word;
}

/* Store the first `count` bytes of v: of 4, 8 and 16. */
inline void edge_put_4(__global uchar *to, uint v, int count)
{
    for (int i = 0; i < count; i++, v >>= 8)
        to[i] = (uchar)v;
}

inline void edge_put_8(__global uchar *to, ulong v, int count)
{
    for (int i = 0; i < count; i++, v >>= 8)
        to[i] = (uchar)v;
}

inline void edge_put_16(__global uchar *to, uint4 v, int count)
{
    ROLLED for (int i = 0; i < count; i++)
    {
        to[i] = (uchar)v.s0;
        v = (uint4)(v.s012 >> 8 | v.s123 << 24, v.s3 >> 8);
    }
}
