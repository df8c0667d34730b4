#include "device/process.h"

#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

static char temporary[3000];

void process_prepare_drivers(void)
{
    setenv("POCL_SIGFPE_HANDLER", "0", 0);
    setenv("RUSTICL_ENABLE", "panfrost", 0);
}

void process_keep_kernels(const char *cache_directory)
{
    char path[4096];
    snprintf(path, sizeof path, "%s/pocl", cache_directory);
    setenv("POCL_CACHE_DIR", path, 0);
}

static int remove_one(const char *path, const struct stat *status, int type, struct FTW *at)
{
    remove(path);
    return 0; /* what cannot be removed keeps nothing else */
}

static void remove_temporary(void)
{
    nftw(temporary, remove_one, 16, FTW_DEPTH | FTW_PHYS | FTW_MOUNT);
}

void process_make_temporary(char *path, size_t size)
{
    const char *below = getenv("TMPDIR");
    path[0] = '\0';
    snprintf(temporary, sizeof temporary, "%.2000s/sluice-XXXXXX",
             below && below[0] == '/' ? below : "/tmp");
    if (strlen(temporary) >= size || !mkdtemp(temporary))
        return;
    strcpy(path, temporary);
    atexit(remove_temporary);
}
