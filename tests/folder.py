"""A test with a folder of its own."""
import os
import shutil
import tempfile
import unittest


class FolderTest(unittest.TestCase):
    def setUp(self):
        self.dir = tempfile.mkdtemp(prefix='sluice-test-')
        self.addCleanup(shutil.rmtree, self.dir)

    def path(self, name):
        return os.path.join(self.dir, name)

    def write(self, name, data):
        with open(self.path(name), 'wb') as file:
            file.write(data)
        return self.path(name)

    def read(self, name):
        with open(self.path(name), 'rb') as file:
            return file.read()
