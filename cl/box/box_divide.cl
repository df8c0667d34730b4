/* In front of box's kernels for tiles: DIVIDE(t), the quotient of a sum that includes half of the area, by the numbers that
 * the pass gives (src/stage/box/box_divide.h). With DIVIDE_BYTE it is the highest byte of what comes out. */
#include <quotient.cl>
#if defined(DIVIDE_BYTE)
#define DIVIDE(t) ((t) * multiplier)
#elif defined(DROP)
#define DIVIDE(t) (mul_hi(t, multiplier) >> DROP)
#elif defined(DIVIDE_HIGH)
#define DIVIDE(t) (mul_hi(t, multiplier) >> drop)
#else
#define DIVIDE(t) floor_quotient_uint(t, area, factor)
#endif
