/* Where results go: run and submit alike. */
#ifndef SLUICE_CLI_PATHS_H
#define SLUICE_CLI_PATHS_H

#include <stdbool.h>

/* "out.png" and plane "dx": "out.dx.png"; plane "": as it is. The caller frees it. */
char *paths_plane(const char *path, const char *plane);

/* True for one that is there, and for what ends in a slash. */
bool paths_is_directory(const char *path);

/* Where an input's result goes: `out` itself, or in the directory `out` under the input's name. The
 * caller frees it. */
char *paths_output(const char *out, const char *input, const char *extension);

/* True when both are there, and the same. */
bool paths_same_file(const char *a, const char *b);

#endif
