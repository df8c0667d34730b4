#include <stdio.h>
#include <stdlib.h>

#include "base/fault.h"
#include "harness.h"
#include "stage/dwt/wavelet.h"

/* Pictures, and what pywt.wavedec2 (PyWavelets 1.1.1; wavelets and modes that it has not, 1.8.0)
 * makes of them, two levels deep: its cH is LH, its cV is HL. The numbers were printed by it; no
 * code of ours had a part in them. */
static const double odd[] = {22,  198, 167, 112, 110, 219, 22,  178, 51,  24,  134, 249,
                             188, 194, 183, 201, 131, 32,  214, 115, 128, 94,  46,  237,
                             200, 164, 103, 210, 139, 113, 115, 58,  23,  141, 227};
static const double even[] = {16,  219, 211, 70,  161, 42,  194, 179, 90,  17,  248, 114,
                              228, 173, 199, 194, 49,  93,  119, 127, 11,  139, 39,  190,
                              174, 236, 190, 93,  247, 105, 83,  231, 94,  19,  120, 203,
                              48,  118, 33,  175, 121, 84,  58,  144, 171, 240, 111, 41};
static const double dot[] = {213};
static const double row[] = {161, 179, 24, 79, 196, 213, 111, 206, 215};
static const double column[] = {99, 229, 73, 61, 174, 163};

