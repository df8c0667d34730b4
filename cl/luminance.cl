/* One luminance sample from each pixel of CH channels: 3, or 4 with alpha, which is dropped; of grey
 * (CH 1 or 2) a copy. The grid counts pixels. Integers: (r*R + g*G + b*B + 32768) >> 16 with weights that sum to 65536, which
 * fits 32 bits for 16-bit samples too. */
#if CH < 3
#define WEIGHT_PARAMETERS
#elif defined(SRC_IS_float)
#define WORK   float
#define WEIGHT float
#define MIX(r, g, b) ((r) * red + (g) * green + (b) * blue)
#else
#define WORK   uint
#define WEIGHT uint
#define MIX(r, g, b) (((r) * red + (g) * green + (b) * blue + 32768u) >> 16)
#endif
#if CH > 2
#define WEIGHT_PARAMETERS , WEIGHT red, WEIGHT green, WEIGHT blue
#endif

ENTRY void KERNEL(GRID, PLANE_IN(SRC, src), PLANE_OUT(OUT, dst) WEIGHT_PARAMETERS THEN_PARAMETERS)
{
    int y = GRID_Y;
    int x = SPAN_BEGIN;
    if (y >= grid_y_end || x >= grid_width)
        return;
    __global const SRC *in = ROW(src, y);
    __global OUT *out = ROW(dst, y);
#ifdef FORM_VECTOR
    /* Four pixels from three vectors of four samples (CH 3) or four (CH 4). */
    if (x + SPAN <= grid_width) {
        __global const CAT(SRC, 4) *at = (__global const CAT(SRC, 4) *)(in + x * CH);
        __global CAT(OUT, 4) *to = (__global CAT(OUT, 4) *)(out + x);
        for (int i = 0; i < SPAN / 4; i++) {
            CAT(SRC, 4) a = at[i * CH], b = at[i * CH + 1], c = at[i * CH + 2];
#if CH == 3
            CAT(SRC, 4) r = (CAT(SRC, 4))(a.s0, a.s3, b.s2, c.s1);
            CAT(SRC, 4) g = (CAT(SRC, 4))(a.s1, b.s0, b.s3, c.s2);
            CAT(SRC, 4) l = (CAT(SRC, 4))(a.s2, b.s1, c.s0, c.s3);
#else
            CAT(SRC, 4) d = at[i * CH + 3];
            CAT(SRC, 4) r = (CAT(SRC, 4))(a.s0, b.s0, c.s0, d.s0);
            CAT(SRC, 4) g = (CAT(SRC, 4))(a.s1, b.s1, c.s1, d.s1);
            CAT(SRC, 4) l = (CAT(SRC, 4))(a.s2, b.s2, c.s2, d.s2);
#endif
            CAT(DST, 4) v = CAT3(convert_, DST, 4)(MIX(CAT3(convert_, WORK, 4)(r),
                                                       CAT3(convert_, WORK, 4)(g),
                                                       CAT3(convert_, WORK, 4)(l)));
            to[i] = THEN(v);
        }
        return;
    }
#endif
    for (int end = SPAN_END(x); x < end; x++)
#if CH < 3
        out[x] = THEN_ONE(in[CH * x]);
#else
        out[x] = THEN_ONE((DST)MIX((WORK)in[CH * x], (WORK)in[CH * x + 1], (WORK)in[CH * x + 2]));
#endif
}
