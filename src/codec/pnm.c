/* Netpbm's P1 to P6, as pbm(5), pgm(5) and ppm(5) describe them: ASCII and raw, 1, 8 and 16 bits.
 * Samples are scaled from maxval to the full range of u8 or u16: v · full / maxval, rounded to the
 * nearest even. The codec pnm reads all of them and writes P2, P3, P5 and P6; pbm writes P1 and P4.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/deadline.h"
#include "codec/byte_order.h"
#include "codec/codec.h"
#include "codec/output.h"

struct pnm_config {
    struct picture_config picture;
    bool ascii;
};

static const struct param params[] = {
    PARAM(FLAG, "ascii", offsetof(struct pnm_config, ascii), "1 writes P2 and P3, numbers as text",
          DEFAULT("0")),
    PICTURE_PARAMS,
    {0},
};

struct pnm_state {
    char kind;   /* '1' to '6' */
    uint64_t at; /* the reader's place in the file, in bytes */
    uint32_t maxval;
    bool cut;        /* the file has ended, and rows are black */
    uint16_t *scale; /* owned: sample to full range; NULL when maxval is the full range */
};

static bool is_space(uint8_t c)
{
    return c == ' ' || (c >= '\t' && c <= '\r');
}

static bool probe(const uint8_t *data, size_t size)
{
    return size >= 3 && data[0] == 'P' && data[1] >= '1' && data[1] <= '6' &&
           (is_space(data[2]) || data[2] == '#');
}

static int truncated(struct fault *fault)
{
    return fault_set(fault, FAULT_TRUNCATED, "truncated pnm: the file ends before its pixels do");
}

static bool ends_line(int c)
{
    return c < 0 || c == '\n' || c == '\r';
}

/* Skips blanks and comments (# to the end of the line). */
static void skip_blanks(struct decoder *d, uint64_t *at)
{
    for (int c; (c = input_byte(&d->input, *at)) >= 0 && (is_space((uint8_t)c) || c == '#'); ++*at)
        while (c == '#' && !ends_line(input_byte(&d->input, *at + 1)))
            ++*at;
}

static bool is_digit(int c)
{
    return c >= '0' && c <= '9';
}

static int read_number(struct decoder *d, uint64_t *at, uint32_t limit, uint32_t *number,
                       struct fault *fault)
{
    uint64_t value = 0;
    int c;
    skip_blanks(d, at);
    if (input_byte(&d->input, *at) < 0)
        return truncated(fault);
    uint64_t begin = *at;
    for (; is_digit(c = input_byte(&d->input, *at)) && value <= limit; ++*at)
        value = value * 10 + (uint64_t)(c - '0');
    if (*at == begin)
        return fault_set(fault, FAULT_DATA, "damaged pnm: a number is missing at byte %llu",
                         (unsigned long long)*at);
    if (value > limit)
        return fault_set(fault, FAULT_DATA, "damaged pnm: a number above %u at byte %llu", limit,
                         (unsigned long long)begin);
    *number = (uint32_t)value;
    return 0;
}

static void close_pnm(struct decoder *d)
{
    struct pnm_state *state = d->state;
    free(state->scale);
}

static int make_scale(struct pnm_state *state, uint32_t full, struct fault *fault)
{
    if (state->maxval == full)
        return 0;
    state->scale = malloc((state->maxval + 1) * sizeof *state->scale);
    if (!state->scale)
        return fault_set(fault, FAULT_MEMORY, "no memory for a table");
    for (uint64_t v = 0; v <= state->maxval; v++) {
        uint64_t n = v * full, q = n / state->maxval, twice = 2 * (n % state->maxval);
        q += twice > state->maxval || (twice == state->maxval && (q & 1));
        state->scale[v] = (uint16_t)q;
    }
    return 0;
}

static int open_pnm(struct decoder *d, struct fault *fault)
{
    struct pnm_state *state = d->state;
    state->kind = (char)input_byte(&d->input, 1);
    bool bitmap = state->kind == '1' || state->kind == '4';
    bool colour = state->kind == '3' || state->kind == '6';
    uint32_t width, height;
    uint64_t at = 2;
    state->maxval = 1;
    int result = read_number(d, &at, INT32_MAX, &width, fault);
    if (result == 0)
        result = read_number(d, &at, INT32_MAX, &height, fault);
    if (result == 0 && !bitmap)
        result = read_number(d, &at, 65535, &state->maxval, fault);
    if (result != 0)
        return result;
    if (state->maxval == 0)
        return fault_set(fault, FAULT_DATA, "damaged pnm: maxval is 0");
    if (input_byte(&d->input, at) == '#') { /* netpbm's own programs read this, too */
        result = decoder_warn(d, fault, "a comment stands where the header ends");
        while (!ends_line(input_byte(&d->input, at)))
            at++;
    }
    if (result != 0)
        return result;
    int blank = input_byte(&d->input, at);
    if (blank >= 0 && !is_space((uint8_t)blank))
        return fault_set(fault, FAULT_DATA, "damaged pnm: no blank after the header");
    state->at = at + 1; /* exactly one blank, then the pixels */
    enum sample_type type = state->maxval > 255 ? SAMPLE_U16 : SAMPLE_U8;
    result = decoder_set_plane(d, width, height, colour ? 3 : 1, type, fault);
    if (result == 0)
        result = make_scale(state, type == SAMPLE_U16 ? 65535 : 255, fault);
    uint64_t row = (uint64_t)width * (colour ? 3 : 1) * sample_size(type);
    d->working_memory = input_memory(&d->input, row);
    return result;
}

