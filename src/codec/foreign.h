/* Formats that people try and sluice does not read, or does not write: what files of them begin
 * with, and what they are called. */
#ifndef SLUICE_CODEC_FOREIGN_H
#define SLUICE_CODEC_FOREIGN_H

#include <stddef.h>
#include <stdint.h>

struct foreign {
    const char *name; /* "TIFF" */
    const char
        *words; /* names and extensions that mean it, small, separated by blanks; NULL: none */
    const char *near; /* the format that comes nearest when it is to be written; NULL: none */
    size_t at, size;  /* where the mark stands, and its bytes; 0: it has none */
    const char *mark;
};

/* What a file that begins so is, and what a format of that name or extension is; NULL: unknown. */
const struct foreign *foreign_by_bytes(const uint8_t *data, size_t size);
const struct foreign *foreign_by_word(const char *word, size_t length);

#endif
