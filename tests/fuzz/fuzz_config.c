/* Configurations: a text, and behind a NUL, if there is one, a line NAME and a picture's file,
 * which is defined as a command line has it. A refused one has a reason; all settings of an
 * accepted one can be read; and what a worker is given of it, and of its pictures, is what the
 * worker reads. */
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "chain/chain.h"
#include "chain/plan.h"
#include "codec/pictures.h"
#include "config/config.h"
#include "device/profile.h"
#include "fuzz.h"

/* Plans for a frame of the picture's own shape, and for one that is a pixel wider. */
static void use_picture(const struct definitions *definitions,
                        const struct definition_picture *picture)
{
    static const char *const stages[] = {"subtract", "divide", "mask", "blend"};
    for (int i = 0; i < 8; i++) {
        struct plane plane = picture->plane;
        struct chain chain;
        struct plan *plan = NULL;
        struct frame frame = {0};
        struct fault fault = FAULT_INIT;
        char text[PARAM_WORD_MAX + 40];
        const struct plan_options options = {.profile = device_profile_by_name("native")};
        snprintf(text, sizeof text, "%s:@%s", stages[i / 2], picture->name);
        plane.width += i % 2;
        plane.name[0] = '\0';
        if (chain_parse_with(&chain, text, definitions, &fault) != 0)
            fuzz_fail("%s: %s", text, fault.text);
        if (!frame_add_plane(&frame, &plane, FRAME_ALIGNMENT))
            fuzz_fail("no memory for a frame");
        int result = plan_create(&plan, &chain, &frame, &options, &fault);
        if (result != 0 && fault.text[0] == '\0')
            fuzz_fail("a plan is refused without a reason");
        if (result == 0 && i % 2 == 1 && i / 2 < 3)
            fuzz_fail("%s: a picture of another size is taken", text);
        plan_destroy(&plan);
        chain_finish(&chain);
        frame_finish(&frame);
    }
}

/* The worker's side, with the files' bytes as the front hands them over. */
static void give_to_worker(const struct config *config)
{
    static const struct codec_limits limits = {.max_pixels = 1 << 16, .memory = 4 << 20};
    struct config worker;
    struct text text = {0}, errors = {0};
    struct fault fault = FAULT_INIT;
    config_print_worker(config, &text);
    if (config_read_worker(&worker, text.data, text.length, &fault) != 0)
        fuzz_fail("a worker does not take its configuration: %s", fault.text);
    if (worker.definitions.n_pictures != config->definitions.n_pictures)
        fuzz_fail("a worker has %zu pictures of %zu", worker.definitions.n_pictures,
                  config->definitions.n_pictures);
    int result =
        definitions_take_file(&worker.definitions, dup(config->definitions.file->fd), &fault);
    if (result == 0)
        result = codec_read_pictures(&worker.definitions, &limits, &errors);
    if (result != 0 && fault.text[0] == '\0' && errors.length == 0)
        fuzz_fail("a picture is refused without a reason");
    for (size_t i = 0; result == 0 && i < worker.definitions.n_pictures; i++)
        use_picture(&worker.definitions, worker.definitions.pictures[i]);
    config_finish(&worker);
    text_finish(&text);
    text_finish(&errors);
}

static void define_picture(struct config *config, const char *data, size_t size)
{
    const char *end = memchr(data, '\n', size);
    struct fault fault = FAULT_INIT;
    char definition[200];
    int fd = end ? memfd_create("picture", MFD_CLOEXEC) : -1;
    if (fd < 0)
        return;
    size_t rest = size - (size_t)(end + 1 - data);
    snprintf(definition, sizeof definition, "%.*s=/proc/self/fd/%d", (int)(end - data) & 127, data,
             fd);
    if (write(fd, end + 1, rest) != (ssize_t)rest)
        fuzz_fail("no room for a picture");
    if (config_define_picture(config, definition, &fault) == 0)
        give_to_worker(config);
    else if (fault.text[0] == '\0')
        fuzz_fail("a definition is refused without a reason");
    close(fd);
}

void fuzz_one(const uint8_t *data, size_t size)
{
    struct config config;
    struct text errors = {0};
    struct fault fault = FAULT_INIT;
    const uint8_t *end = memchr(data, 0, size);
    size_t length = end ? (size_t)(end - data) : size;
    int result =
        config_read_text(&config, "fuzz.yaml", (const char *)data, length, &errors, &fault);
    if (result == FAULT_CONFIG && (errors.length == 0 || fault.text[0] == '\0'))
        fuzz_fail("a configuration is refused without a reason");
    if (result == 0) {
        config_resolve_chains(&config);
        for (size_t i = 0; i < config.n_chains; i++)
            if (!config_chain(&config, config.chains[i].name))
                fuzz_fail("chain %s is not found again", config.chains[i].name);
    }
    if (result == 0 && end)
        define_picture(&config, (const char *)end + 1, size - length - 1);
    config_finish(&config);
    text_finish(&errors);
}
