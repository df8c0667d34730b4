/* Writes pairs of meta.json and array into a directory: where fuzz_npz starts from. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "../codec/files.h"

#define PLANE(name, rest)                                                                          \
    "{\"name\":\"" name "\",\"width\":3,\"height\":2,\"channels\":1,\"type\":\"u8\","              \
    "\"zero_x\":0,\"zero_y\":0" rest "}"

static const char *const metas[] = {
    "",
    "{\"version\":1,\"planes\":[" PLANE("", "") "],\"origins\":[]}",
    "{\"version\":1,\"planes\":[" PLANE(
        "image", ",\"more\":null") "],\"origins\":[{\"stage\":"
                                   "\"dwt\",\"parameters\":\":wavelet=haar\",\"first\":0,\"count\":"
                                   "1,\"plane\":" PLANE("", "") "}]}",
    "{\"version\":2}",
    "{\"version\":1,\"planes\":[]}",
    "{\"version\":1,\"planes\":[" PLANE("../x", "") "]}",
    "[1e400, \"\\u0000\", -0, {}]",
};

int main(int argc, char **argv)
{
    static const char dictionary[] = "{'descr': '|u1', 'fortran_order': False, 'shape': (2, 3), }";
    if (argc != 2 || (mkdir(argv[1], 0777) != 0 && errno != EEXIST)) {
        fprintf(stderr, "usage: seeds_npz DIRECTORY\n");
        return 1;
    }
    for (size_t i = 0; i < sizeof metas / sizeof *metas; i++) {
        struct file seed = {0};
        char path[4096];
        file_put_text(&seed, metas[i]);
        file_put_u8(&seed, 0xFF);
        make_npy(&seed, 1, dictionary, "abcdef", 6);
        snprintf(path, sizeof path, "%s/%zu", argv[1], i);
        FILE *file = fopen(path, "wb");
        if (!file || fwrite(seed.data, 1, seed.size, file) != seed.size || fclose(file) != 0) {
            perror(path);
            return 1;
        }
        file_finish(&seed);
    }
    return 0;
}
