/* A GstMemory is registered with the library once and keeps that as its data; buffers that come out
 * of pools again and again cost a look. */
#include <gst/allocators/gstdmabuf.h>

#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "gst/caps.h"
#include "gst/memory.h"

static int fail(struct sluice_error *error, int code, const char *message)
{
    error->code = code;
    error->position = -1;
    g_strlcpy(error->message, message, sizeof error->message);
    return code;
}

/* ---- registered memories ---- */

/* What one GstMemory is registered as. A tee hands it to several elements, each with a device of
 * its own. The last entry goes when there is no room. */
struct registered {
    struct entry {
        struct sluice_device *device; /* to be compared; the memory holds it */
        void *data;                   /* NULL: imported */
        size_t bytes;
        unsigned access;
        struct sluice_memory *memory;
    } entries[4];
};

static GMutex registered_lock;
static GQuark registered_quark;

static void registered_free(gpointer data)
{
    struct registered *all = data;
    for (size_t i = 0; i < G_N_ELEMENTS(all->entries); i++)
        sluice_memory_unref(&all->entries[i].memory);
    g_free(all);
}

/* Registers bytes at `data`, or with NULL the dma-buf. */
static int register_memory(GstMemory *from, struct sluice_device *device, void *data, size_t bytes,
                           unsigned access, struct sluice_memory **memory,
                           struct sluice_error *error)
{
    int result = 0;
    *memory = NULL;
    g_mutex_lock(&registered_lock);
    if (registered_quark == 0)
        registered_quark = g_quark_from_static_string("sluice-registered");
    struct registered *all =
        gst_mini_object_get_qdata(GST_MINI_OBJECT_CAST(from), registered_quark);
    if (!all) {
        all = g_new0(struct registered, 1);
        gst_mini_object_set_qdata(GST_MINI_OBJECT_CAST(from), registered_quark, all,
                                  registered_free);
    }
    struct entry *entry = NULL;
    for (size_t i = 0; i < G_N_ELEMENTS(all->entries) && !entry; i++) {
        struct entry *e = &all->entries[i];
        if (e->memory && e->device == device && e->data == data && e->bytes == bytes &&
            e->access == access)
            entry = e;
    }
    if (!entry) {
        struct sluice_memory *made = NULL;
        result = data ? sluice_memory_wrap(&made, device, data, bytes, access, error)
                      : sluice_memory_import(&made, device, gst_dmabuf_memory_get_fd(from), bytes,
                                             access, error);
        if (result == 0) {
            struct entry *last = &all->entries[G_N_ELEMENTS(all->entries) - 1];
            sluice_memory_unref(&last->memory);
            memmove(&all->entries[1], &all->entries[0], sizeof all->entries - sizeof *last);
            entry = &all->entries[0];
            *entry = (struct entry){
                .device = device, .data = data, .bytes = bytes, .access = access, .memory = made};
        }
    }
    if (entry)
        *memory = sluice_memory_ref(entry->memory);
    g_mutex_unlock(&registered_lock);
    return result;
}

/* ---- where planes lie ---- */

/* The bytes from a plane's first sample to its last. */
static size_t plane_bytes(const GstVideoInfo *info, guint plane, size_t stride)
{
    gint components[GST_VIDEO_MAX_COMPONENTS];
    gst_video_format_info_component(info->finfo, plane, components);
    gint c = components[0];
    size_t row =
        (size_t)GST_VIDEO_INFO_COMP_WIDTH(info, c) * (size_t)GST_VIDEO_INFO_COMP_PSTRIDE(info, c);
    GstVideoFormat format = GST_VIDEO_INFO_FORMAT(info);
    if (format == GST_VIDEO_FORMAT_YUY2 || format == GST_VIDEO_FORMAT_UYVY)
        row = ((size_t)info->width + 1) / 2 * 4;
    return stride * (size_t)(GST_VIDEO_INFO_COMP_HEIGHT(info, c) - 1) + row;
}

static void set_place(struct sluice_layout *layout, guint plane, size_t offset, size_t stride)
{
    if (layout->format == SLUICE_PLANES) {
        layout->planes[plane].offset = offset;
        layout->planes[plane].stride = stride;
    } else {
        layout->offset[plane] = offset;
        layout->stride[plane] = stride;
    }
}

