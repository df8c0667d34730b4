/* Definitions for all kernel templates. Each program begins with this text.
 *
 * A template is compiled under definitions that its pass makes (src/stage/pass.h):
 *
 *     KERNEL            the kernel's name, unique in the program
 *     FN(name)          makes a function's name unique; for helpers that depend on definitions
 *     KERNEL_part       selects one kernel of a file that has several
 *     FORM_ROWS, FORM_VECTOR or FORM_SCALAR, and SPAN: the positions in x of one work-item
 *                       (the scalar form is the rows form with a span of one)
 *     LANES             samples in a V(uchar). In the vector form SPAN. Otherwise empty, so that V(uchar) is
 *                       uchar, or the pass's choice (16 for rows code that is written in vectors)
 *     FIRST(v)          the first of them
 *     ALPHA             channels of a pixel that ends in alpha, which is copied; else 0
 *     SRC, DST          OpenCL types of the source's and the result's samples, with SRC_IS_uchar and the like
 *
 *     OUT, THEN(v)      the type and the value that is stored for a result v of V(DST): DST and v itself, or,
 *                       where per-pixel stages are fused behind this one (src/chain/fuse_pixels.c), their
 *                       result. THEN_PARAMETERS are their parameters. THEN_WORD(w) does the same for four
 *                       bytes in a word
 *
 * Macros that a template defines are undefined behind it. A kernel's arguments are GRID, then the pass's
 * arguments in order; a plane is three of them. Offsets, strides and indices count samples and fit an int:
 * planning refuses larger planes.
 *
 * Rules: f32 arithmetic is computed as written (no contraction, no relaxed maths). There is no double literal.
 * Local memory and barriers are used only if the profile has such memory (on Mali it is main memory, and costs
 * more than it saves). In min, max and clamp of integers either all arguments are vectors or none is: with a
 * scalar among them Oclgrind computes wrong lanes (tests/opencl/oclgrind_min.cl). */
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

/* Of kernels for CPUs. Without the first attribute LLVM uses two instructions for each operation on 512 bits. On native,
 * functions that are CALLED are not compiled into each kernel that calls them. */
#ifdef __AVX512BW__
#define VECTORS_OF_512_BITS __attribute__((min_vector_width(512)))
#else
#define VECTORS_OF_512_BITS
#endif
#ifdef NATIVE
#define CALLED __attribute__((noinline))
#else
#define CALLED
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