static int put(struct decoder *d, uint32_t value, enum sample_type type, void *row, size_t index,
               struct fault *fault)
{
    const struct pnm_state *state = d->state;
    if (value > state->maxval) {
        int result =
            decoder_warn(d, fault, "samples above maxval %u: they are taken for it", state->maxval);
        if (result != 0)
            return result;
        value = state->maxval;
    }
    if (state->scale)
        value = state->scale[value];
    if (type == SAMPLE_U16)
        ((uint16_t *)row)[index] = (uint16_t)value;
    else
        ((uint8_t *)row)[index] = (uint8_t)value;
    return 0;
}

static int read_bitmap_digit(struct decoder *d, uint64_t *at, uint32_t *value, struct fault *fault)
{
    skip_blanks(d, at);
    int c = input_byte(&d->input, *at);
    if (c < 0)
        return truncated(fault);
    ++*at; /* there need be no blanks between a bitmap's digits */
    if (c != '0' && c != '1')
        return fault_set(fault, FAULT_DATA, "damaged pnm: neither 0 nor 1 at byte %llu",
                         (unsigned long long)*at - 1);
    *value = c == '0'; /* in a bitmap 1 is black */
    return 0;
}

static int read_ascii_row(struct decoder *d, void *row, size_t samples, struct fault *fault)
{
    struct pnm_state *state = d->state;
    enum sample_type type = d->frame.planes[0].type;
    for (size_t i = 0; i < samples; i++) {
        uint32_t value;
        int result = state->kind == '1' ? read_bitmap_digit(d, &state->at, &value, fault)
                                        : read_number(d, &state->at, 65535, &value, fault);
        if (result == 0)
            result = put(d, value, type, row, i, fault);
        if (result != 0)
            return result;
    }
    return 0;
}

static int read_raw_row(struct decoder *d, void *row, size_t samples, struct fault *fault)
{
    struct pnm_state *state = d->state;
    enum sample_type type = d->frame.planes[0].type;
    bool bitmap = state->kind == '4';
    size_t bytes = bitmap ? (samples + 7) / 8 : samples * sample_size(type);
    uint64_t at = state->at;
    size_t got;
    state->at += bytes;
    if (!bitmap && !state->scale && type == SAMPLE_U8)
        return input_read(&d->input, at, row, bytes) < bytes ? truncated(fault) : 0;
    const uint8_t *from = input_see(&d->input, at, bytes, &got);
    if (got < bytes)
        return truncated(fault);
    for (size_t i = 0; i < samples; i++) {
        uint32_t value = bitmap               ? !(from[i / 8] >> (7 - i % 8) & 1)
                         : type == SAMPLE_U16 ? (uint32_t)from[2 * i] << 8 | from[2 * i + 1]
                                              : from[i];
        int result = put(d, value, type, row, i, fault);
        if (result != 0)
            return result;
    }
    return 0;
}

static int read_pnm(struct decoder *d, struct picture *into, uint32_t end, struct fault *fault)
{
    struct pnm_state *state = d->state;
    const struct plane *plane = &into->frame.planes[0];
    size_t samples = (size_t)plane->width * plane->channels;
    uint32_t y = d->row;
    for (; y < end && !state->cut; y++) {
        void *row = picture_row(into, 0, y);
        struct fault why = FAULT_INIT;
        int result = deadline_check(&why);
        if (result == 0)
            result = state->kind <= '3' ? read_ascii_row(d, row, samples, &why)
                                        : read_raw_row(d, row, samples, &why);
        state->cut = result == FAULT_TRUNCATED && d->options.partial;
        if (state->cut)
            break;
        if (result != 0)
            return fault_set(fault, why.code, "%s", why.text);
    }
    codec_blacken_rows(into, y, end);
    return 0;
}