static size_t get_offset(const struct sluice_layout *layout, guint plane)
{
    return layout->format == SLUICE_PLANES ? layout->planes[plane].offset : layout->offset[plane];
}

static size_t get_stride(const struct sluice_layout *layout, guint plane)
{
    return layout->format == SLUICE_PLANES ? layout->planes[plane].stride : layout->stride[plane];
}

gboolean side_places(GstBuffer *buffer, const GstVideoInfo *info, struct sluice_layout *layout,
                     struct sluice_plane *plane, struct sluice_error *error)
{
    const GstVideoMeta *meta = gst_buffer_get_video_meta(buffer);
    size_t size = gst_buffer_get_size(buffer);
    char message[300];
    if (caps_layout(info, layout, plane, error) != 0)
        return FALSE;
    if (meta && (meta->format != GST_VIDEO_INFO_FORMAT(info) || meta->width < (guint)info->width ||
                 meta->height < (guint)info->height)) {
        snprintf(message, sizeof message,
                 "a buffer's GstVideoMeta says %s of %u×%u, where the caps say %s of %d×%d",
                 gst_video_format_to_string(meta->format), meta->width, meta->height,
                 GST_VIDEO_INFO_NAME(info), info->width, info->height);
        fail(error, SLUICE_E_SHAPE, message);
        return FALSE;
    }
    for (guint p = 0; p < GST_VIDEO_INFO_N_PLANES(info); p++) {
        if (meta && meta->stride[p] < 0) {
            fail(error, SLUICE_E_SHAPE, "a buffer's rows lie from the last to the first");
            return FALSE;
        }
        if (meta)
            set_place(layout, p, meta->offset[p], (size_t)meta->stride[p]);
        size_t end = get_offset(layout, p) + plane_bytes(info, p, get_stride(layout, p));
        if (end > size) {
            snprintf(message, sizeof message,
                     "a buffer has %zu bytes; a frame of %s of %d×%d reaches to byte %zu", size,
                     GST_VIDEO_INFO_NAME(info), info->width, info->height, end);
            fail(error, SLUICE_E_SHAPE, message);
            return FALSE;
        }
    }
    return TRUE;
}

/* Of each plane: which GstMemory it is in, and where in it. False: it is in several. */
static gboolean find_memories(const struct side *side, const GstVideoInfo *info, guint *index,
                              gsize *skip)
{
    for (guint p = 0; p < GST_VIDEO_INFO_N_PLANES(info); p++) {
        guint length;
        size_t bytes = plane_bytes(info, p, get_stride(&side->layout, p));
        if (!gst_buffer_find_memory(side->buffer, get_offset(&side->layout, p), bytes, &index[p],
                                    &length, &skip[p]) ||
            length != 1)
            return FALSE;
    }
    return TRUE;
}

static void unmap(struct side *side)
{
    for (guint i = 0; i < side->n_maps; i++)
        gst_buffer_unmap(side->buffer, &side->maps[i]);
    if (side->is_whole)
        gst_buffer_unmap(side->buffer, &side->whole);
    side->n_maps = 0;
    side->is_whole = FALSE;
}

/* Kernels count samples by 31 bits, from the first of a memory. */
#define SPAN_MAX ((size_t)G_MAXINT32)

/* Maps each memory that has a plane; one registered memory spans them all. SLUICE_E_LIMIT: they are
 * too far apart for that, and none is mapped any more. */
