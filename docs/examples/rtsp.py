#!/usr/bin/env python3
"""rtsp.py PIPELINE [PORT]: serves what a pipeline makes at rtsp://localhost:PORT/camera (8554). Its last element is a
payloader named pay0; each camera is opened once, for all viewers. Needs gir1.2-gst-rtsp-server-1.0.

    python3 rtsp.py 'v4l2src ! sluice chain=clahe ! videoconvert ! x264enc tune=zerolatency ! rtph264pay name=pay0'
    gst-launch-1.0 playbin uri=rtsp://localhost:8554/camera"""
import sys

import gi
gi.require_version('Gst', '1.0')
gi.require_version('GstRtspServer', '1.0')
from gi.repository import GLib, Gst, GstRtspServer

Gst.init(None)
server = GstRtspServer.RTSPServer.new()
server.set_address('127.0.0.1') # '0.0.0.0': for other machines, too
server.set_service(sys.argv[2] if len(sys.argv) > 2 else '8554')
factory = GstRtspServer.RTSPMediaFactory.new()
factory.set_launch('( %s )' % sys.argv[1])
factory.set_shared(True)
server.get_mount_points().add_factory('/camera', factory)
server.attach(None)
print('rtsp://localhost:%d/camera' % server.get_bound_port(), flush=True)
GLib.MainLoop().run()
