/* frames CHAIN WIDTH HEIGHT: NV12 frames from stdin through a chain, as grey or RGB PNM on stdout.
 *
 *     cc frames.c $(pkg-config --cflags --libs sluice) -o frames
 *     ffmpeg -i film.mp4 -f rawvideo -pix_fmt nv12 - | ./frames luminance:bt709,sobel 1920 1080 */
#include <sluice/sluice.h>
#include <stdio.h>
#include <stdlib.h>

static void give_up(const struct sluice_error *error, const char *chain)
{
    char text[1000];
    sluice_error_print(error, chain, text, sizeof text);
    fprintf(stderr, "frames: %s\n", text);
    exit(1);
}

int main(int argc, char **argv)
{
    struct sluice_error error = SLUICE_INIT(error);
    struct sluice_device *device;
    struct sluice_chain *chain;
    struct sluice_plan *plan;
    struct sluice_memory *in, *out;
    if (argc != 4) {
        fprintf(stderr, "usage: frames CHAIN WIDTH HEIGHT\n");
        return 64;
    }

    /* What comes in: HD video of cameras and files is BT.709, limited range. */
    struct sluice_layout from = SLUICE_INIT(from);
    from.format = SLUICE_NV12;
    from.width = (uint32_t)atoi(argv[2]);
    from.height = (uint32_t)atoi(argv[3]);
    from.matrix = SLUICE_BT709;
    from.range = SLUICE_LIMITED;
    size_t in_bytes = sluice_layout_fill(&from, 1);

    if (sluice_device_open(&device, NULL, &error) != 0 ||
        sluice_chain_parse(&chain, argv[1], NULL, &error, 1) != 0)
        give_up(&error, argv[1]);

    /* What comes out: a file of PNM has packed rows. */
    struct sluice_plane plane;
    struct sluice_layout to = SLUICE_INIT(to);
    to.planes = &plane;
    to.n_planes = 1;
    if (sluice_chain_result(chain, &from, &to, &error) != 0)
        give_up(&error, argv[1]);
    if (to.n_planes != 1 || plane.type != SLUICE_U8 || plane.channels % 2 == 0) {
        fprintf(stderr, "frames: %s gives no picture that PNM can hold\n", argv[1]);
        return 1;
    }
    size_t out_bytes = sluice_layout_fill(&to, 1);

    /* Once: a plan, and memory for one frame. */
    void *frame = malloc(in_bytes), *result = malloc(out_bytes);
    if (!frame || !result || sluice_plan_create(&plan, chain, device, &from, &to, 0, &error) != 0 ||
        sluice_memory_wrap(&in, device, frame, in_bytes, SLUICE_READ, &error) != 0 ||
        sluice_memory_wrap(&out, device, result, out_bytes, SLUICE_WRITE, &error) != 0)
        give_up(&error, argv[1]);

    /* For each frame. */
    while (fread(frame, 1, in_bytes, stdin) == in_bytes) {
        struct sluice_times times = SLUICE_INIT(times);
        if (sluice_process(plan, in, out, &times, &error) != 0)
            give_up(&error, argv[1]);
        printf("P%d %u %u 255\n", plane.channels == 1 ? 5 : 6, plane.width, plane.height);
        fwrite(result, 1, out_bytes, stdout);
        fprintf(stderr, "%.2f ms\n", (double)times.total / 1e6);
    }

    sluice_memory_unref(&in);
    sluice_memory_unref(&out);
    sluice_plan_unref(&plan);
    sluice_chain_unref(&chain);
    sluice_device_unref(&device);
    free(frame);
    free(result);
    return 0;
}
