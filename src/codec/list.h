/* The formats, in the order in which they are tried: the longest signatures first. Included where
 * CODEC(name) is defined. */
CODEC(png)
CODEC(npy)
CODEC(npz)
CODEC(jpeg)
CODEC(bmp)
CODEC(pnm)
CODEC(pbm)
CODEC(raw)
