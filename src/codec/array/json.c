/* JSON of planes by name, for programs that decide by numbers: what the stages statistics and
 * histogram make, or any other samples. It is written, not read.
 *
 * An object with a member for each plane, called like the members of an NPZ. Its value is the array
 * of rows, which are arrays of pixels; a pixel of one channel is its number, else the array of its
 * samples. A plane of one pixel is that pixel alone, a tensor is the array of its layers. Numbers
 * are the shortest decimals that read back as the same double; JSON has no infinities and NaN,
 * which are null. */
#include <math.h>
#include <stdio.h>

#include "base/number.h"
#include "codec/codec.h"
#include "codec/output.h"

static void print_sample(struct text *text, enum sample_type type, const uint8_t *at)
{
    double v = sample_load(type, at);
    char buffer[NUMBER_TEXT_MAX];
    if (sample_is_integer(type))
        text_printf(text, "%.0f", v);
    else
        text_append(text, isfinite(v) ? number_format_real(v, buffer) : "null");
}

static void print_pixel(struct text *text, const struct plane *plane, const uint8_t *at)
{
    size_t size = sample_size(plane->type);
    if (plane->channels > 1)
        text_append(text, "[");
    for (uint32_t c = 0; c < plane->channels; c++) {
        text_append(text, c > 0 ? "," : "");
        print_sample(text, plane->type, at + c * size);
    }
    if (plane->channels > 1)
        text_append(text, "]");
}

static void print_row(struct text *text, const struct plane *plane, const uint8_t *row)
{
    size_t pixel = plane->channels * sample_size(plane->type);
    for (uint32_t x = 0; x < plane->width; x++) {
        text_append(text, x > 0 ? "," : "[");
        print_pixel(text, plane, row + x * pixel);
    }
    text_append(text, "]");
}

/* A row at a time, so that little memory is needed. */
static int print_plane(struct output *output, const struct picture *picture, size_t index,
                       struct fault *fault)
{
    const struct plane *plane = &picture->frame.planes[index];
    uint32_t layers = plane->layers > 0 ? plane->layers : 1, rows = plane->height / layers;
    bool alone = plane->width == 1 && plane->height == 1 && plane->layers == 0;
    bool failed = false;
    for (uint32_t y = 0; y < plane->height && !failed && !output->fault.code; y++) {
        struct text text = {0};
        bool first = y % rows == 0, last = y % rows == rows - 1;
        if (y == 0)
            text_printf(&text, "%s\"%s\":%s", index > 0 ? ",\n" : "{",
                        plane->name[0] ? plane->name : "image", plane->layers > 0 ? "[" : "");
        text_append(&text, alone ? "" : first ? "[" : "");
        if (alone)
            print_pixel(&text, plane, picture_row(picture, index, y));
        else
            print_row(&text, plane, picture_row(picture, index, y));
        text_append(&text, alone ? "" : last ? "]" : ",");
        if (last && y + 1 < plane->height)
            text_append(&text, ",");
        if (y + 1 == plane->height && plane->layers > 0)
            text_append(&text, "]");
        output_write(output, text_string(&text), text.length);
        failed = text.failed;
        text_finish(&text);
    }
    return failed ? fault_set(fault, FAULT_MEMORY, "no memory for a row of JSON") : 0;
}

static int encode_json(struct encoder *e, const struct picture *picture, uint32_t end,
                       struct fault *fault)
{
    int result = 0;
    for (size_t i = 0; i < picture->frame.n_planes && result == 0; i++)
        result = print_plane(e->output, picture, i, fault);
    output_write(e->output, "}\n", 2);
    return result;
}

static const char *const extensions[] = {"json", NULL};

const struct codec codec_json = {
    .name = "json",
    .extensions = extensions,
    .media_type = "application/json",
    .fit = fit_any,
    .holds_frame = true,
    .writes_whole = true,
    .encode = encode_json,
};