static const struct {
    const char *chain;
    const double *in;
    uint32_t width, height;
    const char *plane;
    uint32_t out_width, out_height;
    double expected[160];
} vectors[] = {
    {"dwt:haar:levels=2:mode=periodization",
     odd,
     7,
     5,
     "HL1",
     4,
     3,
     {-24.5, -27.5, -24, 0, 15, 68, 80, 0, 26, 57, -118, 0}},
    {"dwt:haar:levels=2:mode=zero", odd, 7, 5, "LL2", 2, 2, {502.5, 479, 106.25, 97.75}},
    {"dwt:db1:levels=2:mode=symmetric", even, 8, 6, "HH2", 2, 2, {-81, -30.25, 0, 0}},
    {"dwt:db2:levels=2:mode=periodization",
     odd,
     7,
     5,
     "HL1",
     4,
     3,
     {40.4454217, -7.69662412, 109.65774, 9.70128407, -1.88652885, -113.223076, -36.3566423,
      -7.98518622, -92.8409252, 13.7559255, -59.4985387, 93.9271504}},
    {"dwt:db2:levels=2:mode=periodization",
     even,
     8,
     6,
     "LH2",
     2,
     2,
     {13.5685021, -13.7292078, -3.46025471, -36.8278326}},
    {"dwt:db2:levels=2:mode=zero", odd, 7, 5, "HH1", 5, 4, {-124.615766, 70.3102448,  -91.3221821,
                                                            -80.0387748, 9.74343014,  1.74310797,
                                                            -4.23703293, 66.2553675,  -32.4949547,
                                                            5.26425576,  31.7206715,  -0.230140898,
                                                            -79.7285069, 93.5380441,  -16.3385436,
                                                            -7.98469139, -3.21858891, 9.93093014,
                                                            -20.0983984, 3.80152917}},
    {"dwt:db2:levels=2:mode=constant",
     odd,
     7,
     5,
     "LH1",
     5,
     4,
     {-125.487481,    39.8566423,     7.48237298,     -27.7675407,     -117.478185,
      86.1531894,     130.089102,     -101.270032,    -9.57765909,     -57.5288568,
      6.31059009,     2.24765846,     -52.1790834,    -15.686942,      23.5070416,
      2.14764484e-14, 1.19409549e-14, 5.02540146e-15, -9.03779413e-15, -5.02429587e-15}},
    {"dwt:db2:levels=2:mode=symmetric",
     odd,
     7,
     5,
     "LL2",
     4,
     3,
     {417.104681, 434.011092, 611.20033, 419.214982, 470.058961, 456.896379, 631.767951, 480.89577,
      475.306816, 462.035886, 471.854298, 857.849631}},
    {"dwt:db2:levels=2:mode=reflect",
     odd,
     7,
     5,
     "HL2",
     4,
     3,
     {-10.7512871, -77.8492141, 12.6028084, -62.6020564, -23.6606057, -124.581605, 13.0218169,
      -106.585531, 27.8227812, 66.5106015, 16.1812285, 71.7124738}},
    {"dwt:db2:levels=2:mode=periodic",
     odd,
     7,
     5,
     "LH2",
     4,
     3,
     {-30.2771341, 24.2669549, -65.7054524, 24.1672611, 44.8768412, 48.1519953, 13.9898478,
      59.2675536, -30.2771341, 24.2669549, -65.7054524, 24.1672611}},
    {"dwt:db3:levels=2:mode=periodization",
     odd,
     7,
     5,
     "LL2",
     2,
     2,
     {592.195261, 545.858556, 618.964054, 486.7671}},
    {"dwt:db3:levels=2:mode=periodization", dot, 1, 1, "HL1", 1, 1, {7.10542736e-15}},
    {"dwt:db3:levels=2:mode=symmetric",
     dot,
     1,
     1,
     "LL2",
     4,
     4,
     {852, 852, 852, 852, 852, 852, 852, 852, 852, 852, 852, 852, 852, 852, 852, 852}},
    {"dwt:db4:levels=2:mode=symmetric",
     column,
     1,
     6,
     "LL2",
     5,
     6,
     {512.06323,  512.06323,  512.06323,  512.06323,  512.06323,  541.638642,
      541.638642, 541.638642, 541.638642, 541.638642, 461.812842, 461.812842,
      461.812842, 461.812842, 461.812842, 538.142904, 538.142904, 538.142904,
      538.142904, 538.142904, 464.127341, 464.127341, 464.127341, 464.127341,
      464.127341, 678.21504,  678.21504,  678.21504,  678.21504,  678.21504}},
    {"dwt:db4:levels=2:mode=periodic",
     row,
     9,
     1,
     "HL1",
     8,
     4,
     {-67.180149, -110.051307, 98.5990317,  -141.490059, 37.5682698,  67.4743167,  28.2303675,
      4.61580996, -67.180149,  -110.051307, 98.5990317,  -141.490059, 37.5682698,  67.4743167,
      28.2303675, 4.61580996,  -67.180149,  -110.051307, 98.5990317,  -141.490059, 37.5682698,
      67.4743167, 28.2303675,  4.61580996,  -67.180149,  -110.051307, 98.5990317,  -141.490059,
      37.5682698, 67.4743167,  28.2303675,  4.61580996}},
    {"dwt:db20:levels=2:mode=periodization",
     odd,
     7,
     5,
     "LH1",
     4,
     3,
     {70.7020755, 59.8238764, 39.2702657, -123.156215, -0.474507192, -118.908363, 93.9731706,
      114.851154, -14.2135849, -47.1866154, 183.785389, -22.4666466}},
    {"dwt:db7:levels=2:mode=zero",
     row,
     9,
     1,
     "HL2",
     12,
     10,
     {-1.93692165e-06, -5.5637356e-05,  -0.000498159425, -0.00124705899,  -7.71821812e-05,
      -0.000470153451, -0.000101607236, 2.57094467e-05,  3.20070781e-05,  -2.17631153e-05,
      4.146632e-06,    4.55014624e-08,  -1.92847556e-05, -0.000553947452, -0.00495987164,
      -0.0124162109,   -0.000768456226, -0.00468103312,  -0.0010116417,   0.000255973388,
      0.000318675089,  -0.000216682156, 4.1285503e-05,   4.53030499e-07,  1.73950571e-05,
      0.000499666564,  0.0044738576,    0.0111995559,    0.000693155787,  0.00422234226,
      0.000912511702,  -0.000230890751, -0.00028744836,  0.000195449637,  -3.72399681e-05,
      -4.08638386e-07, 0.000122372453,  0.00351510334,   0.0314731321,    0.078787734,
      0.00487628029,   0.0297037473,    0.0064194268,    -0.00162429289,  -0.00202216991,
      0.00137496827,   -0.000261979379, -2.87472939e-06, 0.00129825376,   0.0372918578,
      0.333899592,     0.835861906,     0.0517326331,    0.315128124,     0.0681039299,
      -0.0172321818,   -0.0214532733,   0.0145870879,    -0.00277934866,  -3.04981075e-05,
      -0.00998889247,  -0.286927232,    -2.56905638,     -6.43120393,     -0.398035981,
      -2.42462686,     -0.523998353,    0.132586106,     0.1650636,       -0.112234493,
      0.0213845827,    0.000234655447,  0.0318773453,    0.91566492,      8.19857633,
      20.5237677,      1.27024397,      7.7376614,       1.67222507,      -0.423119288,
      -0.526764043,    0.358171607,     -0.068244175,    -0.000748851059, -0.06344018,
      -1.82229564,     -16.3162633,     -40.8450422,     -2.52795536,     -15.3989809,
      -3.32795151,     0.842063966,     1.04833089,      -0.712809395,    0.135815034,
      0.00149031375,   -0.0843510995,   -2.42295405,     -21.6943701,     -54.3082353,
      -3.36121074,     -20.4747366,     -4.42489869,     1.119622,        1.39387787,
      -0.947763015,    0.180581888,     0.0019815455,    -0.0015275217,   -0.0438774944,
      -0.392865314,    -0.983472753,    -0.0608684697,   -0.370778859,    -0.0801308912,
      0.0202753363,    0.0252418607,    -0.0171631263,   0.00327017377,   3.5883987e-05}},
    {"dwt:sym4:levels=2:mode=symmetric",
     even,
     8,
     6,
     "HL2",
     7,
     6,
     {-173.876119, -95.7939237, 178.525216,  131.422608,  -107.806076, 58.8836989,  8.64459613,
      -166.14092,  -96.3455419, 184.621638,  113.293133,  -72.8609774, 43.9653232,  -6.53265572,
      -76.1613214, -37.8444282, 74.486738,   43.2211049,  -94.3741832, 41.037738,   49.6343519,
      57.4116275,  1.87516078,  -2.21072187, -105.513051, 37.9964573,  -31.3219394, 41.7624672,
      -14.8852283, -7.35888495, 14.1647535,  -10.64856,   -88.5615952, 30.2770051,  77.0125098,
      32.4863828,  0.55738799,  5.38789737,  -77.9735754, 8.19122365,  -15.3837496, 46.7344332}},
    {"dwt:sym5:levels=2:mode=periodization",
     odd,
     7,
     5,
     "HH2",
     2,
     2,
     {37.3325267, 164.126857, 1.32863843, -9.40083303}},
    {"dwt:sym20:levels=2:mode=periodization",
     even,
     8,
     6,
     "LL2",
     2,
     2,
     {472.99784, 574.83568, 495.097505, 507.806225}},
    {"dwt:coif1:levels=2:mode=periodization",
     odd,
     7,
     5,
     "HL1",
     4,
     3,
     {-54.5162235, 25.053231, -109.22069, 3.81685928, 23.6968417, 86.5348397, 78.6660313,
      -7.99763484, 60.7681109, 7.53525046, 11.3443238, -73.6809396}},
    {"dwt:coif1:levels=2:mode=constant",
     row,
     9,
     1,
     "LL2",
     6,
     4,
     {642.625009, 677.448597, 434.619134, 711.955055, 876.35588, 860,
      642.625009, 677.448597, 434.619134, 711.955055, 876.35588, 860,
      642.625009, 677.448597, 434.619134, 711.955055, 876.35588, 860,
      642.625009, 677.448597, 434.619134, 711.955055, 876.35588, 860}},
    {"dwt:coif5:levels=2:mode=periodization", dot, 1, 1, "LL2", 1, 1, {852}},
    {"dwt:bior1.3:levels=2:mode=periodization", odd, 7, 5, "LH2", 2, 2, {-65.125, -27.625, 0, 0}},
    {"dwt:bior2.2:levels=2:mode=zero",
     odd,
     7,
     5,
     "HH2",
     5,
     5,
     {0.0859375,   -2.9140625,  1.234375,    -1.96875,    0,
      -3.31640625, -76.5585938, 2.33203125,  -2.83203125, 0,
      1.3125,      -28.3671875, -169.476562, -83.28125,   0,
      0.54296875,  4.52734375,  -8.21484375, -8.10546875, 0,
      0,           0,           0,           0,           0}},
    {"dwt:bior3.1:levels=2:mode=symmetric",
     odd,
     7,
     5,
     "HL1",
     5,
     4,
     {-1.42108547e-14,
      -64,
      -44.375,
      -197.75,
      197.75,
      0,
      -35.75,
      141.3125,
      51.375,
      -51.375,
      -1.77635684e-15,
      102.125,
      -46.625,
      50.5,
      -50.5,
      -1.77635684e-15,
      102.125,
      -46.625,
      50.5,
      -50.5}},
    {"dwt:bior4.4:levels=2:mode=periodization",
     odd,
     7,
     5,
     "HH1",
     4,
     3,
     {-71.5199426, 68.6908366, -61.3438572, 12.2909515, -75.2318153, 43.3634718, -27.146108,
      42.7099909, -27.6170189, 3.08127204, -48.2931001, 4.01531935}},
    {"dwt:bior5.5:levels=2:mode=reflect",
     even,
     8,
     6,
     "HL2",
     10,
     9,
     {74.9874372,  -36.3112147, -52.9139282, -36.3112147, 74.9874372,  -38.8313347, 52.4865991,
      -38.8313347, 74.9874372,  -36.3112147, 41.0681355,  -27.2790187, -30.1835305, -27.2790187,
      41.0681355,  70.6644338,  9.2551543,   70.6644338,  41.0681355,  -27.2790187, 56.8663125,
      -27.6431829, -50.5609791, -27.6431829, 56.8663125,  16.9778326,  40.4016862,  16.9778326,
      56.8663125,  -27.6431829, 56.8663125,  -27.6431829, -50.5609791, -27.6431829, 56.8663125,
      16.9778326,  40.4016862,  16.9778326,  56.8663125,  -27.6431829, 41.0681355,  -27.2790187,
      -30.1835305, -27.2790187, 41.0681355,  70.6644338,  9.2551543,   70.6644338,  41.0681355,
      -27.2790187, 74.9874372,  -36.3112147, -52.9139282, -36.3112147, 74.9874372,  -38.8313347,
      52.4865991,  -38.8313347, 74.9874372,  -36.3112147, 32.8535454,  -14.259346,  -52.2778859,
      -14.259346,  32.8535454,  89.604534,   29.8252651,  89.604534,   32.8535454,  -14.259346,
      74.9874372,  -36.3112147, -52.9139282, -36.3112147, 74.9874372,  -38.8313347, 52.4865991,
      -38.8313347, 74.9874372,  -36.3112147, 41.0681355,  -27.2790187, -30.1835305, -27.2790187,
      41.0681355,  70.6644338,  9.2551543,   70.6644338,  41.0681355,  -27.2790187}},
    {"dwt:bior6.8:levels=2:mode=periodization",
     even,
     8,
     6,
     "LH1",
     4,
     3,
     {18.9945686, 9.24312387, -117.250235, -68.0414927, -151.477139, -72.6400671, -83.688526,
      -20.1153224, 12.6867794, 97.9232205, -104.991533, 17.856623}},
    {"dwt:rbio1.5:levels=2:mode=periodization", odd, 7, 5, "LL2", 2, 2, {502.5, 617.5, 425, 618}},
    {"dwt:rbio2.2:levels=2:mode=symmetric",
     odd,
     7,
     5,
     "HL2",
     5,
     5,
     {-21.9765625, 50.9453125, -95.625,    -54.578125, 87.4765625, -2.9453125,  4.0234375,
      -114.640625, -54.015625, 74.5859375, -4.8671875, 7.6796875,  -5.734375,   -5.0390625,
      -27.5546875, 1.1953125,  24.1015625, 93.78125,   50.15625,   -142.976562, 7.59375,
      -13,         97.46875,   45.6015625, -153.78125}},
    {"dwt:rbio3.1:levels=2:mode=constant",
     column,
     1,
     6,
     "LH1",
     2,
     4,
     {65, 65, -253, -253, 214.5, 214.5, -5.5, -5.5}},
    {"dwt:db2:levels=1:mode=smooth",
     odd,
     7,
     5,
     "HL1",
     5,
     4,
     {-5.68434189e-14, 281.240979,  -365.288729, 149.251887,  2.13162821e-13,
      -3.55271368e-15, -52.1942194, 62.0828539,  11.4367925,  2.13162821e-14,
      -7.10542736e-15, 87.8903718,  62.1802858,  -28.1435935, -2.13162821e-14,
      2.13162821e-14,  -13.5243927, -188.040017, 29.0614872,  1.42108547e-14}},
    {"dwt:db3:levels=2:mode=antisymmetric",
     odd,
     7,
     5,
     "HL1",
     6,
     5,
     {-262.620202, 46.9617941,  -132.89897,  -174.419634, -61.719846,  -110.383143,
      -99.7902722, 50.5108452,  -36.7023712, -26.1713918, 28.1392043,  -40.2205874,
      212.92471,   -104.159952, 121.484969,  48.8425535,  -9.18587788, 95.8798071,
      211.658191,  51.3449552,  -12.5984676, 314.285577,  47.9042125,  39.6651105,
      -62.1724266, -44.6576419, 60.7148403,  -162.537105, -5.1376929,  15.058813}},
    {"dwt:db2:levels=2:mode=antisymmetric",
     row,
     9,
     1,
     "HH1",
     6,
     2,
     {152, -111.77147, 56.9544827, -112.774991, 315.581668, -139.081668, 152, -111.77147,
      56.9544827, -112.774991, 315.581668, -139.081668}},
    {"dwt:db2:levels=2:mode=antireflect",
     odd,
     7,
     5,
     "HL2",
     4,
     3,
     {-575.621124, 458.146201, 400.73146, -283.256537, -85.7915923, 14.1915509, 121.098172,
      -49.4981306, -16.9369697, -247.630426, -33.9038354, 298.471231}},
    {"dwt:coif17:levels=2",
     even,
     8,
     6,
     "HL2",
     2,
     2,
     {-29.9241671, -14.5232952, -41.0199324, -86.8244184}},
    {"dwt:dmey:levels=1",
     even,
     8,
     6,
     "LL1",
     4,
     3,
     {149.937177, 288.719838, 282.527086, 342.772544, 271.323961, 301.851831, 232.076116,
      290.806934, 266.087411, 225.979231, 294.751222, 184.11015}},
};

