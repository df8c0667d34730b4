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
#define EIGHTHS(g) (fma(g, 0.125f, -0.4375f) + RESULTS)
#ifdef LIMITED
#define LIMITED_TO_255(m) fmin(m, ROUNDER + 255.0f)
#else
#define LIMITED_TO_255(m) (m)
#endif
#if defined(OUT_magnitude)
/* With `lift` the root needs no correction: see sobel_packed.cl. */
inline float4 FN(result)(float4 dx, float4 dy, float scale, float lift)
{
    float4 n = fma(dx, dx, fma(dy, dy, lift));
    return fma(n * rsqrt(n), scale, ROUNDER);
}
#define RESULT BYTES(LIMITED_TO_255(FN(result)(DX, DY, scale, lift)))
#elif defined(OUT_l1)
#define RESULT BYTES(LIMITED_TO_255(fma(fabs(DX) + fabs(DY), scale, lift) + ROUNDER))
#elif defined(OUT_sample)
/* The root rounded down: half is added to the sum of squares, so that no root minus 1/2 lies near a tie. */
inline float4 FN(result)(float4 dx, float4 dy)
{
    float4 a = floor(dx * 0.125f), b = floor(dy * 0.125f), n = fma(a, a, fma(b, b, 0.5f));
    return fma(n, rsqrt(n), -0.5f) + ROUNDER;
}
#define RESULT BYTES(FN(result)(DX, DY))
#elif defined(OUT_dy)
#define RESULT BYTES(EIGHTHS(DY))
#else
#define RESULT BYTES(EIGHTHS(DX))
#endif
#define SECOND BYTES(EIGHTHS(DY))
#include "columns.cl"
