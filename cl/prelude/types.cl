/* Whether a type is float or double; a constant, as sizeof is. */
#define IS_REAL(type) ((type)0.5f > 0)
