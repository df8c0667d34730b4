/* Luminance of pixels of bytes, on GPUs that compute in floats (Mali): exact, because with shares of red, green and blue
 * that are multiples of 2^-16 all sums have at most 24 bits. Four pixels are RGB in three words, or RGBA in four. */
#include <words.cl>

inline float luma_of_bytes(float r, float g, float b, float red, float green, float blue)
{
    return floor(fma(r, red, fma(g, green, fma(b, blue, 0.5f))));
}

inline float4 lumas_of_rgb(uint a, uint b, uint c, float red, float green, float blue)
{
    return (float4)(
        luma_of_bytes(byte_as_float(a, 0), byte_as_float(a, 1), byte_as_float(a, 2), red, green, blue),
        luma_of_bytes(byte_as_float(a, 3), byte_as_float(b, 0), byte_as_float(b, 1), red, green, blue),
        luma_of_bytes(byte_as_float(b, 2), byte_as_float(b, 3), byte_as_float(c, 0), red, green, blue),
        luma_of_bytes(byte_as_float(c, 1), byte_as_float(c, 2), byte_as_float(c, 3), red, green, blue));
}

inline float luma_of_rgba(uint w, float red, float green, float blue)
{
    return luma_of_bytes(byte_as_float(w, 0), byte_as_float(w, 1), byte_as_float(w, 2), red, green, blue);
}

inline float4 lumas_of_rgba(uint4 w, float red, float green, float blue)
{
    return (float4)(luma_of_rgba(w.s0, red, green, blue), luma_of_rgba(w.s1, red, green, blue),
                    luma_of_rgba(w.s2, red, green, blue), luma_of_rgba(w.s3, red, green, blue));
}
