/* Tests shared by erode, dilate, open and close, whose parameters, sizes and errors are the same.
 * */
#ifndef SLUICE_TESTS_STAGE_SHAPES_H
#define SLUICE_TESTS_STAGE_SHAPES_H

#include "vectors.h"

/* Runs the group for the stage named `name` with its own vectors. Returns the program's exit
 * status. */
int shapes_main(int argc, char **argv, const char *name, const struct vector *vectors,
                size_t n_vectors);

#endif
