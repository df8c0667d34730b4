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
