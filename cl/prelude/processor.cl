/* Of kernels for CPUs. Without the first attribute LLVM uses two instructions for each operation on 512 bits. On native,
 * functions that are CALLED are not compiled into each kernel that calls them. */
#ifdef __AVX512BW__
#define VECTORS_OF_512_BITS __attribute__((min_vector_width(512)))
#else
#define VECTORS_OF_512_BITS
#endif
#ifdef NATIVE
#define CALLED __attribute__((noinline))
#else
#define CALLED
#endif

/* Prefetches an address; stores an aligned vector that is not read soon, without filling the caches. */
#ifdef __clang__
#define FETCH_AHEAD(p)   __builtin_prefetch((const void *)(size_t)(p))
#define STORE_PAST(v, p) __builtin_nontemporal_store(v, p)
#else
#define FETCH_AHEAD(p)
#define STORE_PAST(v, p) (*(p) = (v))
#endif
