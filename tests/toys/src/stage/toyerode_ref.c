/* toyerode by its definition. */
#include <math.h>

#include "stage/toyerode.h"

float toyerode_value(const float *v)
{
    float least = INFINITY;
    for (int k = 0; k < 25; k++)
        if (k % 5 == 2 || k / 5 == 2)
            least = fminf(least, v[k]);
    return least;
}
