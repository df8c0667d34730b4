#!/usr/bin/env python3
"""The pages' navigation: a way back on top, the table of contents of pages with four sections or more, and in docs/README.md
the list of all stages.

    contents.py            writes it where the marks are, or between the title and the text of a page
    contents.py --check    1 when a page differs, a link leads nowhere, or a page is more than two clicks away from docs/README.md;
                           when architecture.md or spool.md name a file or a function that is not there; or when a promise of
                           reliability.md, or a section of daemon.md, has no test, or one that is not there"""
import os
import re
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(HERE)
INDEX = os.path.join(HERE, 'README.md')
TOP = (os.path.join(ROOT, 'README.md'), os.path.join(ROOT, 'CONTRIBUTING.md'), os.path.join(ROOT, 'CHANGELOG.md'))
BEGIN, END = '<!-- contents -->', '<!-- /contents -->'
LINK = re.compile(r'!?\[[^\]]*\]\(([^)\s]+)\)')


def pages():
    for folder, _, names in os.walk(HERE):
        yield from (os.path.join(folder, name) for name in sorted(names) if name.endswith('.md'))


def read(path):
    with open(path, encoding='utf-8') as file:
        return file.read()


def without_code(text):
    text = re.sub(r'(?ms)^```.*?^```$', '', text)
    return re.sub(r'(?m)^    .*$', '', text)


def anchor(heading):
    """As GitHub makes it."""
    heading = re.sub(r'\[([^\]]*)\]\([^)]*\)', r'\1', heading).strip().lower().replace('`', '')
    return re.sub(r'[^\w\- ]', '', heading).replace(' ', '-')


def anchors(text):
    seen, found = {}, []
    for heading in re.findall(r'(?m)^#+ (.*)$', without_code(text)):
        name = anchor(heading)
        found.append(name if name not in seen else '%s-%d' % (name, seen[name]))
        seen[name] = seen.get(name, 0) + 1
    return found


def navigation(path, text):
    lines = []
    if path != INDEX:
        index = os.path.relpath(INDEX, os.path.dirname(path))
        notation = ' · [Notation](%s#notation)' % index if os.path.dirname(path).endswith('stages') else ''
        lines.append('[Documentation](%s)%s' % (index, notation))
    sections = re.findall(r'(?m)^## (.*)$', without_code(text))
    if len(sections) >= 4:
        lines.append(' · '.join('[%s](#%s)' % (section.replace('[', '').replace(']', ''), anchor(section)) for section in sections))
    return '%s\n%s\n%s\n' % (BEGIN, '\n\n'.join(lines), END)


def stages():
    names = sorted(name[:-3] for name in os.listdir(os.path.join(HERE, 'stages')) if name.endswith('.md'))
    return ' · '.join('[%s](stages/%s.md)' % (name, name) for name in names)


def with_navigation(path):
    if path == INDEX:
        return re.sub(r'(?s)(?<=<!-- stages -->\n).*?(?=<!-- /stages -->)', 'By name: %s\n' % stages(), read(path))
    text = re.sub(r'(?s)%s.*?%s\n+' % (BEGIN, END), '', read(path))
    title, rest = text.split('\n', 1)
    return '%s\n\n%s\n%s' % (title, navigation(path, text), rest.lstrip('\n'))


def targets(path, complaints):
    """The files that a page links to."""
    found = set()
    for link in LINK.findall(without_code(read(path))):
        if re.match(r'[a-z]+:', link):
            continue
        name, _, place = link.partition('#')
        target = os.path.normpath(os.path.join(os.path.dirname(path), name)) if name else path
        if not os.path.exists(target):
            complaints.append('%s: %s is not there' % (os.path.relpath(path, ROOT), link))
        elif place and target.endswith('.md') and place not in anchors(read(target)):
            complaints.append('%s: %s has no such section' % (os.path.relpath(path, ROOT), link))
        found.add(target)
    return found


def sources():
    """Every file of the source by its path, and every word of those that are code."""
    paths, words = [], set()
    for top in ('cl', 'cross', 'docs', 'include', 'src', 'tests'):
        for folder, _, names in os.walk(os.path.join(ROOT, top)):
            for name in names:
                paths.append('/' + os.path.relpath(os.path.join(folder, name), ROOT))
                if name.endswith(('.c', '.h', '.cl', '.py', '.sh', '.build')):
                    words.update(re.findall(r'\w+', read(os.path.join(folder, name))))
    return paths, words


