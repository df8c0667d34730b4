"""Chains of every stage, made from what `sluice stages --json` says of its parameters.

    mali_cases.py SLUICE      whether `plan --board` knows what the simplest of each stage, type and number of channels cost

A chain is one stage, behind one that gives it planes where it takes nothing else. What it must be told is told; beside
that, each parameter is varied alone and together with each other one, over all words that it knows and a few numbers
within its limits. Chains that `sluice plan` refuses are left out, and those that it prints alike are one."""
import concurrent.futures
import itertools
import json
import os
import re
import subprocess
import sys

TYPES, CHANNELS = ('u8', 'u16', 'f32'), (1, 3, 4)
WIDTH, HEIGHT = 4096, 3072
FRONTS = ('', 'dwt:cdf97:levels=1,', 'analysis:haar,')
INTEGERS = (3, 1, 5, 15, 50)
NUMBERS = (1.5, 0.25, 4, 12)
MATRICES = ('1_2_3/4_5_6/7_8_9', '0.9_0.1_0/0_0.9_0.1/0.1_0_0.9')
LENGTHS = {'w': ('1024', '6000'), 'h': ('1024',)}  # of a picture's sides
PAIRED_MAX = 8  # values of a parameter that is varied together with others


def texts_of(param):
    return [f"{param['name']}={value}" for value in values_of(param)]


def values_of(param):
    """Texts for a parameter: each word that it knows, and numbers that it may be."""
    kind, least, most = param['type'], param.get('min', -1e30), param.get('max', 1e30)
    found = list(param.get('choices', []))
    if param['name'] in LENGTHS:
        found += LENGTHS[param['name']]
    elif kind.startswith('integer'):
        found += [str(n) for n in INTEGERS if least <= n <= most]
    elif kind.startswith('number') and kind != 'numbers':
        found += [f'{n:g}' for n in NUMBERS if least <= n <= most]
    elif kind == 'matrix':
        found += MATRICES
    elif kind == 'flag':
        found += ['1', '0']
    elif param['name'] == 'bank':  # a word: those that stand in its help
        found += re.findall(r'\w+', param['help'].split(', or ')[0])
    elif param['name'] == 'picture':  # a second one, all of whose samples are that
        found.append('3')
    return found


class Planner:
    """`sluice plan` under the profile of a Mali, each answer kept."""

    def __init__(self, sluice, *how):
        self.sluice, self.how, self.kept = sluice, how or ('--profile', 'mali'), {}

    def ask(self, case, what='--json'):
        """Of (chain, type, size, …): what plan prints, or None where it refuses."""
        if (case, what) not in self.kept:
            chain, sample_type, size, *more = case
            done = subprocess.run([self.sluice, 'plan', *self.how, what, '-c', chain, '--type', sample_type, *more, size],
                                  capture_output=True, text=True)
            if done.returncode not in (0, 64, 65, 69):
                raise RuntimeError(f'{chain} {sample_type} {size}: {done.returncode}: {done.stderr}')
            text = done.stdout if done.returncode == 0 else None
            self.kept[case, what] = json.loads(text) if text and what == '--json' else text
        return self.kept[case, what]


def chain_of(stage, setting):
    return ':'.join([stage['name'], *setting])


class Stages:
    """All stages, and chains of each for pictures of one type and number of channels."""

    def __init__(self, planner):
        self.planner = planner
        self.all = json.loads(subprocess.check_output([planner.sluice, 'stages', '--json']))

    def simplest(self, stage, kind):
        """(front, setting, case): the least that the stage must be told, and stand behind, for its kernels to run. None:
        it does nothing to such pictures, or takes none."""
        required = [f"{p['name']}={values_of(p)[0]}" for p in stage['params'] if p['required']]
        more = [required + [one] for p in stage['params'] for one in texts_of(p)]
        for settings in [required], more:
            for front, setting in itertools.product(FRONTS, settings):
                case = (front + chain_of(stage, setting), *kind)
                plan = self.planner.ask(case)
                if plan and any(step['passes'] for step in plan['steps'] if stage['name'] in step['stage']):
                    return front, setting, case
        return None

    def cases(self, stage, kind):
        """That of simplest() first, and all that vary it."""
        found = self.simplest(stage, kind)
        if not found:
            return []
        front, least, case = found
        params = {p['name']: texts_of(p) for p in stage['params']}
        words = {p['name'] for p in stage['params'] if p['type'] == 'choice' or p.get('choices')}

        def told(*given):
            names = {one.split('=')[0] for one in given}
            return front + chain_of(stage, [one for one in least if one.split('=')[0] not in names] + list(given))

        alone = self.distinct([case[0]] + [told(one) for texts in params.values() for one in texts], kind)
        params = {name: [one for one in texts if told(one) in alone] for name, texts in params.items()}
        pairs = [told(a, b) for one, other in itertools.combinations(params, 2) if {one, other} & words
                 for a, b in itertools.product(params[one], params[other])
                 if len(params[one]) <= PAIRED_MAX and len(params[other]) <= PAIRED_MAX]
        return [(chain, *kind) for chain in self.distinct(alone + pairs, kind)]

    def distinct(self, chains, kind):
        """Of those that plan accepts, the first of each that it prints alike."""
        chains = list(dict.fromkeys(chains))
        with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
            plans = pool.map(lambda chain: self.planner.ask((chain, *kind)), chains)
            first = {}
            for chain, plan in zip(chains, plans):
                if plan:
                    first.setdefault(plan['chain'], chain)
        return list(first.values())

    def simplest_cases(self):
        for stage, sample_type, channels in itertools.product(self.all, TYPES, CHANNELS):
            found = self.simplest(stage, (sample_type, f'{WIDTH}x{HEIGHT}x{channels}'))
            if found:
                yield found[2]

    def all_cases(self):
        """Fronts are varied, too, for the stages that they stand before."""
        for stage, sample_type, channels in itertools.product(self.all, TYPES, CHANNELS):
            kind = sample_type, f'{WIDTH}x{HEIGHT}x{channels}'
            found = self.simplest(stage, kind)
            yield from self.cases(stage, kind)
            if found and found[0]:
                before = next(s for s in self.all if found[0].startswith(s['name'] + ':'))
                yield from ((f'{chain},{chain_of(stage, found[1])}', *rest) for chain, *rest in self.cases(before, kind))


def main():
    """Of the simplest chains, whether each kernel has been counted."""
    planner = Planner(sys.argv[1], '--board', 'rock5b')
    cases = list(Stages(planner).simplest_cases())
    launches = [(case, launch) for case in cases for step in planner.ask(case)['steps'] for launch in step['passes']]
    unknown = {launch['kernel']: case for case, launch in launches if launch['bound']['unit'] is None}
    print(f"{len(cases)} plans of one stage, {len({launch['kernel'] for _, launch in launches})} kernels")
    sys.exit('\n'.join(f'{kernel} was not counted (tests/mali_table.py does it): {" ".join(case)}'
                       for kernel, case in unknown.items()) or 0)


if __name__ == '__main__':
    main()
