/* Chains, formats and input options, as anyone may send them: a byte for the device and one for the
 * picture's shape; then a line each. A chain that is taken reads back from its own text, in both
 * forms, and planning it for a picture either works within limits or says why not. */
#include <stdlib.h>
#include <string.h>

#include "chain/chain.h"
#include "chain/plan.h"
#include "codec/codec.h"
#include "config/config.h"
#include "device/profile.h"
#include "fuzz.h"

static const char definitions_text[] = "version: 1\n"
                                       "kernels: {soft: 1_2_1/2_4_2/1_2_1}\n"
                                       "banks: {half: {qmf: [0.70710678118654752, "
                                       "0.70710678118654752]}, lifted: {lifting: [{predict: [-0.5, "
                                       "-0.5]}, {update: [0.25, 0.25]}], gain: [1, -0.5]}}\n";

/* Second pictures, of sizes that frames have and that none has. */
static void define_pictures(struct definitions *definitions)
{
    static const struct {
        const char *name;
        enum sample_type type;
        uint32_t width, height, channels;
    } pictures[] = {{"roi", SAMPLE_U8, 33, 17, 1},
                    {"dark", SAMPLE_U16, 640, 480, 1},
                    {"logo", SAMPLE_U8, 3, 2, 4},
                    {"flat", SAMPLE_F32, 33, 17, 3},
                    {"mark", SAMPLE_I16, 5, 40, 2}};
    for (size_t i = 0; i < sizeof pictures / sizeof *pictures; i++) {
        struct plane plane = {.width = pictures[i].width,
                              .height = pictures[i].height,
                              .channels = pictures[i].channels,
                              .type = pictures[i].type};
        struct frame frame = {0};
        struct picture picture = {0};
        struct definition_picture *second =
            definitions_add_picture(definitions, pictures[i].name, pictures[i].name);
        if (!second || !frame_add_plane(&frame, &plane, FRAME_ALIGNMENT) ||
            !picture_create(&picture, &frame))
            fuzz_fail("no memory for a second picture");
        memset(picture.data, 0, frame.size);
        second->plane = frame.planes[0];
        second->samples = picture.data;
        second->n_bytes = frame.size;
        picture.data = NULL;
        picture_destroy(&picture);
        frame_finish(&frame);
    }
}

static const struct definitions *definitions(void)
{
    static struct config config;
    static bool read;
    struct text errors = {0};
    struct fault fault = FAULT_INIT;
    if (!read && config_read_text(&config, "fuzz.yaml", definitions_text,
                                  sizeof definitions_text - 1, &errors, &fault) != 0)
        fuzz_fail("the definitions: %s", fault.text);
    if (!read)
        define_pictures(&config.definitions);
    read = true;
    return &config.definitions;
}

static void check_text(const struct chain *chain,
                       void (*print)(const struct chain *, struct text *))
{
    struct text once = {0}, twice = {0};
    struct fault fault = FAULT_INIT;
    struct chain again;
    print(chain, &once);
    if (chain_parse_with(&again, text_string(&once), definitions(), &fault) == 0)
        print(&again, &twice);
    else if (once.length <= CHAIN_TEXT_MAX)
        fuzz_fail("'%s' does not read back: %s", text_string(&once), fault.text);
    if (fault.code == FAULT_NONE && strcmp(text_string(&once), text_string(&twice)) != 0)
        fuzz_fail("'%s' reads back as '%s'", text_string(&once), text_string(&twice));
    chain_finish(&again);
    text_finish(&once);
    text_finish(&twice);
}

static bool make_frame(struct frame *frame, uint8_t shape)
{
    static const uint32_t sides[][2] = {{1, 1},     {33, 17},     {640, 480}, {1, 65500},
                                        {65500, 1}, {6016, 4016}, {3, 2},     {30000, 30000}};
    struct plane plane = {.width = sides[shape & 7][0],
                          .height = sides[shape & 7][1],
                          .channels = 1 + (shape >> 3 & 3),
                          .type = shape >> 5};
    *frame = (struct frame){0};
    return plane.type < SAMPLE_TYPES && frame_add_plane(frame, &plane, FRAME_ALIGNMENT);
}

static void check_plan(const struct chain *chain, uint8_t device, uint8_t shape)
{
    static const char *const names[] = {"native", "cpu", "gpu", "mali"};
    struct frame frame;
    struct plan *plan = NULL;
    struct fault fault = FAULT_INIT;
    struct plan_options options = {
        .profile = device & 4 ? NULL : device_profile_by_name(names[device & 3])};
    if (!make_frame(&frame, shape))
        return;
    if (plan_create(&plan, chain, &frame, &options, &fault) != 0) {
        if (fault.text[0] == '\0')
            fuzz_fail("a plan is refused without a reason");
    } else if (options.profile && plan_peak(plan) < frame_bytes(plan->out)) {
        fuzz_fail("a plan takes %llu bytes, its result %llu", (unsigned long long)plan_peak(plan),
                  (unsigned long long)frame_bytes(plan->out));
    }
    plan_destroy(&plan);
    frame_finish(&frame);
}

static void read_format(const char *text)
{
    struct format format = {0};
    struct fault fault = FAULT_INIT;
    if (format_parse(&format, text, &fault) == 0)
        format_finish(&format);
    else if (fault.text[0] == '\0')
        fuzz_fail("a format is refused without a reason");
}

static void read_input(const char *text)
{
    struct decode_options options;
    struct fault fault = FAULT_INIT;
    if (decode_options_parse(&options, text, "input", &fault) != 0 && fault.text[0] == '\0')
        fuzz_fail("an input is refused without a reason");
}

void fuzz_one(const uint8_t *data, size_t size)
{
    struct reader_of_bytes bytes = {data, size};
    struct faults faults = {0};
    struct chain chain;
    size_t length;
    uint8_t device = fuzz_take_byte(&bytes), shape = fuzz_take_byte(&bytes);
    char *text = fuzz_take_text(&bytes, '\n', &length);
    char *format = fuzz_take_text(&bytes, '\n', &length);
    char *input = fuzz_take_text(&bytes, '\n', &length);
    if (chain_parse_all(&chain, text, definitions(), &faults) == 0) {
        check_text(&chain, chain_print);
        check_text(&chain, chain_print_short);
        check_plan(&chain, device, shape);
    } else {
        struct text caret = {0};
        for (size_t i = 0; i < faults_count(&faults); i++)
            fault_print_caret(&faults.list[i], text, &caret);
        text_finish(&caret);
    }
    chain_finish(&chain);
    read_format(format);
    read_input(input);
    free(text);
    free(format);
    free(input);
}
