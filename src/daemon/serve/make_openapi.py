#!/usr/bin/env python3
"""make_openapi.py VERSION OPENAPI.json SCHEMA.json… OUT.json OUT.c: docs/openapi.json as one document, with the
schemas that it refers to among its components, the responses of x-everywhere in each operation, and HEAD where there
is GET; and the same as text in C."""
import copy
import json
import os
import re
import sys

version, source, *schemas, out_json, out_c = sys.argv[1:]


def load(path):
    with open(path, encoding='utf-8') as file:
        return json.load(file)


def at_home(value, home):
    """References lead to the components; those without a document lead to `home`."""
    if isinstance(value, list):
        return [at_home(one, home) for one in value]
    if not isinstance(value, dict):
        return value
    value = {key: at_home(one, home) for key, one in value.items() if key not in ('$id', '$schema')}
    if '$ref' in value:
        name, _, pointer = value['$ref'].partition('#')
        name = re.sub(r'\.json$', '', os.path.basename(name)) if name else home
        value['$ref'] = '#/components/schemas/' + name + pointer if name else '#' + pointer
    return value


def referred(value):
    """Names of the schemas that a value refers to."""
    return set(re.findall(r'"#/components/schemas/([^"/]+)', json.dumps(value)))


document = at_home(load(source), None)
document['info']['version'] = version
everywhere = document.pop('x-everywhere')
for path in document['paths'].values():
    for operation in path.values():
        operation['responses'] = dict(sorted({**operation['responses'], **everywhere}.items()))
    if 'get' in path:
        head = copy.deepcopy(path['get'])
        head['operationId'] += '_head'
        for status, response in head['responses'].items():
            if 'content' in response:
                del response['content']
            elif '$ref' in response:
                name = response['$ref'].rsplit('/', 1)[1]
                head['responses'][status] = {k: v for k, v in document['components']['responses'][name].items()
                                             if k != 'content'}
        path['head'] = head
known = {os.path.basename(path)[:-5]: path for path in schemas}
components = document['components']['schemas']
while referred(document) - set(components):
    for name in sorted(referred(document) - set(components)):
        components[name] = at_home(load(known[name]), name)
with open(out_json, 'w', encoding='utf-8') as file:
    json.dump(document, file, indent=1, ensure_ascii=False)
    file.write('\n')
text = json.dumps(document, separators=(',', ':'))
pieces = ['    "%s"' % text[i:i + 90].replace('\\', '\\\\').replace('"', '\\"') for i in range(0, len(text), 90)]
with open(out_c, 'w', encoding='utf-8') as file:
    file.write('/* Made by src/daemon/serve/make_openapi.py. */\n#include "daemon/serve/http.h"\n\n'
               'const char http_openapi[] =\n%s;\n' % '\n'.join(pieces))
