"""Chains of image filters on numpy arrays, on a GPU or on the processor.

    >>> import numpy, sluice
    >>> edges = sluice.Chain('luminance,sobel')
    >>> edges(numpy.zeros((480, 640, 3), numpy.uint8)).shape
    (480, 640)

Pictures are arrays of H×W or H×W×C samples, or anything else with such a buffer. They are read where they lie, and a result
is written where it is wanted: nothing is copied, and what would have to be is an error that says so. Other threads run while
a chain computes, and may use the same chain. docs/python.md walks through all of it.
"""
from __future__ import annotations

import collections
import copy
import functools
import os
import threading
import warnings
import weakref
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, NamedTuple, Union

import numpy

from sluice._sluice import ffi as _ffi, lib as _lib # type: ignore[import-untyped]

# What each call needs, found once.
_cast, _empty, _from_buffer, _ndarray = _ffi.cast, numpy.empty, _ffi.from_buffer, numpy.ndarray
_process, _start = _lib.shim_process, _lib.shim_start

__all__ = ['Chain', 'Device', 'DeviceInfo', 'Error', 'Parameter', 'Plane', 'Planes', 'Stage', 'Stream', 'devices', 'pack',
           'stages', '__version__']

Picture = Union[numpy.ndarray, 'Planes', Mapping[str, Any], Any]


def _text(pointer) -> Any:
    return _ffi.string(pointer).decode() if pointer else None


__version__: str = _text(_lib.sluice_version())

_TYPES = {numpy.dtype(name): number for name, number in (
    ('uint8', _lib.SLUICE_U8), ('int8', _lib.SLUICE_I8), ('uint16', _lib.SLUICE_U16), ('int16', _lib.SLUICE_I16),
    ('int32', _lib.SLUICE_I32), ('float16', _lib.SLUICE_F16), ('float32', _lib.SLUICE_F32), ('float64', _lib.SLUICE_F64))}
_DTYPES = {number: dtype for dtype, number in _TYPES.items()}

# Plans that a chain keeps. One of native takes 20 µs to make and some KiB; a GPU's programs are kept by the library.
_PLANS = 64


class Error(Exception):
    """What the library, or an array, does not allow.

    code        a word that never changes: 'usage' 'chain' 'shape' 'limit' 'no-device' 'device' 'memory' 'internal'
    message     one sentence
    position    where the mistake is in the chain's text, in characters; None: the text is not what is wrong
    length      of the mistaken part
    mistakes    all that were found in the text, this one first
    str(error)  the messages, each with its place marked below the text
    """

    def __init__(self, message: str, code: str = 'usage', position: int | None = None, length: int = 0,
                 shown: str | None = None):
        super().__init__(message)
        self.code = code
        self.message = message
        self.position = position
        self.length = length
        self.mistakes: tuple[Error, ...] = (self,)
        self._shown = shown or message

    def __str__(self) -> str:
        return '\n'.join(one._shown for one in self.mistakes)


def _error(own, text: str | None = None) -> Error:
    """Of a struct sluice_error about that chain."""
    raw = text.encode() if text is not None else None
    room = _lib.sluice_error_print(own, raw if raw is not None else _ffi.NULL, _ffi.NULL, 0) + 1
    shown = _ffi.new('char[]', room)
    _lib.sluice_error_print(own, raw if raw is not None else _ffi.NULL, shown, room)
    position, length = None, 0
    if raw is not None and own.position >= 0:
        position = len(raw[:own.position].decode(errors='replace'))
        length = len(raw[own.position:own.position + own.length].decode(errors='replace'))
    return Error(_text(own.message), _text(own.word), position, length, _text(shown))


def _sized(kind: str, count: int | None = None):
    """A pointer to a struct of the library's, or an array of them, that knows its size."""
    made = _ffi.new('struct %s[]' % kind, count) if count else _ffi.new('struct %s *' % kind)
    made[0].size = _ffi.sizeof('struct ' + kind)
    return made


# ---- devices

class DeviceInfo(NamedTuple):
    """kind: 'native' (the processor), 'gpu', 'accelerator', 'cpu' (OpenCL on the processor), 'reference'. threads: of native, else
    what the driver counts. in_flight: so many runs at once keep it busy. memory, largest: bytes it has, and of one picture at
    most. in_place: it computes in the arrays' memory; others copy to and from their own."""
    kind: str
    name: str
    platform: str
    driver: str
    threads: int
    in_flight: int
    memory: int
    largest: int
    in_place: bool


def _info(own) -> DeviceInfo:
    return DeviceInfo(_text(own.kind), _text(own.name), _text(own.platform), _text(own.driver), own.threads, own.in_flight,
                      own.memory, own.largest, bool(own.in_place))


