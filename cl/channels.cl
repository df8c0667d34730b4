/* Channel c of four pixels of three channels in three words, and these words from those of the channels. */
inline uint FN(channel_of)(uint v, uint w, uint x, int c)
{
    return c == 0   ? permute(permute(v, w, 0x0630u), x, 0x5210u)
           : c == 1 ? permute(permute(v, w, 0x0741u), x, 0x6210u)
                    : permute(permute(v, w, 0x0052u), x, 0x7410u);
}

inline uint3 FN(interleaved)(uint3 v)
{
    if (CH == 1)
        return v;
    return (uint3)(permute(permute(v.s0, v.s1, 0x1040u), v.s2, 0x3410u),
                   permute(permute(v.s1, v.s0, 0x2601u), v.s2, 0x3250u),
                   permute(permute(v.s0, v.s1, 0x0730u), v.s2, 0x7216u));
}
