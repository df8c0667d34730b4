/* Second pictures, whose files a configuration names, decoded for the stages that take them. */
#ifndef SLUICE_CODEC_PICTURES_H
#define SLUICE_CODEC_PICTURES_H

#include "bank/definitions.h"
#include "codec/codec.h"

/* Decodes all pictures that have none yet, within the limits, which those of all together keep;
 * then lets go of the files' bytes. Appends a line for each that cannot be read, which begins with
 * what its definition says of the place; returns the code of the first one. */
int codec_read_pictures(struct definitions *definitions, const struct codec_limits *limits,
                        struct text *errors);

#endif
