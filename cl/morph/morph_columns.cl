/* erode and dilate of bytes in small windows, in floats down columns: s0, s1 … are the best so far of rows whose windows
 * contain the current line, s0 of the lowest one, for which it is the first line. ACROSS is the line's best along the
 * row, and DOWNS, D(j), adds it to row j. */
#include "columns_words.cl"
#ifdef TAKE_LEAST
#define BETTER fmin
#else
#define BETTER fmax
#endif
#define STATE    float4 s0, s1 = 0, s2 = 0, s3 = 0, s4 = 0, s5 = 0, s6 = 0;
#define D(j)     s##j = BETTER(s##j, s0);
#define ENTER(v) s0 = ACROSS; DOWNS
#define LEAVE(v) s6 = s5, s5 = s4, s4 = s3, s3 = s2, s2 = s1, s1 = s0;
#define RESULT   BYTES(CAT(s, LAST) + RESULTS)
#include "columns.cl"
