/* The formats, in the order in which they are tried. Included where CODEC(name) is defined. */
CODEC(pnm)
