#include "stage/morph/open.h"

MORPH_STAGE(open, "light specks taken away: erode, then dilate", MORPH_LEAST, 2);
