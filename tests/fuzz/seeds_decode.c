/* Writes the small files of tests/codec, whole and cut in half, into a directory: where fuzz_decode
 * starts from. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "../codec/files.h"

static void write_seed(const char *directory, const char *name, const char *kind,
                       const uint8_t *data, size_t size)
{
    char path[4096];
    snprintf(path, sizeof path, "%s/%s%s", directory, kind, name);
    FILE *file = fopen(path, "wb");
    if (!file || fwrite(data, 1, size, file) != size || fclose(file) != 0) {
        perror(path);
        exit(1);
    }
}

int main(int argc, char **argv)
{
    if (argc != 2 || (mkdir(argv[1], 0777) != 0 && errno != EEXIST)) {
        fprintf(stderr, "usage: seeds_decode DIRECTORY\n");
        return 1;
    }
    for (const struct sample_file *s = sample_files; s->name; s++) {
        struct file file = {0};
        s->make(&file, s->variant);
        write_seed(argv[1], s->name, "", file.data, file.size);
        write_seed(argv[1], s->name, "cut-", file.data, file.size / 2);
        file_finish(&file);
    }
    write_seed(argv[1], "empty", "", (const uint8_t *)"", 0);
    return 0;
}
