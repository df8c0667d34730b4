/* The best of windows along a row of bytes, in words. In front of it stand cl/bytes.cl and
 *
 *     WORDS_OF_ROW, NEXT(t)   the words of a row that a work-item sees, as one vector, and all of them one word further
 *     BETTER(t, v)            of such
 *     FRONT                   samples in front of its own
 *     LEFT, RIGHT             pixels in front of each and behind it in its window
 *
 * The best of 1, 2, 4 … pixels from each on come first, and two of such make a window. Words that no result needs are not
 * computed: the compiler sees that. */
INLINED WORDS_OF_ROW FN(further)(WORDS_OF_ROW t, int samples)
{
    int words = samples / 4; /* no loop: NVIDIA's compiler would unroll it too late to see which words no result needs */
    t = words & 1 ? NEXT(t) : t;
    t = words & 2 ? NEXT(NEXT(t)) : t;
    t = words & 4 ? NEXT(NEXT(NEXT(NEXT(t)))) : t;
    return samples % 4 == 0 ? t : BEHIND(t, NEXT(t), 8 * (samples % 4));
}

/* Behind the first of its own words. */
INLINED WORDS_OF_ROW FN(along)(WORDS_OF_ROW t)
{
    const int window = (LEFT + 1 + RIGHT) * CH, begin = FRONT - LEFT * CH;
    int seen = CH;
    UNROLLED for (; 2 * seen <= window; seen *= 2)
        t = BETTER(t, FN(further)(t, seen));
    WORDS_OF_ROW first = FN(further)(t, begin), last = FN(further)(t, begin + window - seen);
    return seen < window ? BETTER(first, last) : first;
}
