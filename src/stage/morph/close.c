#include "stage/morph/close.h"

MORPH_STAGE(close, "dark specks and gaps taken away: dilate, then erode", MORPH_LARGEST, 2);
