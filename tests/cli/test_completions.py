#!/usr/bin/env python3
"""test_completions.py SLUICE SLUICED FOLDER: completions are what the programs say, and bash completes with them."""
import os
import shutil
import subprocess
import sys
import unittest

SLUICE, SLUICED, FOLDER = sys.argv[1:4]
DRIVER = '''
compopt() { :; }
. "$1"
shift
COMP_WORDS=("$@")
COMP_CWORD=$(($# - 1))
_sluice "$1"
printf '%s\\n' "${COMPREPLY[@]}"
'''


def complete(*words):
    process = subprocess.run(['bash', '-c', DRIVER, 'bash', os.path.join(FOLDER, 'sluice.bash'), *words], check=True,
                             capture_output=True, text=True)
    assert not process.stderr, process.stderr
    return process.stdout.split()


class Completions(unittest.TestCase):
    def test_they_are_what_the_programs_say(self):
        process = subprocess.run([sys.executable, os.path.join(FOLDER, 'make.py'), '--check', SLUICE, SLUICED, FOLDER],
                                 check=False, capture_output=True, text=True)
        self.assertEqual((process.returncode, process.stdout, process.stderr), (0, '', ''))

    def test_commands(self):
        self.assertEqual(complete('sluice', 'wh'), ['why'])
        self.assertIn('check-config', complete('sluice', ''))
        self.assertEqual(complete('sluice', 'help', 'dev'), ['devices'])

    def test_options(self):
        self.assertEqual(complete('sluice', 'run', '--on-e'), ['--on-exists'])
        self.assertEqual(complete('sluice', 'why', '--on-e'), [])
        self.assertEqual(complete('sluiced', '--sand'), ['--sandbox'])
        self.assertEqual(complete('/usr/bin/sluiced', '--sand'), ['--sandbox'])

    def test_values(self):
        self.assertEqual(complete('sluice', 'run', '--on-exists', 's'), ['skip'])
        self.assertEqual(complete('sluice', 'run', '-f', 'j'), ['jpg'])
        self.assertEqual(complete('sluiced', '--claim', 'n'), ['none'])

    def test_chains(self):
        self.assertEqual(complete('sluice', 'run', '-c', 'lum'), ['luminance'])
        self.assertEqual(complete('sluice', 'run', '-c', 'luminance,so'), ['luminance,sobel'])
        self.assertEqual(complete('sluice', 'stages', 'thr'), ['threshold'])

    def test_other_shells_can_read_them(self):
        for shell, name in (('bash', 'sluice.bash'), ('zsh', '_sluice'), ('fish', 'sluice.fish')):
            if shutil.which(shell):
                subprocess.run([shell, '-n', os.path.join(FOLDER, name)], check=True)


if __name__ == '__main__':
    unittest.main(argv=sys.argv[:1], verbosity=2)
