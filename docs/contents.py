#!/usr/bin/env python3
"""The pages' navigation: a way back on top, the table of contents of pages with four sections or more, and in docs/README.md
the list of all stages.

    contents.py            writes it where the marks are, or between the title and the text of a page
    contents.py --check    1 when a page differs, a link leads nowhere, or a page is more than two clicks away from docs/README.md"""
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
