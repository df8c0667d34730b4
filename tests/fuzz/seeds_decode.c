/* Writes the small files of tests/codec, whole and cut in half, into a directory for each format
 * below DIRECTORY: what the targets of the decoders start from. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "../codec/files.h"
#include "codec/codec.h"

static void write_seed(const char *directory, const char *codec, const char *kind, const char *name,
                       const uint8_t *data, size_t size)
{
    char path[4096];
    snprintf(path, sizeof path, "%s/%s", directory, codec);
    if (mkdir(path, 0777) == 0 || errno == EEXIST)
        snprintf(path, sizeof path, "%s/%s/%s%s", directory, codec, kind, name);
    FILE *file = fopen(path, "wb");
    if (!file || fwrite(data, 1, size, file) != size || fclose(file) != 0) {
        perror(path);
        exit(1);
    }
}

#define PLANE(rest)                                                                                \
    "{\"name\":\"image\",\"width\":3,\"height\":2,\"channels\":1,\"type\":\"u8\","                 \
    "\"zero_x\":0,\"zero_y\":0" rest "}"

/* Archives whose meta.json is nearly right. */
static void write_npz(const char *directory)
{
    static const char *const metas[] = {
        "{\"version\":1,\"planes\":[" PLANE("") "],\"origins\":[]}",
        "{\"version\":1,\"planes\":[" PLANE(
            ",\"more\":null") "],\"origins\":[{\"stage\":\"dwt\",\"parameters\":\":wavelet=haar\","
                              "\"first\":0,\"count\":1,\"plane\":" PLANE("") "}]}",
        "{\"version\":2}",
        "{\"version\":1,\"planes\":[]}",
        "[1e400, \"\\u0000\", -0, {}]",
    };
    for (size_t i = 0; i < sizeof metas / sizeof *metas; i++) {
        struct file array = {0}, file = {0};
        char name[32];
        make_npy(&array, 1, "{'descr': '|u1', 'fortran_order': False, 'shape': (2, 3), }", "abcdef",
                 6);
        const struct zip_part parts[] = {{"image.npy", array.data, array.size},
                                         {"meta.json", metas[i], strlen(metas[i])}};
        make_zip(&file, parts, 2, i % 2, i % 3 == 2);
        snprintf(name, sizeof name, "meta-%zu.npz", i);
        write_seed(directory, "npz", "", name, file.data, file.size);
        file_finish(&array);
        file_finish(&file);
    }
}

static void write_raw(const char *directory)
{
    for (unsigned layout = 0; layout < RAW_YUYV; layout++) {
        struct file file = {0};
        char name[16];
        file_put_u8(&file, layout);
        file_put_u8(&file, 3);
        file_put_u8(&file, 1);
        file_put_u8(&file, layout % 2 ? 65 : 0);
        file_put_zeros(&file, 4096);
        snprintf(name, sizeof name, "%u", layout);
        write_seed(directory, "raw", "", name, file.data, file.size);
        file_finish(&file);
    }
}

#ifdef SLUICE_TIFF
static void write_tiff(const char *directory)
{
    struct file file = {0};
    make_tiff(&file, &(struct tiff_kind){4, 3, 1, 8, .photometric = 1, .pages = 3});
    write_seed(directory, "tiff", "", "pages.tif", file.data, file.size);
    file_finish(&file);
}
#endif

int main(int argc, char **argv)
{
    if (argc != 2 || (mkdir(argv[1], 0777) != 0 && errno != EEXIST)) {
        fprintf(stderr, "usage: seeds_decode DIRECTORY\n");
        return 1;
    }
    for (const struct sample_file *s = sample_files; s->name; s++) {
        struct file file = {0};
        s->make(&file, s->variant);
        const struct codec *codec = codec_find(file.data, file.size);
        write_seed(argv[1], codec->name, "", s->name, file.data, file.size);
        write_seed(argv[1], codec->name, "cut-", s->name, file.data, file.size / 2);
        file_finish(&file);
    }
    write_npz(argv[1]);
    write_raw(argv[1]);
#ifdef SLUICE_TIFF
    write_tiff(argv[1]);
#endif
    return 0;
}
