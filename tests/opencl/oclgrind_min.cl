/* What Oclgrind makes wrong (21.10, and as of March 2026): min, max and clamp of a vector of whole numbers and a
 * scalar take what lies behind the scalar in memory for all lanes but the first. With this file as oclgrind_min.sim's
 * kernel, `oclgrind-kernel oclgrind_min.sim` should print 0 to 7. Kernels here have vectors there. */
kernel void least(global const int8 *in, global int8 *out)
{
    out[0] = min(in[0], 100);
}
