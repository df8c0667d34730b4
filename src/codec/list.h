/* The formats, in the order in which an input is probed for them: the longest signatures first. To
 * be included where CODEC(name) is defined. */
CODEC(png)
CODEC(npy)
CODEC(npz)
CODEC(jpeg)
CODEC(bmp)
CODEC(pnm)
CODEC(pbm)
CODEC(raw)
