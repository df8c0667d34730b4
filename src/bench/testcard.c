/* sluice testcard: makes a test picture with colour bars, a grey ramp, a zone plate, and edges at
 * every angle. */
#include <math.h>
#include <string.h>

#include "base/file.h"
#include "cli/common.h"
#include "codec/output.h"

struct testcard_options {
    struct common_options common;
    const char *output, *format, *size;
};

#define AT(member) offsetof(struct testcard_options, member)

static const struct options_row options[] = {
    OPTION('o', "FILE", TEXT, "output", AT(output), "where to write it; - is stdout",
           DEFAULT("testcard.png")),
    OPTION('f', "FORMAT", TEXT, "format", AT(format), "else by the file's name"),
    OPTION(0, "WIDTHxHEIGHT", TEXT, "size", AT(size), "in pixels", DEFAULT("1280x720")),
    {0},
};

static const struct options_usage usage = {
    .command = "testcard",
    .operands = "[-o FILE] [--size WIDTHxHEIGHT]",
    .summary = "Draws a picture to try chains on.",
    .tables = {options, cli_output_options},
};

struct colour {
    double r, g, b;
};

static struct colour grey(double v)
{
    return (struct colour){v, v, v};
}

static struct colour card(uint32_t px, uint32_t py, uint32_t width, uint32_t height)
{
    static const struct colour bars[] = {{255, 255, 255}, {255, 255, 0}, {0, 255, 255}, {0, 255, 0},
                                         {255, 0, 255},   {255, 0, 0},   {0, 0, 255},   {0, 0, 0}};
    double x = (px + 0.5) / width, y = (py + 0.5) / height, aspect = (double)width / height;
    if (y < 0.2)
        return bars[(int)(x * 8) & 7];
    if (y > 0.9)
        return grey(x * 256);
    /* Distances are in units of the picture's height. A zone plate is in the middle, and at both
     * sides are spokes, which have edges at every angle. */
    double from_centre = (x - 0.5) * aspect, down = y - 0.55;
    double squares = from_centre * from_centre + down * down;
    if (fabs(from_centre) < 0.42)
        return grey(squares > 0.16 ? 64 : 127.5 + 127.5 * cos(squares * 700));
    double to_side = (x < 0.5 ? x : 1 - x) * aspect - 0.22;
    if (to_side * to_side + down * down > 0.04)
        return grey(200);
    return grey(sin(atan2(down, to_side) * 18) > 0 ? 240 : 20);
}

static void draw(struct picture *picture)
{
    const struct plane *plane = &picture->frame.planes[0];
    for (uint32_t y = 0; y < plane->height; y++) {
        uint8_t *row = picture_row(picture, 0, y);
        for (uint32_t x = 0; x < plane->width; x++) {
            struct colour c = card(x, y, plane->width, plane->height);
            row[3 * x] = (uint8_t)c.r;
            row[3 * x + 1] = (uint8_t)c.g;
            row[3 * x + 2] = (uint8_t)c.b;
        }
    }
}

static int encode(const struct format *format, const struct picture *picture, int fd,
                  struct fault *fault)
{
    struct output *output = output_create(fd);
    if (!output)
        return fault_set(fault, FAULT_MEMORY, "no memory for an output");
    int result = format_encode(format, picture, 0, output, fault);
    if (result == 0)
        result = output_flush(output, fault);
    output_destroy(&output);
    return result;
}

static int write_card(const struct testcard_options *o, const struct format *format,
                      const struct picture *picture, struct fault *fault)
{
    struct file_draft draft;
    if (strcmp(o->output, "-") == 0)
        return encode(format, picture, fileno(cli_stdout), fault);
    int result = file_draft_open(&draft, o->output, fault);
    if (result != 0)
        return result;
    result = encode(format, picture, draft.fd, fault);
    if (result == 0)
        return file_draft_commit(&draft, false, fault);
    file_draft_discard(&draft);
    return result;
}

static int make_card(const struct testcard_options *o, struct plane plane, struct fault *fault)
{
    struct format format = {0};
    struct frame frame = {0};
    struct picture picture = {0};
    struct plane fitted = plane;
    int result = o->format ? format_parse(&format, o->format, fault)
                           : format_for_name(&format, o->output, fault);
    if (result == 0)
        result = format_fit(&format, &fitted, fault);
    if (result == 0 && (fitted.type != plane.type || fitted.channels != plane.channels))
        result = fault_set(fault, FAULT_USAGE, "%s holds no RGB of 8 bits", format.codec->name);
    if (result == 0 &&
        !(frame_add_plane(&frame, &plane, FRAME_ALIGNMENT) && picture_create(&picture, &frame)))
        result = fault_set(fault, FAULT_MEMORY, "no memory for the picture");
    if (result == 0) {
        draw(&picture);
        result = write_card(o, &format, &picture, fault);
    }
    picture_destroy(&picture);
    frame_finish(&frame);
    format_finish(&format);
    return result;
}

static int testcard(void *options_, char **operands, size_t count)
{
    struct testcard_options *o = options_;
    struct fault fault = FAULT_INIT;
    struct plane plane;
    cli_common_apply(&o->common);
    if (!plane_parse_size(o->size, &plane) || plane.channels != 1 ||
        (uint64_t)plane.width * plane.height > 100000000)
        return cli_refuse(64,
                          "testcard: --size=%s: expected WIDTHxHEIGHT, up to 100 megapixels (see "
                          "sluice testcard --help)",
                          o->size);
    if (o->common.json && strcmp(o->output, "-") == 0)
        return cli_refuse(64, "--json and -o - both want stdout");
    plane.channels = 3;
    if (make_card(o, plane, &fault) != 0)
        return cli_complain(fault.code == FAULT_USAGE ? NULL : o->output, &fault);
    if (o->common.json)
        cli_print_json(json_pack("{s:s, s:I, s:I, s:I}", "output", o->output, "width",
                                 (json_int_t)plane.width, "height", (json_int_t)plane.height,
                                 "channels", (json_int_t)plane.channels));
    return 0;
}

const struct command command_testcard = {&usage, sizeof(struct testcard_options), testcard,
                                         .no_operands = true};
