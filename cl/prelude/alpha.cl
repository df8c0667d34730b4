/* Copies the alpha samples of vector `a` of n lanes, which begins with a pixel of `ch` channels, 2 or 4, to vector `v`. */
#define TAKE_ALPHA_4_2(v, a)  (v).s13 = (a).s13
#define TAKE_ALPHA_4_4(v, a)  (v).s3 = (a).s3
#define TAKE_ALPHA_8_2(v, a)  (v).s1357 = (a).s1357
#define TAKE_ALPHA_8_4(v, a)  (v).s37 = (a).s37
#define TAKE_ALPHA_16_2(v, a) (v).s13579bdf = (a).s13579bdf
#define TAKE_ALPHA_16_4(v, a) (v).s37bf = (a).s37bf
#define TAKE_ALPHA(n, ch, v, a) CAT4(TAKE_ALPHA_, n, _, ch)(v, a)
