/* What the steps down need from the rows above; `low` and `high` are the rows that the last ones completed. */
struct FN(column) {
    DOWN x, d, s, d2, low, high;
};

/* Takes an odd row of the picture and the even one below it. */
inline void FN(down)(struct FN(column) *column, DOWN odd, DOWN below, struct FN(factors) f)
{
    DOWN d = LIFT_ODD(odd, column->x, below, (DOWN)(f.a)), s = LIFT_EVEN(column->x, column->d, d, (DOWN)(f.b));
    column->low = s, column->high = d;
    if (STEPS == 4) {
        column->high = LIFT_ODD(column->d, column->s, s, (DOWN)(f.c));
        column->low = LIFT_EVEN(column->s, column->d2, column->high, (DOWN)(f.e));
        column->s = s, column->d2 = column->high;
    }
    column->x = below, column->d = d;
}