static void pywavelets(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof vectors / sizeof *vectors; i++) {
        const struct harness_plane expected[] = {{.name = vectors[i].plane,
                                                  .width = vectors[i].out_width,
                                                  .height = vectors[i].out_height,
                                                  .samples = vectors[i].expected},
                                                 {0}};
        harness_planes(vectors[i].chain, SAMPLE_U8, vectors[i].width, vectors[i].height, 1,
                       vectors[i].in, SAMPLE_F32, false, expected, 1e-3);
    }
}

static void vector(const char *chain, uint32_t width, uint32_t height, const double *in,
                   const char *plane, enum sample_type type, uint32_t out_width,
                   uint32_t out_height, const double *expected)
{
    const struct harness_plane planes[] = {
        {.name = plane, .width = out_width, .height = out_height, .samples = expected}, {0}};
    harness_planes(chain, SAMPLE_U8, width, height, 1, in, type, false, planes, 1e-4);
}

#define EXPECT(chain, w, h, in, plane, type, ow, oh, ...)                                          \
    vector(chain, w, h, in, plane, type, ow, oh, (const double[]){__VA_ARGS__})

/* Worked out by hand from ISO/IEC 15444-1 F.3.8.1: high = x[2n+1] - (x[2n] + x[2n+2]) / 2, low =
 * x[2n] + (high[n-1] + high[n]) / 4, rounded down (low after adding 2/4) in the reversible form. */
