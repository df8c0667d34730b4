#!/usr/bin/env python3
"""warp and rotate by angles beside OpenCV, on the photographs of docs/pictures: mean differences of at most half a step
of u8. OpenCV rounds places to 1/32 of a pixel, here it is 1/256. Usage: test_geometry.py SLUICE [unittest options]"""
import math
import os
import sys
import unittest

import cv2
import numpy

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from peers import Peers  # noqa: E402

PICTURES = os.path.join(os.path.dirname(os.path.abspath(__file__)), '../../docs/pictures')
FLAGS = {'bilinear': cv2.INTER_LINEAR, 'cubic': cv2.INTER_CUBIC}
BORDERS = {'': (cv2.BORDER_CONSTANT, ''), 'edge': (cv2.BORDER_REPLICATE, ':border=edge'),
           'reflect': (cv2.BORDER_REFLECT_101, ':border=reflect')}
MOST = 0.5


def text(rows):
    return '/'.join('_'.join(repr(float(v)).replace('e+', 'e') for v in row) for row in rows)


class Geometry(Peers):
    def pictures(self):
        for name in ('cat.jpg', 'coffee.jpg'):
            picture = cv2.imread(os.path.join(PICTURES, name))
            yield picture
            yield cv2.cvtColor(picture, cv2.COLOR_BGR2GRAY)
            yield numpy.dstack([picture, numpy.full(picture.shape[:2], 255, numpy.uint8)])

    def mean(self, chain, picture, expected, scale=1):
        out = self.sluice(chain, picture)
        self.assertEqual(out.shape, expected.shape, chain)
        self.worst = max(self.worst, float(numpy.abs(out.astype(float) - expected).mean()) / scale)
        self.assertLessEqual(self.worst, MOST, chain)

    def setUp(self):
        super().setUp()
        self.worst = 0

    def tearDown(self):
        print('%s: mean difference at most %.3f' % (self.id().rsplit('.', maxsplit=1)[-1], self.worst))

    def matrix(self, size):
        angle, scale = self.random.uniform(0, 2 * math.pi), self.random.uniform(0.6, 1.6)
        c, s = scale * math.cos(angle), scale * math.sin(angle)
        middle = numpy.array(size) / 2
        shear = numpy.array([[c, -s], [s, c]]) @ numpy.array([[1, self.random.uniform(-.3, .3)], [0, 1]])
        return numpy.hstack([shear, (middle - shear @ middle + self.random.uniform(-20, 20)).reshape(2, 1)])

    def test_affine(self):
        for picture in self.pictures():
            height, width = picture.shape[:2]
            for name, flag in FLAGS.items():
                for border, option in BORDERS.values():
                    m = self.matrix((width, height))
                    self.mean('warp:%s:filter=%s%s' % (text(m), name, option), picture,
                              cv2.warpAffine(picture, m, (width, height), flags=flag, borderMode=border))

    def test_perspective(self):
        for picture in self.pictures():
            height, width = picture.shape[:2]
            corners = numpy.float32([[0, 0], [width - 1, 0], [width - 1, height - 1], [0, height - 1]])
            for name, flag in FLAGS.items():
                for border, option in BORDERS.values():
                    to = corners + numpy.float32([[self.random.uniform(-80, 80) for _ in range(2)] for _ in range(4)])
                    m = cv2.getPerspectiveTransform(corners, to)
                    expected = cv2.warpPerspective(picture, m, (width, height), flags=flag, borderMode=border)
                    self.mean('warp:%s:filter=%s%s' % (text(m), name, option), picture, expected)
                    self.mean('warp:from=%s:to=%s:filter=%s%s' % (text(corners), text(to), name, option), picture, expected)

    def test_rotate(self):
        for picture in self.pictures():
            height, width = picture.shape[:2]
            for name, flag in FLAGS.items():
                angle = self.random.uniform(-180, 180)
                m = cv2.getRotationMatrix2D(((width - 1) / 2, (height - 1) / 2), -angle, 1)
                self.mean('rotate:%r:same:filter=%s' % (angle, name), picture,
                          cv2.warpAffine(picture, m, (width, height), flags=flag))

    def test_undistort(self):
        for picture in self.pictures():
            height, width = picture.shape[:2]
            k = numpy.array([[width * 0.8, 0, width / 2 + 3], [0, width * 0.82, height / 2 - 2], [0, 0, 1]])
            for name, flag in FLAGS.items():
                d = numpy.array([-0.3, 0.1, 0.004, -0.003, -0.02, 0.01, 0.02, 0.001])
                maps = cv2.initUndistortRectifyMap(k, d, None, k, (width, height), cv2.CV_32FC1)
                chain = 'undistort:matrix=%s:distortion=%s:filter=%s' % (text(k), text([d]), name)
                self.mean(chain, picture, cv2.remap(picture, *maps, flag))
                zoomed = k * numpy.array([[.6, 1, 1], [1, .6, 1], [1, 1, 1]])
                fish = numpy.array([0.05, -0.02, 0.01, 0.003])
                maps = cv2.fisheye.initUndistortRectifyMap(k, fish, numpy.eye(3), zoomed, (width, height), cv2.CV_32FC1)
                chain = 'undistort:matrix=%s:distortion=%s:model=fisheye:zoom=0.6:filter=%s' % (text(k), text([fish]), name)
                self.mean(chain, picture, cv2.remap(picture, *maps, flag))

    def test_calibration_files(self):
        """What cv2.FileStorage writes."""
        picture = next(self.pictures())
        height, width = picture.shape[:2]
        k = numpy.array([[width * 0.8, 0, width / 2.], [0, width * 0.82, height / 2.], [0, 0, 1]])
        d = numpy.array([[-0.3, 0.1, 0.004, -0.003, -0.02]])
        expected = cv2.undistort(picture, k, d)
        for kind in ('yml', 'json'):
            path = os.path.join(self.dir, 'camera.' + kind)
            storage = cv2.FileStorage(path, cv2.FILE_STORAGE_WRITE)
            storage.write('image_width', width)
            storage.write('image_height', height)
            storage.write('camera_matrix', k)
            storage.write('distortion_coefficients', d)
            storage.release()
            config = os.path.join(self.dir, 'config.yaml')
            with open(config, 'w', encoding='utf-8') as file:
                file.write('cameras: {front: camera.%s}\n' % kind)
            os.environ['SLUICE_CONFIG'] = config
            try:
                self.mean('undistort:@front', picture, expected)
            finally:
                del os.environ['SLUICE_CONFIG']

    def test_types(self):
        """16 bits and floats: in steps of u8."""
        for picture in self.pictures():
            height, width = picture.shape[:2]
            m = self.matrix((width, height))
            for kind, scale in ((numpy.uint16, 257), (numpy.float32, 1)):
                wide = picture.astype(kind) * kind(scale)
                expected = cv2.warpAffine(wide, m, (width, height), flags=cv2.INTER_LINEAR)
                self.mean('warp:%s' % text(m), wide, expected, scale)