static int fit_pnm(const void *config, struct plane *plane, struct fault *fault)
{
    plane->channels -= plane_has_alpha(plane); /* the format has no alpha */
    return fit_type("pnm", FIT_8_OR_16, plane, fault);
}

static void encode_ascii_row(const struct plane *plane, const uint8_t *row, struct output *output)
{
    char text[16];
    size_t size = sample_size(plane->type), column = 0;
    for (size_t i = 0; i < (size_t)plane->width * plane->channels; i++) {
        int length = snprintf(text, sizeof text, "%s%d", column ? " " : "",
                              (int)sample_load(plane->type, row + i * size));
        if (column + (size_t)length > 70) { /* pgm(5): no line above 70 characters */
            output_write(output, "\n", 1);
            column = 0;
            length =
                snprintf(text, sizeof text, "%d", (int)sample_load(plane->type, row + i * size));
        }
        output_write(output, text, (size_t)length);
        column += (size_t)length;
    }
    output_write(output, "\n", 1);
}

static int encode_pnm(struct encoder *e, const struct picture *picture, uint32_t end,
                      struct fault *fault)
{
    const struct pnm_config *config = e->config;
    const struct plane *plane = &picture->frame.planes[e->plane];
    char header[64];
    char kind = (plane->channels == 3 ? '6' : '5') - (config->ascii ? 3 : 0);
    int length = snprintf(header, sizeof header, "P%c\n%u %u\n%u\n", kind, plane->width,
                          plane->height, plane->type == SAMPLE_U16 ? 65535u : 255u);
    if (e->row == 0)
        output_write(e->output, header, (size_t)length);
    for (uint32_t y = e->row; y < end && config->ascii; y++)
        encode_ascii_row(plane, picture_row(picture, e->plane, y), e->output);
    if (!config->ascii) /* most significant byte first */
        output_rows(e->output, picture, e->plane, e->row, end, !HOST_IS_BIG_ENDIAN);
    return 0;
}

static const char *const extensions[] = {"pnm", "pgm", "ppm", NULL};

const struct codec codec_pnm = {
    .name = "pnm",
    .extensions = extensions,
    .media_type = "image/x-portable-anymap",
    .probe = probe,
    .reads_pieces = true,
    .state_size = sizeof(struct pnm_state),
    .open = open_pnm,
    .read = read_pnm,
    .close = close_pnm,
    .params = params,
    .config_size = sizeof(struct pnm_config),
    .is_picture = true,
    .fit = fit_pnm,
    .encode = encode_pnm,
};

static int fit_pbm(const void *config, struct plane *plane, struct fault *fault)
{
    return fit_bitmap("pbm", plane, fault);
}

static int encode_pbm(struct encoder *e, const struct picture *picture, uint32_t end,
                      struct fault *fault)
{
    const struct pnm_config *config = e->config;
    const struct plane *plane = &picture->frame.planes[e->plane];
    struct output *output = e->output;
    size_t bytes = (plane->width + 7) / 8;
    char header[64];
    int result = fit_check_bits("pbm", picture, e->plane, e->row, end, fault);
    if (result != 0)
        return result;
    uint8_t *bits = malloc(bytes);
    if (!bits)
        return fault_set(fault, FAULT_MEMORY, "no memory for an encoder");
    int length = snprintf(header, sizeof header, "P%c\n%u %u\n", config->ascii ? '1' : '4',
                          plane->width, plane->height);
    if (e->row == 0)
        output_write(output, header, (size_t)length);
    for (uint32_t y = e->row; y < end; y++) {
        fit_bits(picture, e->plane, y, true, bits); /* in a bitmap 1 is black */
        if (!config->ascii)
            output_write(output, bits, bytes);
        for (uint32_t x = 0; config->ascii && x < plane->width; x++) {
            char text[2] = {(char)('0' + (bits[x / 8] >> (7 - x % 8) & 1)),
                            x % 70 == 69 || x + 1 == plane->width ? '\n' : '\0'};
            output_write(output, text, text[1] ? 2 : 1); /* pbm(5): no line above 70 characters */
        }
    }
    free(bits);
    return 0;
}

static const struct param pbm_params[] = {
    PARAM(FLAG, "ascii", offsetof(struct pnm_config, ascii), "1 writes P1, digits as text",
          DEFAULT("0")),
    PICTURE_PARAMS,
    {0},
};

static const char *const pbm_extensions[] = {"pbm", NULL};

/* It only writes: codec_pnm reads bitmaps, too. */
const struct codec codec_pbm = {
    .name = "pbm",
    .extensions = pbm_extensions,
    .media_type = "image/x-portable-bitmap",
    .params = pbm_params,
    .config_size = sizeof(struct pnm_config),
    .is_picture = true,
    .fit = fit_pbm,
    .encode = encode_pbm,
};
