/* The planes of a kernel that does all of a level, as parameters and as what one function hands to the next. */
#pragma kernel analysis
#define PLANES                                                                                     \
    PLANE_IN(SRC, src), PLANE_OUT(WORK, ll), PLANE_OUT(WORK, hl), PLANE_OUT(WORK, lh),             \
        PLANE_OUT(WORK, hh)
#define PLANE_ARGUMENTS                                                                            \
    src_base, src_offset, src_stride, ll_base, ll_offset, ll_stride, hl_base, hl_offset,           \
        hl_stride, lh_base, lh_offset, lh_stride, hh_base, hh_offset, hh_stride
#pragma kernel synthesis
#define PLANES                                                                                     \
    PLANE_IN(WORK, ll), PLANE_IN(WORK, hl), PLANE_IN(WORK, lh), PLANE_IN(WORK, hh),                \
        PLANE_OUT(DST, dst)
#define PLANE_ARGUMENTS                                                                            \
    ll_base, ll_offset, ll_stride, hl_base, hl_offset, hl_stride, lh_base, lh_offset, lh_stride,   \
        hh_base, hh_offset, hh_stride, dst_base, dst_offset, dst_stride
#pragma kernel
