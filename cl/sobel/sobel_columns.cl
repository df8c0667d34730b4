/* sobel of bytes in floats, down columns. */
#include "columns_words.cl"
/* Sums of columns come first, because three gradients share each. */
#define STATE    float16 above = 0, line = 0;
#define ENTER(v) float16 slope = above - v, smooth = fma(line, 2.0f, above + v);
#define LEAVE(v) above = line, line = v;
#define BEFORE(v) CAT(AT_m, CH)(v)
#define BEHIND(v) CAT(AT_, CH)(v)
#define DX       (BEHIND(smooth) - BEFORE(smooth))
#define DY       fma(AT_0(slope), 2.0f, BEFORE(slope) + BEHIND(slope))

/* Gradients divided by 8, rounded down: subtracting 7/16 puts every eighth at least 1/16 away from a tie. */
inline float4 FN(eighths)(float4 g)
{
    return fma(g, 0.125f, -0.4375f) + RESULTS;
}

/* The first plane's result. With `lift` a magnitude's root needs no correction: see sobel_packed.cl. */
inline float4 FN(result)(float4 dx, float4 dy NUMBERS)
{
#pragma kernel dx both
    return FN(eighths)(dx);
#pragma kernel dy
    return FN(eighths)(dy);
#pragma kernel sample
    /* rounded down: half is added to the sum of squares, so that no root minus 1/2 lies near a tie */
    float4 a = floor(dx * 0.125f), b = floor(dy * 0.125f), n = fma(a, a, fma(b, b, 0.5f));
    return fma(n, rsqrt(n), -0.5f) + ROUNDER;
#pragma kernel l1
    float4 m = fma(fabs(dx) + fabs(dy), scale, lift) + ROUNDER;
#pragma kernel magnitude
    float4 n = fma(dx, dx, fma(dy, dy, lift)), m = fma(n * rsqrt(n), scale, ROUNDER);
#pragma kernel l1 magnitude
#ifdef LIMITED
    m = fmin(m, ROUNDER + 255.0f);
#endif
    return m;
#pragma kernel
}
#define RESULT BYTES(FN(result)(DX, DY GIVEN))
#define SECOND BYTES(FN(eighths)(DY))
#include "columns.cl"