static int map_memories(struct side *side, const GstVideoInfo *info, struct sluice_device *device,
                        unsigned access, const guint *index, const gsize *skip,
                        struct sluice_error *error)
{
    guint n = GST_VIDEO_INFO_N_PLANES(info);
    guint8 *data[GST_VIDEO_MAX_PLANES], *begin = NULL, *end = NULL;
    gboolean one = TRUE;
    for (guint p = 0; p < n; p++) {
        GstMapInfo *map = &side->maps[side->n_maps];
        guint8 *base = NULL;
        for (guint q = 0; q < p && !base; q++)
            base = index[q] == index[p] ? data[q] - skip[q] : NULL;
        one &= index[p] == index[0];
        if (!base) {
            if (!gst_buffer_map_range(side->buffer, index[p], 1, map,
                                      access == SLUICE_READ ? GST_MAP_READ : GST_MAP_WRITE))
                return fail(error, SLUICE_E_MEMORY, "a buffer cannot be mapped");
            side->n_maps++;
            base = map->data;
            begin = !begin || base < begin ? base : begin;
            end = base + map->size > end ? base + map->size : end;
        }
        data[p] = base + skip[p];
    }
    if (!one && (size_t)(end - begin) > SPAN_MAX) {
        unmap(side);
        return SLUICE_E_LIMIT;
    }
    for (guint p = 0; p < n; p++)
        set_place(&side->layout, p, (size_t)(data[p] - begin), get_stride(&side->layout, p));
    if (!one) /* it is these memories' together */
        return sluice_memory_wrap(&side->memory, device, begin, (size_t)(end - begin), access,
                                  error);
    return register_memory(side->maps[0].memory, device, begin, (size_t)(end - begin), access,
                           &side->memory, error);
}

static int map_whole(struct side *side, struct sluice_device *device, unsigned access,
                     struct sluice_error *error)
{
    if (!gst_buffer_map(side->buffer, &side->whole,
                        access == SLUICE_READ ? GST_MAP_READ : GST_MAP_WRITE))
        return fail(error, SLUICE_E_MEMORY, "a buffer cannot be mapped");
    side->is_whole = TRUE;
    side->merged = gst_buffer_n_memory(side->buffer) > 1 ? side->whole.size : 0;
    return sluice_memory_wrap(&side->memory, device, side->whole.data, side->whole.size, access,
                              error);
}

static gboolean is_one_dmabuf(const struct side *side, const GstVideoInfo *info, const guint *index)
{
    for (guint p = 1; p < GST_VIDEO_INFO_N_PLANES(info); p++)
        if (index[p] != index[0])
            return FALSE;
    return gst_is_dmabuf_memory(gst_buffer_peek_memory(side->buffer, index[0]));
}

static int import(struct side *side, const GstVideoInfo *info, struct sluice_device *device,
                  unsigned access, const guint *index, const gsize *skip,
                  struct sluice_error *error)
{
    GstMemory *memory = gst_buffer_peek_memory(side->buffer, index[0]);
    int result = register_memory(memory, device, NULL, memory->offset + memory->size, access,
                                 &side->memory, error);
    for (guint p = 0; p < GST_VIDEO_INFO_N_PLANES(info) && result == 0; p++)
        set_place(&side->layout, p, memory->offset + skip[p], get_stride(&side->layout, p));
    side->imported = result == 0;
    return result;
}

gboolean side_open(struct side *side, GstBuffer *buffer, const GstVideoInfo *info,
                   struct sluice_device *device, unsigned access, struct sluice_error *import_error,
                   struct sluice_error *error)
{
    guint index[GST_VIDEO_MAX_PLANES];
    gsize skip[GST_VIDEO_MAX_PLANES];
    int result;
    *side = (struct side){.buffer = buffer};
    if (!side_places(buffer, info, &side->layout, &side->plane, error)) {
        side_close(side);
        return FALSE;
    }
    if (!find_memories(side, info, index, skip))
        result = map_whole(side, device, access, error);
    else if (import_error && is_one_dmabuf(side, info, index) &&
             import(side, info, device, access, index, skip, import_error) == 0)
        result = 0;
    else
        result = map_memories(side, info, device, access, index, skip, error);
    if (result == SLUICE_E_LIMIT)
        result = map_whole(side, device, access, error);
    if (result != 0)
        side_close(side);
    return result == 0;
}

void side_close(struct side *side)
{
    sluice_memory_unref(&side->memory);
    unmap(side);
    gst_clear_buffer(&side->buffer);
}

GstBuffer *side_take(struct side *side)
{
    sluice_memory_unref(&side->memory);
    unmap(side);
    return g_steal_pointer(&side->buffer);
}
