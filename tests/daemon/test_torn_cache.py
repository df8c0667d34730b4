#!/usr/bin/env python3
"""A driver's kernel cache, damaged by a power cut, that makes every start crash."""
import glob
import os

from sluice_test import DaemonTest, main, picture, wait_for


class TornCache(DaemonTest):
    def test_a_torn_cache_of_the_driver(self):
        """The real worker, and PoCL's compiled kernels as a power cut may leave them: cut off."""
        cache = os.path.join(self.dir, 'cache')
        env = {'SLUICE_CACHE_DIR': cache, 'POCL_CACHE_DIR': os.path.join(self.dir, 'elsewhere')}
        self.start(env=env).stop()
        kernels = glob.glob(os.path.join(cache, 'pocl', '**', '*.so'), recursive=True)
        self.assertTrue(kernels, 'PoCL keeps its kernels below our cache')
        self.assertFalse(os.path.exists(env['POCL_CACHE_DIR']))
        with open(os.path.join(cache, 'not-ours'), 'w', encoding='ascii'):
            pass
        for path in kernels:  # a library that ends within its tables: loading it is SIGBUS or worse
            size = os.path.getsize(path)
            with open(path, 'r+b') as file:
                file.truncate(4096 if size > 4096 else size // 2)
        d = self.start(env=env)
        d.drop('a.pgm', picture())
        self.assertEqual(d.expect('a.pgm'), self.by_sluice_run(picture())[''])
        wait_for('the original', lambda: d.done() == ['a.pgm'])
        self.assertEqual(d.failed(), [])
        self.assertTrue(os.path.exists(os.path.join(cache, 'not-ours')))
        self.assertEqual(d.count_lines('kernel caches emptied'), 1, d.log())
        self.assertNotIn('FALLING BACK', d.log())
        d.stop()


if __name__ == '__main__':
    main()
