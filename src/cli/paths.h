/* Paths of results. */
#ifndef SLUICE_CLI_PATHS_H
#define SLUICE_CLI_PATHS_H

#include <stdbool.h>

/* A result's path with a number and a plane: "sub/out.png", 2, "dx" → "sub/out-2.dx.png"; 0 and ""
 * add nothing. The caller frees it. */
char *paths_result(const char *path, unsigned number, const char *plane);

/* True for an existing directory, and for a path that ends in a slash. */
bool paths_is_directory(const char *path);

/* True when both exist and are the same file. */
bool paths_same_file(const char *a, const char *b);

#endif
