#include "files.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void file_finish(struct file *file)
{
    free(file->data);
    *file = (struct file){0};
}

/* As much as is needed, so that sanitizers see what reads past the end; of large files more,
 * because they are made of thousands of pieces and sanitizers copy all of them for each. */
static size_t room_for(size_t size)
{
    size_t room = 1 << 16;
    while (room < size)
        room *= 2;
    return size < 1 << 16 ? size : room;
}

void file_put(struct file *file, const void *data, size_t size)
{
    size_t room = room_for(file->size + size + 1);
    if (!file->data || room != room_for(file->size + 1))
        file->data = realloc(file->data, room);
    if (!file->data)
        abort();
    if (size)
        memcpy(file->data + file->size, data, size);
    file->size += size;
}

void file_put_text(struct file *file, const char *text)
{
    file_put(file, text, strlen(text));
}

void file_put_zeros(struct file *file, size_t count)
{
    while (count--)
        file_put_u8(file, 0);
}

void file_put_u8(struct file *file, unsigned value)
{
    uint8_t byte = (uint8_t)value;
    file_put(file, &byte, 1);
}

void file_put_le16(struct file *file, unsigned value)
{
    file_put_u8(file, value);
    file_put_u8(file, value >> 8);
}

void file_put_le32(struct file *file, uint32_t value)
{
    file_put_le16(file, value);
    file_put_le16(file, value >> 16);
}

void file_put_be16(struct file *file, unsigned value)
{
    file_put_u8(file, value >> 8);
    file_put_u8(file, value);
}

void file_put_be32(struct file *file, uint32_t value)
{
    file_put_be16(file, value >> 16);
    file_put_be16(file, value);
}

uint8_t ramp_sample(uint32_t x, uint32_t y, uint32_t channel)
{
    switch (channel) {
    case 0:
        return (uint8_t)(40 + 5 * x % 160 + y);
    case 1:
        return (uint8_t)(200 - 3 * x % 100 - 2 * y % 60);
    case 2:
        return (uint8_t)(60 + 4 * y % 90);
    default:
        return (uint8_t)(20 + x + y);
    }
}

uint16_t noise_sample(uint32_t x, uint32_t y, uint32_t channel)
{
    uint32_t v = (x * 1021 + y) * 4 + channel + 1;
    v *= 2654435761u;
    v ^= v >> 15;
    v *= 2246822519u;
    return (uint16_t)(v >> 13);
}

void make_profile(uint8_t profile[PROFILE_SIZE])
{
    memset(profile, 0, PROFILE_SIZE);
    profile[3] = PROFILE_SIZE;
    memcpy(profile + 16, "RGB ", 4);
    memcpy(profile + 36, "acsp", 4);
}

void make_exif(struct file *file, unsigned orientation, bool big_endian, bool prefix)
{
    void (*put16)(struct file *, unsigned) = big_endian ? file_put_be16 : file_put_le16;
    void (*put32)(struct file *, uint32_t) = big_endian ? file_put_be32 : file_put_le32;
    if (prefix)
        file_put(file, "Exif\0", 6);
    file_put_text(file, big_endian ? "MM" : "II");
    put16(file, 42);
    put32(file, 8);
    put16(file, 2);
    put16(file, 0x0100); /* ImageWidth, to be passed over */
    put16(file, 4);
    put32(file, 1);
    put32(file, 99);
    put16(file, 0x0112);
    put16(file, 3);
    put32(file, 1);
    put16(file, orientation);
    put16(file, 0);
    put32(file, 0);
}

uint8_t bmp_palette_colour(unsigned index, unsigned channel)
{
    return (uint8_t)(index * 13 + channel * 71 + 5);
}

static void put_bmp_palette(struct file *file, const struct bmp_kind *kind)
{
    for (unsigned i = 0; i < kind->colours; i++) {
        for (int c = 2; c >= 0; c--)
            file_put_u8(file, kind->grey_palette ? i : bmp_palette_colour(i, (unsigned)c));
        if (kind->header != 12)
            file_put_u8(file, 0);
    }
}

void make_bmp(struct file *file, const struct bmp_kind *kind)
{
    bool fields = kind->compression == 3 || kind->compression == 6;
    unsigned behind = fields && kind->header == 40 ? (kind->compression == 6 ? 16 : 12) : 0;
    uint32_t palette = kind->colours * (kind->header == 12 ? 3 : 4);
    uint32_t pixels = 14 + kind->header + behind + palette;
    file_put_text(file, "BM");
    file_put_le32(file, pixels + (uint32_t)kind->n_pixels);
    file_put_le32(file, 0);
    file_put_le32(file, pixels);
    file_put_le32(file, kind->header);
    if (kind->header == 12) {
        file_put_le16(file, kind->width);
        file_put_le16(file, kind->height);
        file_put_le16(file, 1);
        file_put_le16(file, kind->bits);
    } else {
        file_put_le32(file, kind->width);
        file_put_le32(file, kind->top_down ? 0u - kind->height : kind->height);
        file_put_le16(file, 1);
        file_put_le16(file, kind->bits);
        file_put_le32(file, kind->compression);
        file_put_le32(file, (uint32_t)kind->n_pixels);
        file_put_zeros(file, 8);
        file_put_le32(file, kind->bits <= 8 ? kind->colours : 0);
        file_put_le32(file, 0);
        unsigned masks = kind->header >= 56 ? 4 : kind->header == 52 ? 3 : behind / 4;
        for (unsigned i = 0; i < masks; i++)
            file_put_le32(file, kind->masks[i]);
        if (kind->header > 56)
            file_put_zeros(file, kind->header - 56);
    }
    put_bmp_palette(file, kind);
    file_put(file, kind->pixels, kind->n_pixels);
}

void make_npy(struct file *file, unsigned major, const char *dictionary, const void *data,
              size_t size)
{
    size_t length = strlen(dictionary) + 1;
    file_put(file, "\x93NUMPY", 6);
    file_put_u8(file, major);
    file_put_u8(file, 0);
    if (major == 1)
        file_put_le16(file, (unsigned)length);
    else
        file_put_le32(file, (uint32_t)length);
    file_put_text(file, dictionary);
    file_put_text(file, "\n");
    file_put(file, data, size);
}