def devices() -> list[DeviceInfo]:
    """The devices that there are, the best first. Loads OpenCL with all its drivers."""
    error, count = _sized('sluice_error'), _ffi.new('size_t *')
    room = 64
    found = _sized('sluice_device_info', room)
    if _lib.sluice_device_list(found, room, count, error) != 0:
        raise _error(error)
    return [_info(found[i]) for i in range(min(room, count[0]))]


class Device:
    """Where chains run.

    select   auto, gpu, native (the processor), cpu (OpenCL on the processor), reference (the plain definitions, slow), or a part
             of a device's or platform's name
    threads  of native, the calling one included; 0: one for each processor
    cache    the directory where compiled programs of OpenCL are kept; None: below the user's cache directory; '': none
    """

    def __init__(self, select: str = 'auto', threads: int = 0, cache: str | os.PathLike | None = None):
        self._options = (select, threads, None if cache is None else os.fspath(cache))
        self._lock = threading.Lock()
        self._handle = None
        self.info: DeviceInfo = self._describe(self._open())
        _forked_objects.add(self)

    def _open(self):
        """Its handle; after a fork it is opened anew."""
        with self._lock:
            if self._handle is None:
                select, threads, cache = self._options
                options, error, made = _sized('sluice_device_options'), _sized('sluice_error'), _ffi.new('struct sluice_device **')
                texts = [_ffi.new('char[]', one.encode()) if one is not None else _ffi.NULL for one in (select, cache)]
                options.select, options.cache, options.threads = texts[0], texts[1], threads
                if _lib.sluice_device_open(made, options, error) != 0:
                    raise _error(error)
                self._handle = _ffi.gc(made[0], _lib.shim_drop_device)
            return self._handle

    @staticmethod
    def _describe(handle) -> DeviceInfo:
        own = _sized('sluice_device_info')
        _lib.sluice_device_get_info(handle, own)
        return _info(own)

    def _forget(self):
        _leak(self._handle)
        self._lock = threading.Lock()
        self._handle = None

    def __reduce__(self):
        return Device, self._options

    def __repr__(self) -> str:
        return 'Device(%r, threads=%d)' % (self.info.name, self.info.threads)


_default: Device | None = None
_default_lock = threading.Lock()


def _default_device() -> Device:
    global _default
    with _default_lock:
        if _default is None:
            _default = Device()
        return _default


# ---- after a fork: a child must not touch what its parent opened, so it opens its own when it first needs to

_forked_objects: weakref.WeakSet = weakref.WeakSet()


def _leak(handle):
    if handle is not None:
        _ffi.gc(handle, None)


def _forked():
    global _default_lock
    _default_lock = threading.Lock()
    for one in list(_forked_objects):
        one._forget()


os.register_at_fork(after_in_child=_forked)


# ---- stages as data

class Parameter(NamedTuple):
    """kind: 'integer' 'real' 'flag' 'choice' 'numbers' 'matrix' 'words'. default: as text; None: unset unless given. allowed: what may
    be given, for people. min, max: limits of each number; None: there are none."""
    name: str
    help: str
    kind: str
    default: str | None
    required: bool
    min: float | None
    max: float | None
    choices: tuple[str, ...]
    allowed: str


class Stage(NamedTuple):
    """parameters: in the order in which they may be given without their names."""
    name: str
    summary: str
    parameters: tuple[Parameter, ...]


_KINDS = {_lib.SLUICE_INTEGER: 'integer', _lib.SLUICE_REAL: 'real', _lib.SLUICE_FLAG: 'flag', _lib.SLUICE_CHOICE: 'choice',
          _lib.SLUICE_NUMBERS: 'numbers', _lib.SLUICE_MATRIX: 'matrix', _lib.SLUICE_WORDS: 'words'}


def _parameter(stage: bytes, index: int) -> Parameter:
    own = _sized('sluice_parameter')
    _lib.sluice_stage_parameter(stage, index, own)
    return Parameter(_text(own.name), _text(own.help), _KINDS[own.kind], _text(own.fallback), bool(own.required),
                     own.min if own.limited else None, own.max if own.limited else None,
                     tuple(_text(own.choices[i]) for i in range(own.n_choices)), _text(own.allowed))


def stages() -> list[Stage]:
    """The stages that chains are made of, in alphabetical order."""
    found: list[Stage] = []
    own = _sized('sluice_stage')
    while _lib.sluice_stage_get(len(found), own) == 0:
        name = _ffi.string(own.name)
        found.append(Stage(name.decode(), _text(own.summary), tuple(_parameter(name, i) for i in range(own.n_parameters))))
    return found


