#include "stage/morph/dilate.h"

MORPH_STAGE(dilate, "light grows: the largest of the samples around each", MORPH_LARGEST, 1);
