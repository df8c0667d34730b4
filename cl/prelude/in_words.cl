/* In the form WORDS stages compute with a vector of bytes as IN_WORDS words, 2 or 4: on GPUs unpacking the bytes
 * costs more than the computation itself. EACH_WORD: bytes out of f(0), f(1) … */
#define AS_WORDS(v) CAT(as_uint, IN_WORDS)(v)
#define AS_BYTES(v) CAT3(as_, DST, LANES)(v)
#define EACH_WORD(f) AS_BYTES(((CAT(uint, IN_WORDS))(CAT(EACH_WORD_, IN_WORDS)(f))))
#define EACH_WORD_2(f) f(0), f(1)
#define EACH_WORD_4(f) f(0), f(1), f(2), f(3)

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