static void jpeg2000(void **state)
{
    static const double line[] = {10, 20, 40, 80, 60}, pair[] = {7, 200}, one[] = {77};
    static const double square[] = {1, 2, 3, 4};
    (void)state;
    /* high: 20 - 25 = -5, 80 - 50 = 30; low: 10 - 2.5, 40 + 6.25, 60 + 15 */
    EXPECT("dwt:cdf53:levels=1", 5, 1, line, "LL1", SAMPLE_F32, 3, 1, 7.5, 46.25, 75);
    EXPECT("dwt:cdf53:levels=1", 5, 1, line, "HL1", SAMPLE_F32, 2, 1, -5, 30);
    EXPECT("dwt:cdf53:levels=1", 1, 5, line, "LL1", SAMPLE_F32, 1, 3, 7.5, 46.25, 75);
    EXPECT("dwt:cdf53:levels=1", 1, 5, line, "LH1", SAMPLE_F32, 1, 2, -5, 30);
    /* low: 10 + floor((-5 - 5 + 2) / 4) = 8, 40 + floor(27 / 4) = 46, 60 + floor(62 / 4) = 75 */
    EXPECT("dwt:cdf53:levels=1:precision=reversible", 5, 1, line, "LL1", SAMPLE_I32, 3, 1, 8, 46,
           75);
    EXPECT("dwt:cdf53:levels=1:precision=reversible", 5, 1, line, "HL1", SAMPLE_I32, 2, 1, -5, 30);
    EXPECT("dwt:cdf53:levels=1:precision=reversible", 1, 5, line, "LH1", SAMPLE_I32, 1, 2, -5, 30);
    EXPECT("dwt:cdf53:levels=1", 2, 1, pair, "HL1", SAMPLE_F32, 1, 1, 193);
    EXPECT("dwt:cdf53:levels=1", 2, 1, pair, "LL1", SAMPLE_F32, 1, 1, 103.5);
    EXPECT("dwt:cdf53:levels=12", 1, 1, one, "LL12", SAMPLE_F32, 1, 1, 77);
    EXPECT("dwt:cdf97:levels=12", 1, 1, one, "LL12", SAMPLE_F32, 1, 1, 77);
    EXPECT("dwt:cdf53:levels=3:precision=reversible", 1, 1, one, "LL3", SAMPLE_I32, 1, 1, 77);
    /* columns first: high 3 - 1 = 2, 4 - 2 = 2; low 1 + 1, 2 + 1; then rows */
    EXPECT("dwt:cdf53:levels=1:precision=reversible", 2, 2, square, "LL1", SAMPLE_I32, 1, 1, 3);
    EXPECT("dwt:cdf53:levels=1:precision=reversible", 2, 2, square, "HL1", SAMPLE_I32, 1, 1, 1);
    EXPECT("dwt:cdf53:levels=1:precision=reversible", 2, 2, square, "LH1", SAMPLE_I32, 1, 1, 2);
    EXPECT("dwt:cdf53:levels=1:precision=reversible", 2, 2, square, "HH1", SAMPLE_I32, 1, 1, 0);
}

