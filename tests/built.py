"""What the programs under test were built with."""
import os
import unittest

OPENCL = 'WITHOUT_OPENCL' not in os.environ
needs_opencl = unittest.skipUnless(OPENCL, 'built without OpenCL')
