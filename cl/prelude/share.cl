/* rne(v * most / white), exactly, of v clamped to 0…white, for `most` below 2^16; NaN gives 0. Without doubles, an
 * estimate r that is at most one off is corrected by the signs of v * most - (r ± 1/2) * white; each product is
 * computed in two parts, so that the signs are exact. */
inline float share_of(float v, float most, float white)
{
    v = fmin(fmax(v, 0.0f), white);
#ifdef NATIVE
    return (float)rint((double)v * (double)most / (double)white);
#else
    float r = rint(v * (most / white)), odd = (int)r & 1 ? 1.0f : 0.0f;
    float product = v * most, rest = fma(v, most, -product);
    float above = (r + 0.5f) * white, below = (r - 0.5f) * white;
    float beyond = (product - above) + (rest - fma(r + 0.5f, white, -above));
    float short_of = (product - below) + (rest - fma(r - 0.5f, white, -below));
    r = beyond > 0.0f || (beyond == 0.0f && odd > 0.0f) ? r + 1.0f : r;
    return short_of < 0.0f || (short_of == 0.0f && odd > 0.0f) ? r - 1.0f : r;
#endif
}