/* An impulse shows the taps: index 0, 1, 2 … of the table in ISO/IEC 15444-1 (synthesis: table
 * F.4's lifting multiplied out), away from the ends. */
static void impulse(void **state)
{
    double x[33] = {0};
    (void)state;
    x[16] = 1; /* low[n] has tap 16 - 2n, high[n] tap 15 - 2n */
    EXPECT("dwt:cdf97:levels=1", 33, 1, x, "LL1", SAMPLE_F32, 17, 1, 0, 0, 0, 0, 0, 0,
           0.026748757411, -0.078223266529, 0.602949018236, -0.078223266529, 0.026748757411, 0, 0,
           0, 0, 0, 0);
    EXPECT("dwt:cdf97:levels=1", 33, 1, x, "HL1", SAMPLE_F32, 16, 1, 0, 0, 0, 0, 0, 0,
           0.091271763114, -0.591271763114, -0.591271763114, 0.091271763114, 0, 0, 0, 0, 0, 0);
    x[16] = 0;
    x[17] = 1;
    EXPECT("dwt:cdf97:levels=1", 33, 1, x, "LL1", SAMPLE_F32, 17, 1, 0, 0, 0, 0, 0, 0, 0,
           -0.016864118443, 0.266864118443, 0.266864118443, -0.016864118443, 0, 0, 0, 0, 0, 0);
    EXPECT("dwt:cdf97:levels=1", 1, 33, x, "LH1", SAMPLE_F32, 1, 16, 0, 0, 0, 0, 0, 0, 0,
           -0.057543526228, 1.115087052457, -0.057543526228, 0, 0, 0, 0, 0, 0, 0);
}

