/* What no fuzzer gets past a CRC: the bytes up to the first 0xFF as meta.json, those behind it as
 * an array, in an archive that is whole. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "../codec/files.h"
#include "codec/codec.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define FRAME_MAX (16u << 20)

static void decode(const struct file *file)
{
    static const struct codec_limits limits = {.max_pixels = 1 << 18, .memory = 64 << 20};
    struct decode_options options = {.orient = true};
    struct decoder decoder;
    struct picture picture;
    struct fault fault = FAULT_INIT;
    if (decoder_open(&decoder, file->data, file->size, &options, &limits, &fault) != 0) {
        if (fault.code == FAULT_NONE || fault.text[0] == '\0')
            abort(); /* a failure says why */
        return;
    }
    for (size_t i = 0; i < decoder.frame.n_origins; i++)
        if (decoder.frame.origins[i].first + decoder.frame.origins[i].count >
            decoder.frame.n_planes)
            abort();
    if (decoder.frame.size <= FRAME_MAX && picture_create(&picture, &decoder.frame)) {
        decoder_read(&decoder, &picture, &fault);
        picture_destroy(&picture);
    }
    decoder_close(&decoder);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const uint8_t none[1];
    if (size == 0)
        return 0;
    const uint8_t *mark = memchr(data, 0xFF, size);
    size_t meta = mark ? (size_t)(mark - data) : size, array = mark ? size - meta - 1 : 0;
    const struct zip_part parts[] = {{"image.npy", array ? mark + 1 : none, array},
                                     {"meta.json", data, meta}};
    struct file file = {0};
    make_zip(&file, parts, meta ? 2 : 1, false, false);
    decode(&file);
    file_finish(&file);
    return 0;
}