# ---- arrays as layouts

class Plane(NamedTuple):
    """What an array is."""
    shape: tuple[int, ...]
    dtype: numpy.dtype


class Planes(dict):
    """Several planes by their names, in one memory. `zeros` has the position of index 0, (x, y), of planes of filter banks."""

    def __init__(self, planes: Mapping[str, numpy.ndarray] | Iterable = (), zeros: Mapping[str, tuple[int, int]] = {}):
        super().__init__(planes)
        self.zeros = dict(zeros)


def pack(planes: Mapping[str, Any]) -> Planes:
    """A copy of the planes, in one memory, as chains read them."""
    arrays = {name: numpy.asarray(plane) for name, plane in planes.items()}
    made = _empty_planes({name: Plane(array.shape, array.dtype) for name, array in arrays.items()})
    for name, array in arrays.items():
        made[name][...] = array
    made.zeros = dict(getattr(planes, 'zeros', {}))
    return made


def _empty_planes(planes: Mapping[str, Plane]) -> Planes:
    at, places = 0, {}
    for name, plane in planes.items():
        places[name] = at
        at += -(-plane.dtype.itemsize * int(numpy.prod(plane.shape)) // 64) * 64
    memory = numpy.empty(at, numpy.uint8)
    return Planes({name: numpy.ndarray(plane.shape, plane.dtype, memory, places[name]) for name, plane in planes.items()})


class _Lies(NamedTuple):
    """Where an array's samples lie; what a plan depends on, so that it may be a key."""
    name: str
    shape: tuple[int, ...]
    strides: tuple[int, ...]
    dtype: numpy.dtype
    offset: int
    zero: tuple[int, int]


def _packed_strides(shape, dtype) -> tuple[int, ...]:
    strides, at = [], dtype.itemsize
    for side in reversed(shape):
        strides.append(at)
        at *= side
    return tuple(reversed(strides))


def _array(given, what: str) -> numpy.ndarray:
    if isinstance(given, numpy.ndarray):
        return given
    try:
        return numpy.asarray(memoryview(given))
    except (TypeError, BufferError, ValueError):
        raise TypeError('%s: %s is no array, and has no buffer of one: numpy.asarray(…) may make one of it' %
                        (what, type(given).__name__)) from None


def _address(array: numpy.ndarray) -> int:
    return array.__array_interface__['data'][0]


def _root(array):
    while isinstance(array, numpy.ndarray) and array.base is not None:
        array = array.base
    return array.obj if isinstance(array, memoryview) else array


def _lies(given, what: str) -> tuple[tuple[_Lies, ...], int, list[numpy.ndarray]]:
    """Where a picture or planes lie from the lowest address on, that address, and the arrays."""
    if not isinstance(given, Mapping):
        array = _array(given, what)
        return (_Lies('', array.shape, array.strides, array.dtype, 0, (0, 0)),), _address(array), [array]
    zeros = getattr(given, 'zeros', {})
    arrays = {name: _array(plane, '%s, plane %s' % (what, name)) for name, plane in given.items()}
    if not arrays:
        raise Error('%s: no planes' % what)
    if len({id(_root(array)) for array in arrays.values()}) > 1:
        raise Error('%s: the planes do not lie in one memory: sluice.pack(planes) makes a copy in which they do' % what)
    begin = min(_address(array) for array in arrays.values())
    return tuple(_Lies(name, array.shape, array.strides, array.dtype, _address(array) - begin, tuple(zeros.get(name, (0, 0))))
                 for name, array in arrays.items()), begin, list(arrays.values())


def _geometry(one: _Lies, what: str) -> tuple[int, int, int, int]:
    """Height, width, channels and the bytes from row to row."""
    if one.dtype not in _TYPES and one.dtype.newbyteorder('=') in _TYPES:
        raise Error('%s: samples of %s, whose bytes are in the other order: array.astype(numpy.%s) makes a copy in this processor\'s' %
                    (what, one.dtype, one.dtype.newbyteorder('=')))
    if one.dtype not in _TYPES:
        raise Error('%s: samples of %s; %s are taken, and array.astype(numpy.float32), for one, makes a copy of such' %
                    (what, one.dtype, ', '.join(str(dtype) for dtype in _TYPES)))
    if len(one.shape) in (2, 3) and 0 in one.shape:
        raise Error('%s: an array of shape %s has no pixel' % (what, one.shape))
    if len(one.shape) not in (2, 3):
        raise Error('%s: an array of shape %s; pictures are H×W, or H×W×C with 1 to 4 channels' % (what, one.shape))
    height, width = one.shape[:2]
    channels = one.shape[2] if len(one.shape) == 3 else 1
    if channels > 4:
        raise Error('%s: %d channels, where 1 to 4 are the last axis; numpy.moveaxis(array, 0, -1) and '
                    'numpy.ascontiguousarray make a copy of C×H×W' % (what, channels))
    size = one.dtype.itemsize
    row = width * channels * size
    stride = one.strides[0] if height > 1 else row
    if (channels > 1 and one.strides[2] != size) or (width > 1 and one.strides[1] != channels * size) or stride < row:
        raise Error('%s: strides of %s bytes, where the samples of a row have to lie one behind the other and rows from top to '
                    'bottom: numpy.ascontiguousarray(array) makes a copy that does' % (what, one.strides))
    if stride % size != 0:
        raise Error('%s: %d bytes from row to row are no multiple of a sample: numpy.ascontiguousarray(array) makes a copy '
                    'where they are' % (what, stride))
    return height, width, channels, stride


def _rows_of_tensor(one: _Lies) -> _Lies:
    """Of an array of C×H×W, the rows of all channels as those of one plane."""
    channels, height, width = one.shape
    if channels > 1 and one.strides[0] != height * one.strides[1]:
        raise Error('out: strides of %s bytes, where the channels of a tensor have to follow each other' % (one.strides,))
    return one._replace(shape=(channels * height, width), strides=one.strides[1:])


_FORMATS = {name[7:]: getattr(_lib, name) for name in (
    'SLUICE_NV12', 'SLUICE_NV21', 'SLUICE_I420', 'SLUICE_YUY2', 'SLUICE_UYVY', 'SLUICE_GRAY8', 'SLUICE_GRAY16_LE', 'SLUICE_RGB',
    'SLUICE_BGR', 'SLUICE_RGBX', 'SLUICE_BGRX', 'SLUICE_RGBA', 'SLUICE_BGRA', 'SLUICE_NV16', 'SLUICE_P010', 'SLUICE_RAW10',
    'SLUICE_RAW12')}
_MATRICES = {'bt601': _lib.SLUICE_BT601, 'bt709': _lib.SLUICE_BT709, 'bt2020': _lib.SLUICE_BT2020}
_RANGES = {'limited': _lib.SLUICE_LIMITED, 'full': _lib.SLUICE_FULL}
_CHANNELS = {'GRAY8': 1, 'GRAY16_LE': 1, 'YUY2': 2, 'UYVY': 2, 'RGB': 3, 'BGR': 3, 'RGBX': 4, 'BGRX': 4, 'RGBA': 4, 'BGRA': 4, 'RAW10': 1, 'RAW12': 1}
_PACKED = {'RAW10': (4, 5), 'RAW12': (2, 3)}  # pixels, and their bytes


@functools.lru_cache(maxsize=64)
def _video(layout: str) -> tuple[str, int, int]:
    """The name of a format, its matrix and its range: 'NV12:bt709:full'."""
    name, *words = layout.split(':')
    name, matrix, span = name.upper(), _lib.SLUICE_BT601, _lib.SLUICE_LIMITED
    if name not in _FORMATS:
        raise Error('layout=%r: there are %s' % (layout, ', '.join(_FORMATS)))
    for word in words:
        if word in _MATRICES:
            matrix = _MATRICES[word]
        elif word in _RANGES:
            span = _RANGES[word]
        else:
            raise Error('layout=%r: behind the format stand %s' % (layout, ', '.join([*_MATRICES, *_RANGES])))
    return name, matrix, span


def _set_video(own, one: _Lies, layout: str):
    """Fills a layout of a video frame that lies in one array, as OpenCV has them: planes below each other."""
    name, own.matrix, own.range = _video(layout)
    own.format = _FORMATS[name]
    height, width, channels, stride = _geometry(one, 'layout=%r' % layout)
    dtype = numpy.dtype('uint16' if name in ('GRAY16_LE', 'P010') else 'uint8')
    planar = name not in _CHANNELS
    if one.dtype != dtype or channels != (1 if planar else _CHANNELS[name]):
        raise Error('layout=%r: an array of %s %s, where %s of %s is' % (
            layout, one.shape, one.dtype, '(H·2, W)' if name == 'NV16' else '(H·3/2, W)' if planar else '(H, W)' if _CHANNELS[name] == 1 else
            '(H, W, %d)' % _CHANNELS[name], dtype))
    own.width, own.height = width, height
    own.offset[0], own.stride[0] = 0, stride
    if name in _PACKED:
        pixels, octets = _PACKED[name]
        if width % octets != 0:
            raise Error('layout=%r: rows of %d bytes, where %d are %d pixels' % (layout, width, octets, pixels))
        own.width = width // octets * pixels
    if name == 'NV16':
        own.height = height // 2
        if height % 2 != 0:
            raise Error('layout=%r: %d rows, where a frame of H rows takes H·2' % (layout, height))
        own.offset[1], own.stride[1] = own.height * stride, stride
    elif planar:
        own.height = height * 2 // 3
        if own.height + (own.height + 1) // 2 != height or (name == 'I420' and height % 3 != 0):
            raise Error('layout=%r: %d rows, where a frame of H rows takes H·3/2' % (layout, height))
        own.offset[1], own.stride[1] = own.height * stride, stride
    if name == 'I420':
        if width % 2 != 0 or stride != width:
            raise Error('layout=%r: rows of %d bytes at every %d; they have to be even and packed' % (layout, width, stride))
        own.stride[1] = own.stride[2] = width // 2
        own.offset[2] = own.offset[1] + width // 2 * (own.height // 2)


def _layout(lies: tuple[_Lies, ...], layout: str | None, white: float | None, what: str):
    """A struct sluice_layout, and what it points to."""
    own = _sized('sluice_layout')
    if layout is not None:
        if len(lies) != 1:
            raise Error('layout=%r is of one array' % layout)
        _set_video(own, lies[0], layout)
        return own, None
    planes = _ffi.new('struct sluice_plane[]', len(lies))
    own.planes, own.n_planes = planes, len(lies)
    for plane, one in zip(planes, lies):
        name = one.name.encode()
        if len(name) >= len(plane.name):
            raise Error('%s: plane %s: names have at most %d bytes' % (what, one.name, len(plane.name) - 1))
        where = '%s, plane %s' % (what, one.name) if one.name else what
        plane.name = name
        plane.height, plane.width, plane.channels, plane.stride = _geometry(one, where)
        plane.type = _TYPES[one.dtype]
        plane.white = white or 0
        plane.offset = one.offset
        plane.zero_x, plane.zero_y = one.zero
    return own, planes


# ---- chains

class _Plan:
    """A plan of the library's for arrays that lie in one way, and what a run of it needs."""
    __slots__ = ('handle', 'device', 'in_bytes', 'out_bytes', 'shape', 'dtype', 'planes', 'zeros', 'whole', 'out_whole')
    handle: Any
    device: Any
    in_bytes: int
    out_bytes: int
    shape: tuple[int, ...] | None # of a result of one plane
    dtype: numpy.dtype | None
    planes: dict[str, Plane] | None # of several
    zeros: dict[str, tuple[int, int]]
    whole: bool # the input's samples lie one behind the other throughout
    out_whole: bool

    def empty(self):
        """Arrays for a result."""
        if self.planes is None:
            return numpy.empty(self.shape, self.dtype)
        made = _empty_planes(self.planes)
        made.zeros = dict(self.zeros)
        return made


def _bank(name: str, given: Mapping[str, Any]) -> tuple:
    """The filters of a bank, across and down, as the library takes them, and what these point to."""
    kept: list = []

    def filters(of: str, side: str):
        own = given[of].get(side, given[of]['horizontal'])
        made = _ffi.new('struct sluice_filter[]', len(own))
        for to, one in zip(range(len(own)), own):
            taps = _ffi.new('double[]', [float(tap) for tap in one['taps']])
            kept.append(taps)
            made[to] = {'taps': taps, 'n_taps': len(taps), 'zero': one.get('zero', 0), 'shift': one.get('shift', 0)}
        kept.append(made)
        return made

    try:
        directions = []
        across, down = given['sampling']
        for factor, side in ((across, 'horizontal'), (down, 'vertical')):
            analysis, synthesis = filters('analysis', side), filters('synthesis', side)
            if len(analysis) != len(synthesis):
                raise Error('bank %s: %d %s filters of analysis, %d of synthesis' % (name, len(analysis), side, len(synthesis)))
            directions.append(_ffi.new('struct sluice_bank *', {'factor': factor, 'n_filters': len(analysis), 'analysis': analysis,
                                                                'synthesis': synthesis}))
        unknown = set(given) - {'sampling', 'analysis', 'synthesis', 'lossy'}
        if unknown:
            raise ValueError('a bank has no key %s' % ', '.join(map(repr, unknown)))
    except (AttributeError, KeyError, OverflowError, TypeError, ValueError) as wrong:
        raise Error("bank %s: expected {'sampling': (2, 2), 'analysis': {'horizontal': [{'taps': […], 'zero': 0, 'shift': 0}, …]}, "
                    "'synthesis': …}, where 'vertical' may stand beside 'horizontal', and 'lossy': True (%s: %s)" %
                    (name, type(wrong).__name__, wrong)) from wrong
    return directions, bool(given.get('lossy', False)), kept


class Chain:
    """A chain of stages: sluice.Chain('luminance,sobel'). Immutable; any number of threads may use one.

    device   where it runs; None: the best that there is, which all such chains share
    kernels  coefficients for fir, by names: Chain('fir:@mine', kernels={'mine': [[1, 2, 1], [2, 4, 2], [1, 2, 1]]})
    pictures second pictures, by names: Chain('subtract:@dark,divide:@flat', pictures={'dark': dark, 'flat': flat}); copied
    banks    filter banks, by names: Chain('analysis:@mine', banks={'mine': {'sampling': (2, 2), 'analysis': {'horizontal':
             [{'taps': [0.5, 0.5], 'zero': 1}, …]}, 'synthesis': …}}), as in a configuration, without qmf and lifting

    text     the canonical text, with every parameter; `short` has those alone that are not as they would be anyway
    """

    def __init__(self, text: str, device: Device | None = None, *, kernels: Mapping[str, Any] | None = None,
                 pictures: Mapping[str, Any] | None = None, banks: Mapping[str, Any] | None = None):
        if not isinstance(text, str):
            raise TypeError("a chain is a text, such as 'luminance,sobel', and no %s" % type(text).__name__)
        self._given = (text, device, {name: numpy.array(kernel, float) for name, kernel in (kernels or {}).items()},
                       {name: numpy.array(picture, order='C') for name, picture in (pictures or {}).items()},
                       copy.deepcopy(dict(banks or {})))
        self._plans: dict = {}
        self._lock = threading.Lock()
        self._handle = self._parse()
        self.text: str = _text(_lib.sluice_chain_text(self._handle))
        self.short: str = _text(_lib.sluice_chain_short(self._handle))
        _forked_objects.add(self)

    def _parse(self):
        text, _, kernels, pictures, banks = self._given
        if '\0' in text:
            raise Error('a chain with a NUL', 'chain')
        errors, made = _sized('sluice_error', 16), _ffi.new('struct sluice_chain **')
        definitions = _ffi.new('struct sluice_definitions **')
        try:
            if (kernels or pictures or banks) and _lib.sluice_definitions_create(definitions, errors) != 0:
                raise _error(errors + 0)
            for name, kernel in kernels.items():
                if kernel.ndim != 2:
                    raise Error('kernel %s: an array of shape %s, where rows and columns are needed' % (name, kernel.shape))
                values = _ffi.from_buffer('double[]', numpy.ascontiguousarray(kernel))
                if _lib.sluice_definitions_add_kernel(definitions[0], name.encode(), kernel.shape[1], kernel.shape[0], values,
                                                      errors) != 0:
                    raise _error(errors + 0)
            for name, picture in pictures.items():
                lies, _, _ = _lies(picture, 'picture ' + name)
                layout, _keep = _layout(lies, None, None, 'picture ' + name)
                if _lib.sluice_definitions_add_picture(definitions[0], name.encode(), layout, _ffi.from_buffer(picture), errors) != 0:
                    raise _error(errors + 0)
            for name, bank in banks.items():
                (across, down), lossy, _keep = _bank(name, bank)
                if _lib.sluice_definitions_add_bank(definitions[0], name.encode(), across, down, lossy, errors) != 0:
                    raise _error(errors + 0)
            if _lib.sluice_chain_parse(made, text.encode(), definitions[0], errors, len(errors)) != 0:
                mistakes = tuple(_error(errors + i, text) for i in range(len(errors)) if errors[i].code != 0)
                mistakes[0].mistakes = mistakes
                raise mistakes[0]
        finally:
            _lib.sluice_definitions_unref(definitions)
        return _ffi.gc(made[0], _lib.shim_drop_chain)

    def _forget(self):
        for handle in (self._handle, *(plan.handle for plan in self._plans.values())):
            _leak(handle)
        self._plans = {}
        self._lock = threading.Lock()
        self._handle = self._parse()

    def __reduce__(self):
        text, device, kernels, pictures, banks = self._given
        return functools.partial(Chain, text, device, kernels=kernels, pictures=pictures, banks=banks), ()

    def __repr__(self) -> str:
        return 'Chain(%r)' % self.short

    @property
    def device(self) -> Device:
        return self._given[1] or _default_device()

    def _fail(self) -> Error:
        return _error(_lib.shim_error(), self._given[0])

    def _planes(self, own) -> dict[str, tuple[Plane, tuple[int, int], bool]]:
        """What comes out for frames of a layout: arrays, their zeros, and whether they are tensors (C×H×W), by names."""
        error, out, room = _sized('sluice_error'), _sized('sluice_layout'), 1
        while True:
            planes = _ffi.new('struct sluice_plane[]', room)
            out.planes, out.n_planes = planes, room
            if _lib.sluice_chain_result(self._handle, own, out, error) != 0:
                raise _error(error, self._given[0])
            if out.n_planes <= room:
                break
            room = out.n_planes
        return {_text(one.name): (Plane((one.layers, one.height // one.layers, one.width) if one.layers > 0 else
                                        (one.height, one.width) + ((one.channels,) if one.channels > 1 else ()), _DTYPES[one.type]),
                                  (one.zero_x, one.zero_y), one.layers > 0) for one in planes[0:out.n_planes]}

    def result(self, shape: tuple[int, ...], dtype: Any = numpy.uint8, *, layout: str | None = None) -> Plane | dict[str, Plane]:
        """What comes out for arrays of that shape and dtype; of several planes, by their names. Nothing is computed."""
        shape, dtype = tuple(shape), numpy.dtype(dtype)
        own, _keep = _layout((_Lies('', shape, _packed_strides(shape, dtype), dtype, 0, (0, 0)),), layout, None, 'shape')
        planes = {name: plane for name, (plane, *_) in self._planes(own).items()}
        return planes[''] if list(planes) == [''] else planes

    def _make_plan(self, lies: tuple[_Lies, ...], out_lies: tuple[_Lies, ...] | None, layout: str | None,
                   white: float | None) -> _Plan:
        own, _keep = _layout(lies, layout, white, 'input')
        result = self._planes(own)
        single = list(result) == ['']
        made = _Plan()
        made.planes = None if single else {name: plane for name, (plane, *_) in result.items()}
        made.zeros = {name: zero for name, (_, zero, _) in result.items() if zero != (0, 0)}
        made.shape, made.dtype = result[''][0] if single else (None, None)
        if out_lies is None:
            out_lies, _, _ = _lies(made.empty(), 'out')
        wanted = {name: plane for name, (plane, *_) in result.items()}
        for one in out_lies:
            plane = wanted.pop(one.name, None)
            shape = one.shape[:2] if one.shape[2:] == (1,) and plane and len(plane.shape) == 2 else one.shape
            if plane is None or shape != plane.shape or one.dtype != plane.dtype:
                raise Error('out%s: an array of %s %s, where %s comes out' % (
                    ', plane ' + one.name if one.name else '', one.shape, one.dtype,
                    '%s %s' % plane if plane else 'planes of the names ' + ', '.join(result)), 'shape')
        if wanted:
            raise Error('out: no plane %s' % ', '.join(wanted), 'shape')
        order = {one.name: _rows_of_tensor(one) if result[one.name][2] else one for one in out_lies}
        target, _keep_out = _layout(tuple(order[name]._replace(zero=result[name][1]) for name in result), None, None, 'out')
        self._set_handle(made, own, target)
        made.whole = len(lies) == 1 and lies[0].strides == _packed_strides(lies[0].shape, lies[0].dtype)
        made.out_whole = len(out_lies) == 1 and out_lies[0].strides == _packed_strides(out_lies[0].shape, out_lies[0].dtype)
        return made

    def _set_handle(self, plan: _Plan, own, target):
        error, handle, info = _sized('sluice_error'), _ffi.new('struct sluice_plan **'), _sized('sluice_plan_info')
        plan.device = self.device._open()
        if _lib.sluice_plan_create(handle, self._handle, plan.device, own, target, 0,
                                   error) != 0:
            raise _error(error, self._given[0])
        plan.handle = _ffi.gc(handle[0], _lib.shim_drop_plan)
        _lib.sluice_plan_get_info(plan.handle, info)
        plan.in_bytes, plan.out_bytes = info.in_bytes, info.out_bytes
        if info.warning:
            warnings.warn('%s: %s' % (self.short, _text(info.warning)), RuntimeWarning, stacklevel=5)

    def _planned(self, key: tuple, array, out, layout: str | None, white: float | None) -> _Plan:
        """The plan of a key, made if there is none."""
        plan = self._plans.get(key)
        if plan is None:
            lies, out_lies = _lies(array, 'input')[0], None if out is None else _lies(out, 'out')[0]
            plan = self._make_plan(lies, out_lies, layout, white)
            with self._lock:
                while len(self._plans) >= _PLANS:
                    del self._plans[next(iter(self._plans))]
                self._plans[key] = plan
        return plan

    def _ready(self, array, out, layout: str | None, white: float | None):
        """A plan, where it reads and writes, and the arrays of the result."""
        if array.__class__ is not _ndarray and not isinstance(array, Mapping):
            array = _array(array, 'input')
        if out is None:
            several = not isinstance(array, _ndarray)
        else:
            if out.__class__ is not _ndarray and not isinstance(out, Mapping):
                out = _array(out, 'out')
            several = isinstance(array, Mapping) or isinstance(out, Mapping)
        key: tuple
        if several:
            key = (_lies(array, 'input')[0], None if out is None else _lies(out, 'out')[0], layout, white)
        elif out is None:
            key = (array.shape, array.strides, array.dtype, layout, white)
        else:
            key = (array.shape, array.strides, array.dtype, layout, white, out.shape, out.strides, out.dtype)
        plan = self._plans.get(key) or self._planned(key, array, out, layout, white)
        source = _from_buffer(array) if plan.whole else _cast('void *', _lies(array, 'input')[1])
        if out is None:
            if plan.planes is None:
                out = _empty(plan.shape, plan.dtype)
                return plan, source, _from_buffer(out), out
            out = plan.empty()
        elif plan.out_whole:
            try:
                return plan, source, _from_buffer(out, require_writable=True), out
            except (BufferError, ValueError):
                raise Error('out: an array that is only for reading') from None
        _, target, arrays = _lies(out, 'out')
        if not all(one.flags.writeable for one in arrays):
            raise Error('out: an array that is only for reading')
        return plan, source, _cast('void *', target), out

    def __call__(self, array: Picture, out: Picture | None = None, *, layout: str | None = None, white: float | None = None) -> Any:
        """Computes a picture: an array, or several planes as a dict.

        out      where the result is written, and what is returned; None: a new array. It must not overlap the input
        layout   the array is a video frame: 'NV12', 'I420', 'BGR', …; behind it matrix and range of YCbCr, which are bt601 and
                 limited unless given: 'NV12:bt709:full'
        white    of floats: the value that means full; None: 255
        """
        plan, source, target, out = self._ready(array, out, layout, white)
        if _process(plan.handle, plan.device, source, plan.in_bytes, target, plan.out_bytes):
            raise self._fail()
        return out

    def stream(self, depth: int | None = None) -> Stream:
        """For several pictures in flight; depth: how many, None: as many as keep the device busy."""
        return Stream(self, self.device.info.in_flight if depth is None else depth)


class Stream:
    """Pictures in flight, in their order. On a GPU one is copied while another is computed; native computes in get().

        with chain.stream() as stream:
            for result in stream.map(frames):
                …

    One thread uses a stream. An array that was put must not change, nor its result be used, until get() has returned it."""

    def __init__(self, chain: Chain, depth: int):
        if depth < 1:
            raise ValueError('a depth of %d: at least one picture is in flight' % depth)
        self.chain = chain
        self.depth = depth
        self._under_way: collections.deque = collections.deque()
        self._ended: collections.deque = collections.deque()
        _forked_objects.add(self)

    def put(self, array: Picture, out: Picture | None = None, *, layout: str | None = None, white: float | None = None) -> None:
        """Begins a picture, as Chain.__call__ takes it. If `depth` are under way, the oldest is finished before."""
        while len(self._under_way) >= self.depth:
            self._finish()
        plan, source, target, out = self.chain._ready(array, out, layout, white)
        run = _ffi.new('struct sluice_run **')
        if _start(run, plan.handle, plan.device, source, plan.in_bytes, target, plan.out_bytes):
            raise self.chain._fail()
        self._under_way.append((run, out, (plan, array, source, target)))

    def _finish(self):
        run, out, _keep = self._under_way.popleft()
        self._ended.append(self.chain._fail() if _lib.shim_wait(run) else out)

    def get(self) -> Any:
        """The result of the oldest picture that was put and not got yet. Raises its Error, if it failed."""
        if not self._ended:
            if not self._under_way:
                raise IndexError('no picture is in flight')
            self._finish()
        result = self._ended.popleft()
        if isinstance(result, Error):
            raise result
        return result

    def map(self, pictures: Iterable[Picture], *, layout: str | None = None, white: float | None = None) -> Iterator[Any]:
        """The results of all pictures, in their order."""
        for picture in pictures:
            if len(self) >= self.depth:
                yield self.get()
            self.put(picture, layout=layout, white=white)
        while len(self):
            yield self.get()

    def __len__(self) -> int:
        """Pictures that were put and not got yet."""
        return len(self._under_way) + len(self._ended)

    def close(self) -> None:
        """Waits for what is under way, and drops all results."""
        while self._under_way:
            self._finish()
        self._ended.clear()

    def __enter__(self) -> Stream:
        return self

    def __exit__(self, *_) -> None:
        self.close()

    def __del__(self):
        if hasattr(self, '_ended'):
            self.close()

    def _forget(self):
        self._under_way = collections.deque()
