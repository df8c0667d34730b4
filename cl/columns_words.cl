/* Arithmetic on 8-bit samples in floats, for GPUs with few registers and without fast local memory (Mali): exact, because
 * every sum is an integer below 2^24. (Mesa's compiler for Mali splits vectors of 16-bit integers, and a mask or a shift
 * costs as much as four additions there.) For cl/columns.cl, between which and this file a stage says what it computes.
 *
 * A line is a float16 whose lanes 4 to 7 are the work-item's own samples: AT_0. AT_1 are those one sample to the
 * right. Neighbours are CH samples apart. */
#include <edge.cl>
#include <luma.cl>
#include <memory.cl>
#include <words.cl>

#define AT_m4(v) (v).s0123
#define AT_m3(v) (v).s1234
#define AT_m2(v) (v).s2345
#define AT_m1(v) (v).s3456
#define AT_0(v)  (v).s4567
#define AT_1(v)  (v).s5678
#define AT_2(v)  (v).s6789
#define AT_3(v)  (v).s789a
#define AT_4(v)  (v).s89ab

inline float4 FN(samples)(uint w)
{
    return (float4)((float)SAMPLE_OF(SRC, w, 0), (float)SAMPLE_OF(SRC, w, 1), (float)SAMPLE_OF(SRC, w, 2),
                    (float)SAMPLE_OF(SRC, w, 3));
}

inline float16 FN(line_of)(uint4 w)
{
    return (float16)(FN(samples)(w.x), FN(samples)(w.y), FN(samples)(w.z), (float4)(0.0f));
}

/* RESULTS is added to results to put them into the lowest bits of floats, and BYTES packs those (see four_of).
 * Negative numbers would borrow from the byte above, so signed results have 128 added until they are packed. */
#ifdef DST_IS_uchar
#define RESULTS    ROUNDER
#define BYTES(m)   four_of(m)
#else
#define RESULTS    (ROUNDER + 128.0f)
#define BYTES(m)   (four_of(m) ^ (ushort)0x8080)
#endif
