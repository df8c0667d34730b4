/* A guest in its process leaves it as it is. Its header tells programs what drivers want. */
#include "device/process.h"

void process_prepare_drivers(void)
{
}

void process_keep_kernels(const char *cache_directory)
{
}

void process_make_temporary(char *path, size_t size)
{
    path[0] = '\0';
}
