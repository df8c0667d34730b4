/* Where results go. */
#ifndef SLUICE_CLI_PATHS_H
#define SLUICE_CLI_PATHS_H

#include <stdbool.h>

/* The path of a result under a number and of a plane: "sub/out.png", 2, "dx" →
 * "sub/out-2.dx.png"; 0 and "": as it is. The caller frees it. */
char *paths_result(const char *path, unsigned number, const char *plane);

/* True for one that is there, and for what ends in a slash. */
bool paths_is_directory(const char *path);

/* True when both are there, and the same. */
bool paths_same_file(const char *a, const char *b);

#endif
