#!/usr/bin/env python3
"""Prints the vectors of test_toyerode.c. For another stage with a small window: REACH, `value` and PICTURES are changed."""
REACH = 2  # of the window, in pixels to each side
# As tests/stage/vectors.h has it: type, width, height, channels, modulus, gain, what is added
PICTURES = [('u8', 3, 2, 3, 200, 1, 20), ('i8', 5, 4, 1, 90, 1, -9), ('u16', 5, 3, 1, 100, 600, 500), ('i16', 3, 3, 2, 60, 4, -50),
            ('f32', 3, 2, 4, 40, 1, -9)]
BORDERS = {
    'edge': lambda i, n: min(max(i, 0), n - 1),
    'reflect': lambda i, n: min(i % max(2 * n - 2, 1), -i % max(2 * n - 2, 1)),
    'symmetric': lambda i, n: min(i % (2 * n), (-1 - i) % (2 * n)),
    'wrap': lambda i, n: i % n,
    'zero': lambda i, n: i if 0 <= i < n else None,
    'crop': lambda i, n: i,
}
LIMITS = {'u8': (0, 255), 'i8': (-128, 127), 'u16': (0, 65535), 'i16': (-32768, 32767)}


def value(w):
    """The result of a window: w[j][i] is sample i of its row j."""
    return min(w[2] + [row[2] for row in w])


def vector(border, type_, width, height, channels, modulus, gain, offset):
    """The line of one vector. A result is rounded as Python's round does, halves to even, and limited; alpha is copied."""
    def sample(x, y, c):
        return 0 if None in (x, y) else (37 * x + 91 * y + 13 * x * y + 57 * c) % modulus * gain % 65536 + offset

    def result(x, y, c):
        if channels in (2, 4) and c == channels - 1:
            return sample(x, y, c)
        v = value([[sample(place(i, width), place(j, height), c) for i in range(x - REACH, x + REACH + 1)]
                   for j in range(y - REACH, y + REACH + 1)])
        return min(max(round(v), LIMITS[type_][0]), LIMITS[type_][1]) if type_ in LIMITS else v

    place, inset = BORDERS[border], REACH if border == 'crop' else 0
    width, height = width + 2 * inset, height + 2 * inset  # so that the result is as small
    picture = '%s %dx%d' % (type_, width, height)
    picture += ''.join(mark % n for mark, n, usual in (('x%d', channels, 1), (' %%%d', modulus, 256), (' *%d', gain, 1), (' %+d', offset, 0))
                       if n != usual)
    rows = (' '.join('%.9g' % result(x, y, c) for x in range(inset, width - inset) for c in range(channels))
            for y in range(inset, height - inset))
    return '    {"border=%s", "%s", "%s"},' % (border, picture, ', '.join(rows))


for shape in PICTURES:
    for name in BORDERS:
        print(vector(name, *shape))
