#include "codec/fit.h"

int fit_type(const char *format, enum fit_depth depth, struct plane *plane, struct fault *fault)
{
    switch (plane->type) {
    case SAMPLE_U8:
    case SAMPLE_I8:
        plane->type = SAMPLE_U8;
        return 0;
    case SAMPLE_F32:
    case SAMPLE_F64:
        plane->type = depth == FIT_8 || plane_white(plane) <= 255 ? SAMPLE_U8 : SAMPLE_U16;
        return 0;
    case SAMPLE_U16:
    case SAMPLE_I16:
        plane->type = depth == FIT_8 ? SAMPLE_U8 : SAMPLE_U16;
        return 0;
    default:
        return fault_set(fault, FAULT_SHAPE,
                         "%s holds no samples of type %s; end the chain with convert:type=u8 or "
                         "convert:type=u16, or write npy",
                         format, sample_name(plane->type));
    }
}
