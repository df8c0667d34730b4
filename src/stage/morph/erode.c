#include "stage/morph/erode.h"

MORPH_STAGE(erode, "dark grows: the least of the samples around each", MORPH_LEAST, 1);
