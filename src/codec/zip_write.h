/* Writes ZIP archives as a stream, without seeking, so that they may go to a pipe. Only the
 * directory is kept in memory. All sizes have 64 bits (ZIP64). libzip, which reads archives here,
 * can write only where it can seek.
 *
 * The format: APPNOTE.TXT of PKWARE, version 6.3.10, sections 4.3 to 4.5. */
#ifndef SLUICE_CODEC_ZIP_WRITE_H
#define SLUICE_CODEC_ZIP_WRITE_H

#include "base/text.h"
#include "codec/output.h"

struct zip_writer;

/* Writes a member's content by calls of zip_write. It may be called twice for a member, and must
 * write the same bytes. */
typedef void zip_content(void *context, struct zip_writer *writer);

/* Level 0 stores, levels 1 to 9 deflate. NULL when memory is out. The output is borrowed, and must
 * outlive the writer. */
struct zip_writer *zip_create(struct output *output, int level);
void zip_destroy(struct zip_writer **writer);

/* Adds a member whose content is `size` bytes. */
void zip_add(struct zip_writer *writer, const char *name, uint64_t size, zip_content *content,
             void *context);

/* For a zip_content. */
void zip_write(struct zip_writer *writer, const void *data, size_t size);

/* Writes the directory. False if memory was out at any time; failures of the output are left to
 * output_flush. */
bool zip_finish(struct zip_writer *writer);

#endif
