#include "codec/foreign.h"

#include <string.h>

#include "base/nearest.h"

#define MARK(at, text) at, sizeof text - 1, text
#define NO_MARK        0, 0, NULL

/* The first row that fits counts. Codecs are asked before this table, so remove a format's rows
 * when it gets a codec. */
static const struct foreign foreigns[] = {
    {"TIFF", "tiff tif bigtiff geotiff", "png", MARK(0, "II*\0")},
    {"TIFF", NULL, NULL, MARK(0, "MM\0*")},
    {"TIFF", NULL, NULL, MARK(0, "II+\0")},
    {"TIFF", NULL, NULL, MARK(0, "MM\0+")},
    {"WebP", "webp", "jpg", MARK(8, "WEBP")},
    {"AVIF", "avif avifs", "jpg", MARK(4, "ftypavif")},
    {"AVIF", NULL, NULL, MARK(4, "ftypavis")},
    {"HEIC", "heic heif hif", "jpg", MARK(4, "ftyphei")},
    {"HEIC", NULL, NULL, MARK(4, "ftyphev")},
    {"HEIC", NULL, NULL, MARK(4, "ftypmif1")},
    {"HEIC", NULL, NULL, MARK(4, "ftypmsf1")},
    {"GIF", "gif", "png", MARK(0, "GIF8")},
    {"PDF", "pdf", "png", MARK(0, "%PDF-")},
    {"PostScript", "ps eps", "png", MARK(0, "%!PS")},
    {"SVG", "svg svgz", "png", MARK(0, "<svg")},
    {"XML", NULL, NULL, MARK(0, "<?xml")},
    {"HTML", NULL, NULL, MARK(0, "<!DOCTYPE")},
    {"HTML", NULL, NULL, MARK(0, "<html")},
    {"JPEG 2000", "jp2 j2k j2c jpf jpx jpeg2000", "jpg", MARK(4, "jP  \r\n\x87\n")},
    {"JPEG 2000", NULL, NULL, MARK(0, "\xFF\x4F\xFF\x51")},
    {"JPEG XL", "jxl jpegxl", "jpg", MARK(4, "JXL \r\n\x87\n")},
    {"JPEG XL", NULL, NULL, MARK(0, "\xFF\x0A")},
    {"JPEG XR", "jxr hdp wdp", "jpg", MARK(0, "II\xBC")},
    {"OpenEXR", "exr openexr", "npy", MARK(0, "\x76\x2F\x31\x01")},
    {"Radiance HDR", "hdr rgbe", "npy", MARK(0, "#?R")},
    {"PFM", "pfm", "npy", MARK(0, "PF\n")},
    {"PFM", NULL, NULL, MARK(0, "Pf\n")},
    {"PAM", "pam", "png", MARK(0, "P7\n")},
    {"APNG", "apng", "png", NO_MARK},
    {"QOI", "qoi", "png", MARK(0, "qoif")},
    {"Photoshop", "psd psb", "png", MARK(0, "8BPS")},
    {"XCF", "xcf", "png", MARK(0, "gimp xcf")},
    {"ICO", "ico cur", "png", MARK(0, "\0\0\1\0")},
    {"Targa", "tga targa", "png", NO_MARK},
    {"PCX", "pcx", "png", NO_MARK},
    {"camera raw", "dng cr2 cr3 nef arw orf rw2 raf pef srw", "png", MARK(0, "FUJIFILM")},
    {"camera raw", NULL, NULL, MARK(4, "ftypcrx")},
    {"DICOM", "dcm dicom", "png", MARK(128, "DICM")},
    {"FITS", "fits fit fts", "npy", MARK(0, "SIMPLE  =")},
    {"HDF5", "h5 hdf5 nc", "npz", MARK(0, "\x89HDF\r\n\x1A\n")},
    {"MATLAB", "mat", "npz", MARK(0, "MATLAB")},
    {"MP4 or QuickTime film", "mp4 mov m4v", NULL, MARK(4, "ftyp")},
    {"Matroska or WebM film", "mkv webm", NULL, MARK(0, "\x1A\x45\xDF\xA3")},
    {"AVI film", "avi", NULL, MARK(8, "AVI ")},
    {"gzip", "gz", NULL, MARK(0, "\x1F\x8B")},
    {"zstd", "zst", NULL, MARK(0, "\x28\xB5\x2F\xFD")},
    {"xz", "xz", NULL,
     MARK(0, "\xFD"
             "7zXZ")},
    {"bzip2", "bz2", NULL, MARK(0, "BZh")},
    {NULL, NULL, NULL, NO_MARK},
};

const struct foreign *foreign_by_bytes(const uint8_t *data, size_t size)
{
    for (const struct foreign *f = foreigns; f->name; f++)
        if (f->size > 0 && size >= f->at + f->size && memcmp(data + f->at, f->mark, f->size) == 0)
            return f;
    return NULL;
}

const struct foreign *foreign_by_word(const char *word, size_t length)
{
    for (const struct foreign *f = foreigns; f->name; f++)
        if (nearest_lists(f->words, word, length))
            return f;
    return NULL;
}
