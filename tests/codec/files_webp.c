#include "files.h"

#include <stdlib.h>

#include <webp/encode.h>
#include <webp/mux.h>

void make_webp(struct file *file, const struct webp_kind *k)
{
    unsigned n = k->alpha ? 4 : 3;
    uint8_t *pixels = malloc((size_t)k->width * k->height * n), *encoded = NULL;
    for (uint32_t y = 0; y < k->height; y++)
        for (uint32_t x = 0; x < k->width; x++)
            for (unsigned c = 0; c < n; c++)
                pixels[((size_t)y * k->width + x) * n + c] = ramp_sample(x, y, c);
    int w = (int)k->width, h = (int)k->height, stride = w * (int)n;
    size_t size = k->lossless ? (k->alpha ? WebPEncodeLosslessRGBA(pixels, w, h, stride, &encoded)
                                          : WebPEncodeLosslessRGB(pixels, w, h, stride, &encoded))
                              : (k->alpha ? WebPEncodeRGBA(pixels, w, h, stride, 95, &encoded)
                                          : WebPEncodeRGB(pixels, w, h, stride, 95, &encoded));
    WebPData data = {encoded, size}, whole = {0};
    if (k->orientation || k->metadata) {
        WebPMux *mux = WebPMuxCreate(&data, 1);
        struct file exif = {0};
        uint8_t profile[PROFILE_SIZE];
        make_exif(&exif, k->orientation ? k->orientation : 1, false, false);
        make_profile(profile);
        WebPMuxSetChunk(mux, "EXIF", &(WebPData){exif.data, exif.size}, 1);
        if (k->metadata) {
            WebPMuxSetChunk(mux, "ICCP", &(WebPData){profile, PROFILE_SIZE}, 1);
            WebPMuxSetChunk(mux, "XMP ", &(WebPData){(const uint8_t *)"<xmp/>", 6}, 1);
        }
        WebPMuxAssemble(mux, &whole);
        file_put(file, whole.bytes, whole.size);
        WebPDataClear(&whole);
        WebPMuxDelete(mux);
        file_finish(&exif);
    } else {
        file_put(file, encoded, size);
    }
    WebPFree(encoded);
    free(pixels);
}
