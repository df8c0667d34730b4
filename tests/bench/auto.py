#!/usr/bin/env python3
"""Whether `--device auto` takes the better of the two devices that it chooses from: tunes chains, then measures each on
both devices and on auto, at sizes that were not tuned. What auto took is a further measurement of the device on which it
ran. Prints a table; exits with 1 if that device takes more than 5 % longer than the better one, twice.

Usage: auto.py [--sluice SLUICE] [--other SEL] [--iterations N]
The other device is the GPU; a machine without one needs an OpenCL layer that calls another device so."""
import argparse
import json
import os
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
CHAINS = ('invert', 'gain:1.5', 'threshold:100', 'threshold:otsu', 'sobel:scale=1', 'fir:gaussian3', 'gauss:2', 'median',
          'erode:3', 'box:radius=4', 'box:radius=50', 'resize:by=0.5', 'rotate:90', 'equalize', 'convert:type=f32,fir:sharpen',
          'sobel:scale=1,threshold:otsu', 'dwt:cdf97:levels=3,idwt', 'dwt:db4:levels=3,shrink,idwt', 'analysis:haar:levels=2',
          'gauss:2,sobel:scale=1,threshold:60')
SIZES = ('180x140', '640x480', '2800x2000')
MARGIN = 1.05


def main():
    parser = argparse.ArgumentParser(description=__doc__.split('\n')[0])
    parser.add_argument('--sluice', default=os.path.join(HERE, '..', '..', 'build', 'src', 'sluice'))
    parser.add_argument('--other', default='gpu')
    parser.add_argument('--iterations', type=int, default=15)
    options = parser.parse_args()
    devices = ('native', options.other, 'auto')

    with tempfile.TemporaryDirectory() as folder:
        env = dict(os.environ, SLUICE_CACHE_DIR=os.path.join(folder, 'cache'))

        def sluice(*args):
            done = subprocess.run([options.sluice, *args], check=True, stdout=subprocess.PIPE, env=env)
            return done.stdout.decode()

        def measure(chains, size):
            """{chain: {device: (seconds of a job, where it ran)}}"""
            told = json.loads(sluice('bench', '--json', '--device', ','.join(devices), '--iterations',
                                     str(options.iterations), '--size', size, *chains))
            count = len(chains)
            rows = [told['rows'][at * count:(at + 1) * count] for at in range(len(devices))]
            return {chain: {device: (rows[d][i]['job_median_s'], rows[d][i]['ran_on']) for d, device in enumerate(devices)}
                    for i, chain in enumerate(chains)}

        config = os.path.join(folder, 'chains.yaml')
        with open(config, 'w', encoding='utf-8') as file:
            file.write('version: 1\nchains:\n')
            for i, chain in enumerate(CHAINS):
                file.write('  c%d: "%s"\n' % (i, chain))
        print(sluice('tune', '--config', config, '--kinds', 'u8x1'))
        def of_choice(times):
            """Where auto ran, and how much longer that takes than the better device."""
            both = {device: times[device][0] for device in devices[:2]}
            chosen = 'native' if times['auto'][1] == 'native' else options.other
            both[chosen] = min(both[chosen], times['auto'][0])
            return chosen, both[chosen] / min(both.values())

        late, cases = 0, 0
        print('%-40s %-10s %10s %10s %10s' % ('ms a job', 'picture', 'native', options.other, 'auto'))
        for size in SIZES:
            measured = measure(CHAINS, size)
            # Where auto seems late it may be the machine: once more, all of them in turn.
            again = [chain for chain, times in measured.items() if of_choice(times)[1] > MARGIN]
            for chain, times in (measure(again, size) if again else {}).items():
                if of_choice(times)[1] < of_choice(measured[chain])[1]:
                    measured[chain] = times
            for chain, times in measured.items():
                chosen, ratio = of_choice(times)
                cases += 1
                late += ratio > MARGIN
                print('%-40s %-10s %10.3f %10.3f %10.3f  %.2f %s%s' % (
                    chain, size, *(times[device][0] * 1e3 for device in devices), ratio, chosen,
                    ' LATE' if ratio > MARGIN else ''))
        print('%d of %d chains and sizes: auto took a device that takes more than 5 %% longer' % (late, cases))
    return late > 0


if __name__ == '__main__':
    sys.exit(main())
