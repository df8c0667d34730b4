/* Where IN_WORDS is defined, stages compute with a vector of bytes as so many words: on GPUs unpacking the bytes
 * costs more than the computation itself. */
#define AS_WORDS(v) CAT(as_uint, IN_WORDS)(v)
#define AS_BYTES(v) CAT3(as_, DST, LANES)(v)

/* Returns w, but hides from the compiler where it came from: NVIDIA's otherwise splits the access to a vector of
 * words that is used as a vector of bytes into four or sixteen accesses. */
inline uint hidden(uint w)
{
#ifdef HAS_PTX
    __asm__("mov.b32 %0, %0;" : "+r"(w));
#endif
    return w;
}

inline uint2 hidden_2(uint2 w)
{
    return (uint2)(hidden(w.s0), hidden(w.s1));
}

inline uint4 hidden_4(uint4 w)
{
    return (uint4)(hidden(w.s0), hidden(w.s1), hidden(w.s2), hidden(w.s3));
}
#define HIDDEN(w) CAT(hidden_, IN_WORDS)(w)
