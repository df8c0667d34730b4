/* Access to a vector at an address that is aligned to its samples only. vload16 and vstore16 would mean the same,
 * but PoCL 3.1 compiles them to four loads and sixteen stores; and Mesa, for Mali, compiles a vload4 to four
 * loads, but an access by such a type to one. */
#define UNALIGNED(type, n) CAT4(unaligned_, type, _, n)
#define UNALIGNED_IN(type, n, p)  (*(__global const UNALIGNED(type, n) *)(p))
#define UNALIGNED_OUT(type, n, p) (*(__global UNALIGNED(type, n) *)(p))
typedef uchar16 __attribute__((aligned(1))) UNALIGNED(uchar, 16);
typedef char16 __attribute__((aligned(1))) UNALIGNED(char, 16);
typedef ushort16 __attribute__((aligned(2))) UNALIGNED(ushort, 16);
typedef short16 __attribute__((aligned(2))) UNALIGNED(short, 16);
typedef int16 __attribute__((aligned(4))) UNALIGNED(int, 16);
typedef uint2 __attribute__((aligned(4))) UNALIGNED(uint, 2);
typedef uint4 __attribute__((aligned(4))) UNALIGNED(uint, 4);
typedef ushort8 __attribute__((aligned(2))) UNALIGNED(ushort, 8);
typedef float16 __attribute__((aligned(4))) UNALIGNED(float, 16);
typedef ulong16 __attribute__((aligned(8))) UNALIGNED(ulong, 16);

/* Sixteen pixels of three channels, out of a vector for each channel: for what Clang compiles, which alone has this. */
#define FIRST_16 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15
#define PIXELS_16(r, g, b)                                                                         \
    __builtin_shufflevector(                                                                       \
        __builtin_shufflevector(r, g, FIRST_16, 16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30, 31),       \
        __builtin_shufflevector(b, b, FIRST_16, FIRST_16), 0, 16, 32, 1, 17, 33, 2, 18, 34, 3, 19, 35, 4, 20, 36, 5, \
        21, 37, 6, 22, 38, 7, 23, 39, 8, 24, 40, 9, 25, 41, 10, 26, 42, 11, 27, 43, 12, 28, 44, 13, 29, 45, 14, 30, 46, 15, 31, 47)
