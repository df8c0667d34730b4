/* Each lane of v looked up in a table, whose first byte `table` points to. */
#define LOOK_UP(type, table, v) CAT(LOOK_UP_, LANES)(type, (__global const type *)(table), v)
#define LOOK_UP_(type, t, v)    (t)[v]
#define LOOK_UP_4(type, t, v)                                                                      \
    (CAT(type, 4))((t)[(v).s0], (t)[(v).s1], (t)[(v).s2], (t)[(v).s3])
#define LOOK_UP_8(type, t, v)   (CAT(type, 8))(LOOK_UP_4(type, t, (v).lo), LOOK_UP_4(type, t, (v).hi))
#ifdef NATIVE
#define LOOK_UP_16(type, t, v)  look_up(t, v)
#define LOOK_UP_32(type, t, v)  look_up(t, v)
#else
#define LOOK_UP_16(type, t, v)  (CAT(type, 16))(LOOK_UP_8(type, t, (v).lo), LOOK_UP_8(type, t, (v).hi))
#endif