class Demosaic(Peers):
    """Mosaics of the photographs, beside the published windows in numpy: equal; and how near either is to the photograph."""
    WINDOWS = {
        'mhc': {'cross': [[0, 0, -1, 0, 0], [0, 0, 2, 0, 0], [-1, 2, 4, 2, -1], [0, 0, 2, 0, 0], [0, 0, -1, 0, 0]],
                'along': [[0, 0, .5, 0, 0], [0, -1, 0, -1, 0], [-1, 4, 5, 4, -1], [0, -1, 0, -1, 0], [0, 0, .5, 0, 0]],
                'corner': [[0, 0, -1.5, 0, 0], [0, 2, 0, 2, 0], [-1.5, 0, 6, 0, -1.5], [0, 2, 0, 2, 0], [0, 0, -1.5, 0, 0]]},
        'bilinear': {'cross': [[0] * 5, [0, 0, 2, 0, 0], [0, 2, 0, 2, 0], [0, 0, 2, 0, 0], [0] * 5],
                     'along': [[0] * 5, [0] * 5, [0, 4, 0, 4, 0], [0] * 5, [0] * 5],
                     'corner': [[0] * 5, [0, 2, 0, 2, 0], [0] * 5, [0, 2, 0, 2, 0], [0] * 5]}}

    def colours(self, mosaic, pattern, method):
        height, width = mosaic.shape
        wide = numpy.pad(mosaic.astype(float), 2, 'reflect')
        found = {}
        for name, window in self.WINDOWS[method].items():
            for turned in ('', 'across')[:2 if name == 'along' else 1]:
                w = numpy.array(window, float)
                w = w.T if turned else w
                found[turned or name] = sum(w[j, i] * wide[j:j + height, i:i + width] for j in range(5) for i in range(5)) / 8
        own = numpy.array(list(pattern)).reshape(2, 2)[numpy.arange(height)[:, None] % 2, numpy.arange(width) % 2]
        row = numpy.where((own == 'r').any(1), 'r', 'b')[:, None]
        out = numpy.empty((height, width, 3))
        for c, colour in enumerate('rgb'):
            far = numpy.where(own != 'g', found['corner'], numpy.where(row == colour, found['along'], found['across']))
            out[..., c] = numpy.where(own == colour, mosaic, found['cross'] if colour == 'g' else far)
        return numpy.clip(numpy.floor(out + 0.5), 0, numpy.iinfo(mosaic.dtype).max).astype(mosaic.dtype)

    def test_photographs(self):
        folder = os.environ.get('SLUICE_PHOTOGRAPHS', PICTURES)
        names = [n for n in sorted(os.listdir(folder)) if n.endswith(('.jpg', '.png'))] if folder != PICTURES else ['cat.jpg', 'coffee.jpg']
        for name in names:
            photograph = cv2.imread(os.path.join(folder, name))
            photograph = photograph[..., ::-1] if photograph is not None else numpy.zeros((0, 0, 3), numpy.uint8)
            near = {}
            for pattern in ('rggb', 'bggr', 'grbg', 'gbrg'):
                mosaic = numpy.zeros(photograph.shape[:2], numpy.uint8)
                for at, colour in enumerate(pattern):
                    y, x = divmod(at, 2)
                    mosaic[y::2, x::2] = photograph[y::2, x::2, 'rgb'.index(colour)]
                for method in self.WINDOWS:
                    if not mosaic.size:
                        continue
                    for picture, scale in ((mosaic, 1), (mosaic.astype(numpy.uint16) * 257, 257)):
                        out = self.sluice('demosaic:%s:%s' % (pattern, method), picture)
                        self.assertTrue(numpy.array_equal(out, self.colours(picture, pattern, method)), (name, pattern, method))
                        near[method, scale] = 10 * numpy.log10(255 ** 2 / numpy.mean((out / scale - photograph) ** 2))
            if near:
                print('%s: PSNR mhc %.2f dB, bilinear %.2f dB' % (name, near['mhc', 1], near['bilinear', 1]))


if __name__ == '__main__':
    unittest.main()