static void samples(void **state)
{
    (void)state;
    harness_sweep("dwt", SAMPLE_U8, 1);
    harness_sweep("dwt:cdf53:levels=2:precision=reversible", SAMPLE_U16, 1);
    harness_sweep("dwt:db3:levels=2:mode=symmetric", SAMPLE_U8, 1);
    /* beyond what one work-item lifts: 32 rows, 2048 columns of a band */
    harness_check("dwt:levels=2", SAMPLE_U8, 70, 167, 1, HARNESS_RANDOM);
    /* beyond a tile, and work-groups with no row's end near */
    harness_check("dwt:levels=1", SAMPLE_U8, 1613, 21, 1, HARNESS_RANDOM);
    harness_check("dwt:db4:levels=2:mode=reflect", SAMPLE_U8, 611, 43, 1, HARNESS_RANDOM);
    harness_check("dwt:cdf53:levels=1", SAMPLE_F32, 4133, 9, 1, HARNESS_EXTREMES);
    harness_check("dwt:cdf53:levels=2:precision=reversible", SAMPLE_U8, 65, 130, 1, HARNESS_RANDOM);
    harness_few("dwt:precision=double", SAMPLE_U8, 1);
    harness_few("dwt:cdf53", SAMPLE_F32, 1);
    harness_few("dwt:levels=2", SAMPLE_U8, 3);
    harness_few("dwt:db2:levels=2", SAMPLE_U8, 4);
    harness_few("dwt:bior2.2:levels=2:mode=zero", SAMPLE_U8, 2);
    harness_few("dwt:db2:levels=2:mode=smooth", SAMPLE_U8, 1);
    harness_few("dwt:db3:levels=1:mode=antisymmetric", SAMPLE_U16, 3);
    harness_few("dwt:sym4:levels=2:mode=antireflect", SAMPLE_U8, 2);
    harness_few("dwt:db2:levels=1:mode=antireflect:precision=double", SAMPLE_F32, 1);
    harness_few("dwt:bior2.2:levels=2:mode=smooth:precision=double", SAMPLE_U16, 1);
    harness_few("dwt:coif17:levels=1", SAMPLE_U8, 1);
    harness_few("dwt:bior4.4:levels=2:precision=double", SAMPLE_U16, 1);
}

