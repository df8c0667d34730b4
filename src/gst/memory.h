/* The bytes of a buffer as a memory of the library, where they lie. */
#ifndef SLUICE_GST_MEMORY_H
#define SLUICE_GST_MEMORY_H

#include <gst/video/video.h>
#include <sluice/sluice.h>

/* A frame's input or result. */
struct side {
    GstBuffer *buffer; /* a reference, held until side_close */
    struct sluice_memory *memory;
    struct sluice_layout layout; /* where the planes lie in the memory */
    struct sluice_plane plane;   /* of it, if it is SLUICE_PLANES */
    gboolean imported;           /* a dma-buf, as it is */
    gsize merged;                /* bytes of memories that had to be copied into one */
    GstMapInfo maps[GST_VIDEO_MAX_PLANES];
    guint n_maps;
    GstMapInfo whole;
    gboolean is_whole;
};

/* Where the planes of a frame lie in its buffer, from GstVideoMeta or as `info` says. False: the
 * buffer is of another format or size, or its planes reach beyond its end. */
gboolean side_places(GstBuffer *buffer, const GstVideoInfo *info, struct sluice_layout *layout,
                     struct sluice_plane *plane, struct sluice_error *error);

/* Takes over the reference to the buffer, also when it fails. A buffer whose planes all lie in one
 * dma-buf is imported; `import_error` becomes the reason, and its code not 0, where that could not
 * be done and the buffer was mapped; with NULL it is not tried. All others are mapped, each
 * GstMemory by itself, and nothing is copied unless a plane is in several of them, or they are 2
 * GiB apart. */
gboolean side_open(struct side *side, GstBuffer *buffer, const GstVideoInfo *info,
                   struct sluice_device *device, unsigned access, struct sluice_error *import_error,
                   struct sluice_error *error);
void side_close(struct side *side);

/* Takes the buffer out, unmapped, and closes the rest. */
GstBuffer *side_take(struct side *side);

#endif
