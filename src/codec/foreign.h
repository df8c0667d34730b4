/* Formats that sluice does not read or not write, but people try: their names and first bytes, so
 * that a fault can say what the file is and which format to use instead. */
#ifndef SLUICE_CODEC_FOREIGN_H
#define SLUICE_CODEC_FOREIGN_H

#include <stddef.h>
#include <stdint.h>

struct foreign {
    const char *name;  /* "TIFF" */
    const char *words; /* its names and extensions in lower case, separated by blanks; NULL: none */
    const char *near;  /* the format to write instead; NULL: none */
    size_t at, size;   /* offset and size of its signature, in bytes; size 0: it has none */
    const char *mark;  /* the signature */
};

/* The format of a file that begins with these bytes, or of that name or extension; NULL: unknown.
 */
const struct foreign *foreign_by_bytes(const uint8_t *data, size_t size);
const struct foreign *foreign_by_word(const char *word, size_t length);

#endif
