#include "chain/tried.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

#include "base/nearest.h"
#include "stage/stage.h"

/* The table is used for names that no stage has; the row of a name that becomes a stage is no
 * longer used. */
const struct tried tried_stages[] = {
    {"grey gray greyscale grayscale monochrome mono luma desaturate bw rgb2gray", "luminance",
     NULL},
    {"blur gaussian gaussianblur smooth lowpass", "gauss:1.5", "or box:radius=4 for a mean"},
    {"mean average avg uniform boxblur boxfilter meanblur", "box:radius=4", NULL},
    {"negative negate inverse complement", "invert", NULL},
    {"edges edge edgedetect findedges gradient prewitt scharr", "luminance,sobel:scale=1",
     "or canny:100:200 for lines"},
    {"sharpen sharp unsharpmask usm", "unsharp:1", "or fir:sharpen for a window of 3 by 3"},
    {"laplacian laplace", "fir:laplacian", NULL},
    {"emboss", "fir:emboss", NULL},
    {"conv convolve convolution conv2d filter filter2d kernel correlate", "fir:1_2_1/2_4_2/1_2_1",
     "with the numbers of your own"},
    {"denoise noise nr bilateral nlmeans wiener", "dwt:db4:levels=4,shrink:threshold=bayes,idwt",
     NULL},
    {"wavelet wavelets dwt2 wavedec wavedec2 fwt", "dwt:db4:levels=3", NULL},
    {"waverec waverec2 idwt2 iwt iswt iswt2", "idwt", NULL},
    {"swt swt2 modwt atrous stationary undecimated", "dwt:db4:levels=3:stationary=1",
     "whose bands keep all samples"},
    {"filterbank", "analysis:cdf97", NULL},
    {"binarize binarise binary bilevel otsu", "threshold:otsu", NULL},
    {"multiply mul brightness brighten contrast add offset bias", "gain:1.5:offset=-20", NULL},
    {"cast astype type depth float float32 uint8 u8 u16 f32", "convert:type=f32", NULL},
    {"absolute magnitude fabs", "abs", NULL},
    {"scale", "gain:0.5", "which multiplies samples; resize changes the size"},
    {"rescale thumbnail thumb zoom enlarge reduce downscale upscale downsample upsample",
     "resize:640", "to at most 640 pixels across"},
    {"cut clip trim roi extract", "crop:0:0:640:480", "where it begins and how large it is"},
    {"turn transpose", "rotate:90",
     "clockwise; the orientation in Exif data is applied when it is read"},
    {"mirror flop fliplr", "flip:x", "and flip:y for top and bottom"},
    {"flipud", "flip:y", NULL},
    {"border extend", "pad:5:5:5:5", "with a background or a border"},
    {"medianblur rank despeckle", "median", NULL},
    {"gamma level curve tone", "levels:gamma=2", "or levels:20:235 for black and white"},
    {"normalise stretch autolevel", "normalize", NULL},
    {"equalise equalizehist histeq", "equalize", NULL},
    {"hist calchist", "histogram", NULL},
    {"stats percentile minmax", "statistics", NULL},
    {"absdiff diff", "difference:@before", "a picture that --define or pictures: names"},
    {"overlay watermark composite logo", "blend:@logo",
     "a picture that --define or pictures: names"},
    {"flatfield flat", "divide:@flat", "a picture that --define or pictures: names"},
    {"darkframe dark minus sub", "subtract:@dark", "a picture that --define or pictures: names"},
    {"color recomb colormatrix saturation sepia",
     "colour:0.393_0.769_0.189/0.349_0.686_0.168/0.272_0.534_0.131", "with a matrix of your own"},
    {"hsv hsl lab ycbcr yuv colorspace hue", NULL,
     "no stage changes the colour space; colour mixes red, green and blue"},
    {"adaptive adaptivethreshold", "threshold:local", NULL},
    {"morphology opening", "open:3", "and close, erode, dilate"},
    {"erosion minimum", "erode:3", NULL},
    {"dilation maximum", "dilate:3", NULL},
    {"closing", "close:3", NULL},
    {"fft dft dct fourier", NULL, "dwt and analysis are the transforms that there are"},
    {NULL, NULL, NULL},
};

static void print_stages(const char *name, size_t length, struct text *text)
{
    struct nearest nearest = {0};
    struct text all = {0};
    char small[64];
    snprintf(small, sizeof small, "%.*s", (int)(length < sizeof small ? length : 0), name);
    for (char *c = small; *c; c++)
        *c = (char)tolower((unsigned char)*c);
    for (const struct stage *const *s = stage_registry; *s; s++) {
        if ((*s)->internal)
            continue;
        nearest_offer(&nearest, small, strlen(small), (*s)->name);
        text_printf(&all, "%s%s", all.length ? ", " : "", (*s)->name);
    }
    if (nearest.best)
        text_printf(text, "; did you mean '%s'? (there are %s)", nearest.best, text_string(&all));
    else
        text_printf(text, "; there are %s", text_string(&all));
    text_finish(&all);
}

void tried_explain(const char *name, size_t length, struct text *text)
{
    const struct tried *tried = tried_stages;
    while (tried->names && !nearest_lists(tried->names, name, length))
        tried++;
    text_printf(text, "unknown stage '%.*s'", (int)(length > 60 ? 60 : length), name);
    struct plane size;
    char small[24] = "";
    if (length < sizeof small)
        memcpy(small, name, length);
    if (plane_parse_size(small, &size) && strchr(small, 'x') == strrchr(small, 'x'))
        text_printf(text, "; a size is resize:%u:%u, or resize:%u:%u:fit=cover to cut what is over",
                    size.width, size.height, size.width, size.height);
    else if (isdigit((unsigned char)name[0]))
        text_append(text,
                    "; a comma ends a stage: decimals have a point (1.5), and lists are joined "
                    "by _ (1_2_1)");
    else if (!tried->names)
        print_stages(name, length, text);
    else if (!tried->chain)
        text_printf(text, "; sluice has none: %s", tried->advice);
    else
        text_printf(text, "; sluice calls it %s%s%s", tried->chain, tried->advice ? ", " : "",
                    tried->advice ? tried->advice : "");
}
