/* A plain main for a fuzz target: replays files, and all files of directories, given as arguments.
 * Each input lies in a buffer of exactly its size. */
#include <dirent.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerInitialize(int *argc, char ***argv) __attribute__((weak));

static int replay_file(const char *path, size_t size)
{
    FILE *file = fopen(path, "rb");
    uint8_t *data = malloc(size ? size : 1);
    if (!file || !data || fread(data, 1, size, file) != size) {
        fprintf(stderr, "cannot read %s\n", path);
        exit(1);
    }
    fclose(file);
    if (size == 0) { /* a sanitizer sees a read of an empty input, too */
        free(data);
        data = NULL;
    }
    LLVMFuzzerTestOneInput(data, size);
    free(data);
    return 1;
}

static int replay(const char *path)
{
    struct stat status;
    struct dirent *entry;
    int count = 0;
    if (stat(path, &status) != 0) {
        perror(path);
        exit(1);
    }
    if (!S_ISDIR(status.st_mode))
        return replay_file(path, (size_t)status.st_size);
    DIR *directory = opendir(path);
    while (directory && (entry = readdir(directory)) != NULL) {
        char *inner;
        if (entry->d_name[0] == '.')
            continue;
        if (asprintf(&inner, "%s/%s", path, entry->d_name) < 0)
            abort();
        count += replay(inner);
        free(inner);
    }
    if (directory)
        closedir(directory);
    return count;
}

int main(int argc, char **argv)
{
    int count = 0;
    if (LLVMFuzzerInitialize)
        LLVMFuzzerInitialize(&argc, &argv);
    for (int i = 1; i < argc; i++)
        count += replay(argv[i]);
    printf("%d inputs\n", count);
    return count == 0; /* no input tries nothing */
}
