/* What every kernel may use; each program begins with this text. docs/kernels.md says what a pass defines in front of a
 * kernel, and which rules kernels keep. */
#pragma OPENCL FP_CONTRACT OFF

/* NVIDIA's compiler accepts inline PTX. */
#if defined(__NV_CL_C_VERSION) || defined(cl_nv_compiler_options)
#define HAS_PTX
#endif

#define CAT_(a, b)     a##b
#define CAT(a, b)      CAT_(a, b)
#define CAT3_(a, b, c) a##b##c
#define CAT3(a, b, c)  CAT3_(a, b, c)
#define CAT4_(a, b, c, d) a##b##c##d
#define CAT4(a, b, c, d)  CAT4_(a, b, c, d)

/* In front of a loop over an array: elements lie in registers only if the compiler sees every index. On a CPU, which has
 * kernels for GPUs in tests alone, such code would compile too slowly: UNROLLED_ON_GPUS. */
#if defined(__clang__) || defined(HAS_PTX) /* others need not have _Pragma */
#define UNROLLED _Pragma("unroll")
#define ROLLED   _Pragma("unroll 1") /* seldom executed, so its code should be small */
#else
#define UNROLLED
#define ROLLED
#endif
#define INLINED __attribute__((always_inline)) inline /* a function that is given arrays */
#if defined(__x86_64__) || defined(__aarch64__)
#define UNROLLED_ON_GPUS _Pragma("nounroll")
#else
#define UNROLLED_ON_GPUS UNROLLED
#endif

/* A type of LANES lanes, and the conversion to it. */
#define V(type)          CAT(type, LANES)
#define CONVERT(type, v) CAT3(convert_, type, LANES)(v)

/* Of one sample, computed by functions of LANES lanes. */
#define THEN_ONE(v) FIRST(THEN((V(DST))(v)))

/* In interleaved pixels of `ch` channels, 2 or 4: whether sample x is alpha. With 0 none is. */
#define IS_ALPHA(ch, x) ((ch) && ((x) & ((ch) - 1)) == (ch) - 1)

/* The part of the grid that this launch covers: x from 0 to grid_width, y from begin to end. On native a call also
 * says where its span begins, and of how many lines the source is a ring. */
#ifdef NATIVE
#define GRID int grid_width, int grid_y_begin, int grid_y_end, int grid_x, int grid_ring
#else
#define GRID int grid_width, int grid_y_begin, int grid_y_end
#endif

#define PLANE_IN(type, p)  __global const type *restrict p##_base, int p##_offset, int p##_stride
#define PLANE_OUT(type, p) __global type *restrict p##_base, int p##_offset, int p##_stride
#define ROW(p, y)          (p##_base + p##_offset + (y) * p##_stride)
/* Sample x of it as the base plus one sum of 32 bits, which the access itself adds. */
#define PLACE(p, x, y)     (p##_base + (uint)(p##_offset + (y) * p##_stride + (x)))

/* This work-item's row; where its span begins and ends in x. RING: 0 if the source is a plane; n if it is a ring
 * of n lines, in which row y is line y modulo n (src/device/native/rows.c). */
#ifdef NATIVE
#define GRID_Y      grid_y_begin
#define SPAN_BEGIN  grid_x
#define RING        grid_ring
#else
#define GRID_Y      (grid_y_begin + (int)get_global_id(1))
#define SPAN_BEGIN  ((int)get_global_id(0) * SPAN)
#define RING        0
#endif
#define SPAN_END(b) min((b) + SPAN, grid_width)

/* A kernel ends here for a position that is not in the grid: a device may start more work-items than that. POSITION
 * declares the work-item's. */
#define IN_GRID(x, y)                                                                              \
    if ((y) >= grid_y_end || (x) >= grid_width)                                                    \
        return;
#define POSITION(x, y)                                                                             \
    int y = GRID_Y, x = SPAN_BEGIN;                                                                \
    IN_GRID(x, y)
