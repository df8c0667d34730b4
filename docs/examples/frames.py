#!/usr/bin/env python3
"""frames.py CHAIN [SOURCE]: frames through a chain, as numpy arrays that are the buffers themselves.

    apt install gstreamer1.0-sluice gstreamer1.0-plugins-base python3-gst-1.0 python3-numpy
    python3 frames.py luminance,sobel v4l2src
"""
import contextlib
import sys

import gi
import numpy

gi.require_version('Gst', '1.0')
gi.require_version('GstVideo', '1.0')
from gi.repository import Gst, GstVideo

CHANNELS = {'GRAY8': 1, 'RGB': 3, 'RGBA': 4}


@contextlib.contextmanager
def array(sample):
    """The frame as an array of height × width × channels; nothing is copied, and it ends with the block."""
    info = GstVideo.VideoInfo.new_from_caps(sample.get_caps())
    buffer = sample.get_buffer()
    meta = GstVideo.buffer_get_video_meta(buffer)
    offset, stride = (meta.offset[0], meta.stride[0]) if meta else (info.offset[0], info.stride[0])
    channels = CHANNELS[info.finfo.name]
    good, mapped = buffer.map(Gst.MapFlags.READ)
    assert good
    try:
        yield numpy.ndarray((info.height, info.width, channels), numpy.uint8, mapped.data, offset,
                            (stride, channels, 1)).squeeze(2 if channels == 1 else ())
    finally:
        buffer.unmap(mapped)


def main():
    Gst.init(None)
    chain, source = sys.argv[1], ' '.join(sys.argv[2:]) or 'videotestsrc num-buffers=30'
    pipeline = Gst.parse_launch(f'{source} ! sluice name=filter chain={chain} ! appsink name=sink max-buffers=2 sync=false')
    sink = pipeline.get_by_name('sink')
    pipeline.set_state(Gst.State.PLAYING)
    count = 0
    while sample := sink.emit('pull-sample'):
        with array(sample) as frame:
            print(frame.shape, 'mean %.2f' % frame.mean())
        count += 1
        if count == 10:
            pipeline.get_by_name('filter').set_property('chain', chain + ',invert')  # from the next frame on
    message = pipeline.get_bus().pop_filtered(Gst.MessageType.ERROR)
    print(pipeline.get_by_name('filter').get_property('stats').to_string())
    pipeline.set_state(Gst.State.NULL)
    if message:
        sys.exit(message.parse_error()[0].message)


main()
