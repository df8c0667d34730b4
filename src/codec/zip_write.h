/* ZIP archives written as a stream: no byte is gone back to, so that they may go to a pipe, and no
 * more is kept than the directory. Sizes are of 64 bits throughout. (libzip, which reads them, only
 * writes where it can seek.)
 *
 * The format: APPNOTE.TXT of PKWARE, version 6.3.10, sections 4.3 to 4.5. */
#ifndef SLUICE_CODEC_ZIP_WRITE_H
#define SLUICE_CODEC_ZIP_WRITE_H

#include "base/text.h"
#include "codec/output.h"

struct zip_writer;

/* Writes a member's content by zip_write. It may be asked twice, and must say the same. */
typedef void zip_content(void *context, struct zip_writer *writer);

/* Level 0 stores, 1 to 9 deflate. NULL when memory is out. The output is borrowed. */
struct zip_writer *zip_create(struct output *output, int level);
void zip_destroy(struct zip_writer **writer);

/* Adds a member whose content is `size` bytes. */
void zip_add(struct zip_writer *writer, const char *name, uint64_t size, zip_content *content,
             void *context);

/* For a zip_content. */
void zip_write(struct zip_writer *writer, const void *data, size_t size);

/* Writes the directory. False when memory was out on the way; what the output could not take is
 * told by output_flush. */
bool zip_finish(struct zip_writer *writer);

#endif