static void refusals(void **state)
{
    (void)state;
    harness_refuses("dwt:cdf97:mode=zero", SAMPLE_U8, 8, 8, 1, FAULT_CHAIN, "mode=jpeg2000");
    harness_refuses("dwt:db2:mode=jpeg2000", SAMPLE_U8, 8, 8, 1, FAULT_CHAIN, "db2");
    harness_refuses("dwt:db2:precision=reversible", SAMPLE_U8, 8, 8, 1, FAULT_CHAIN, "cdf53");
    harness_refuses("dwt:db39", SAMPLE_U8, 8, 8, 1, FAULT_CHAIN, "did you mean");
    harness_refuses("dwt:levels=0", SAMPLE_U8, 8, 8, 1, FAULT_CHAIN, "levels");
    harness_refuses("dwt:cdf53:precision=reversible", SAMPLE_F32, 8, 8, 1, FAULT_SHAPE, "f32");
    harness_refuses("idwt", SAMPLE_U8, 8, 8, 1, FAULT_SHAPE, "dwt");
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(jpeg2000),   cmocka_unit_test(impulse),
        cmocka_unit_test(pywavelets), cmocka_unit_test(samples),
        cmocka_unit_test(refusals),   cmocka_unit_test(harness_enough_vectors),
    };
    return HARNESS_MAIN(tests);
}
