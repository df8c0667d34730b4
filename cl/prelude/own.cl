/* The row whose scratch memory a work-item has, which it does not share: on native of the grid, elsewhere of the launch. */
#ifdef NATIVE
#define OWN_Y GRID_Y
#else
#define OWN_Y (int)get_global_id(1)
#endif
