/* Copies the alpha samples of vector `a`, which begins with a pixel of `ch` channels, 2 or 4, to vector `v`. With 0 nothing
 * is done. */
#define TAKE_ALPHA(ch, v, a) CAT(TAKE_ALPHA_, ch)(v, a)
#define TAKE_ALPHA_0(v, a)
#define TAKE_ALPHA_2(v, a)   (v).odd = (a).odd
#define TAKE_ALPHA_4(v, a)   (v).odd.odd = (a).odd.odd