# What is no place of ours: patterns, the kernel's and libraries' files, and what spool.md tells of disks.
FOREIGN = re.compile(r'NAME|INSTANCE|^(CL/cl\.h|microhttpd\.h|fs/ext4/.*|recently_deleted|_write)$')


def names_of_code(complaints):
    """Files and functions that the two pages about the code name are there, and so is each part of a room of the daemon."""
    paths, words = sources()
    for page in ('architecture.md', 'spool.md'):
        room = None
        for number, line in enumerate(read(os.path.join(HERE, page)).split('\n'), 1):
            head = re.match(r'\| `(\w+)`: ', line)
            room = head.group(1) if head else room if line.startswith('|') else None
            first = set(re.findall(r'`(\w+)`', line.split('|')[1])) if room and not head else set()
            for name in re.findall(r'`([^`]+)`', line):
                bare = name.replace('()', '')
                if FOREIGN.search(bare):
                    continue
                if bare in first:
                    there = any('/src/daemon/%s/%s%s' % (room, bare, end) in paths for end in ('.c', '.h'))
                elif re.fullmatch(r'[\w./-]+\.(c|h|cl|py|sh)', bare):
                    there = any(path.endswith('/' + bare) for path in paths)
                else:
                    there = not (re.fullmatch(r'[A-Za-z_]\w*', bare) and ('_' in bare or '()' in name)) or bare in words
                if not there:
                    complaints.append('docs/%s:%d: %s is not there' % (page, number, name))


def tests_of_promises(complaints):
    """Each promise names a test or a suite, and those are there; so does each section of the daemon's page."""
    lists = read(os.path.join(ROOT, 'tests', 'meson.build'))
    quoted = set(re.findall(r"'([\w-]+)'", lists)) | set(re.findall(r'(?m)^#   (\w+) ', read(os.path.join(ROOT, 'tests', 'run.sh'))))
    prefixes = re.findall(r"'(\w+-)' \+ name", lists)

    def tests_in(cell):
        return [name for name in re.findall(r'`([a-z][\w-]*)`', cell) if not name.startswith('test_')]

    def is_there(name):
        return name in quoted or any(name.startswith(prefix) and name[len(prefix):] in quoted for prefix in prefixes)

    text = read(os.path.join(HERE, 'reliability.md'))
    rows = re.findall(r'(?m)^\| (.*?) \| (.*?) \|', text.split('## Promises')[1].split('\n##')[0])[2:]
    sections = re.findall(r'(?m)^\| \[[^\]]*\]\(daemon\.md#([^)]*)\) \| (.*) \|$', text)
    complaints += ['docs/reliability.md: no test of "%s"' % what for what, tests in rows + sections if not tests_in(tests)]
    complaints += ['docs/reliability.md: no tests of "%s" in daemon.md' % section
                   for section in anchors(read(os.path.join(HERE, 'daemon.md')))[1:] if section not in dict(sections)]
    named = {name for _, tests in rows + sections for name in tests_in(tests)} | set(re.findall(r'`((?:daemon|endurance|cli)-[a-z_-]+)`', text))
    complaints += ['docs/reliability.md: there is no test %s' % name for name in sorted(named) if not is_there(name)]


def check():
    complaints = ['%s: its navigation is old; run docs/contents.py' % os.path.relpath(path, ROOT)
                  for path in pages() if read(path) != with_navigation(path)]
    links = {path: targets(path, complaints) for path in (*pages(), *TOP)}
    near = set(links[INDEX])
    for path in list(near):
        near |= links.get(path, set())
    complaints += ['%s: more than two clicks away from docs/README.md' % os.path.relpath(path, ROOT)
                   for path in pages() if path not in near and path != INDEX]
    if INDEX not in links[TOP[0]]:
        complaints.append('README.md: no link to docs/README.md')
    names_of_code(complaints)
    tests_of_promises(complaints)
    return complaints


def main():
    if sys.argv[1:] == ['--check']:
        complaints = check()
        print('\n'.join(complaints) if complaints else '%d pages' % len(list(pages())))
        sys.exit(bool(complaints))
    for path in pages():
        text = with_navigation(path)
        if text != read(path):
            with open(path, 'w', encoding='utf-8') as file:
                file.write(text)


main()
