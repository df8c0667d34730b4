/* toyerode: the least of the nine samples of a cross. */
#include "numbers.cl"
#define ALL(AT)     LEAST(LEAST(LEAST(LEAST(AT(-2), AT(-1)), AT(0)), AT(1)), AT(2))
#define LINE(j, AT) ((j) == 2 ? ALL(AT) : AT(0))
#define JOIN(a, b)  LEAST(a, b)
#define VALUE       first
#include "window.cl"
