"""Checks HTTP answers against the OpenAPI document: every answer that any test gets must be described there. Uses
only Python's standard library; SLUICE_OPENAPI names the document that sluiced serves."""
import json
import os
import sys
import urllib.parse

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '..'))
import schema  # noqa: E402


class Undescribed(AssertionError):
    """An answer that the document does not allow."""


class Document:
    def __init__(self, text):
        self.root = json.loads(text)
        self.schemas = schema.Schemas(documents={'': self.root})
        self.paths = self.root['paths']

    def follow(self, value):
        while '$ref' in value:
            value, _ = self.schemas.resolve(value['$ref'], '')
        return value

    def operations(self):
        return {(path, method.upper()): operation for path, methods in self.paths.items()
                for method, operation in methods.items()}

    def codes(self, response):
        """The codes of problems that a response may have."""
        problem = self.follow(response).get('content', {}).get('application/problem+json')
        return set(problem['schema']['properties']['code']['enum']) if problem else set()

    def response(self, method, path, status):
        """What describes an answer; raises Undescribed where nothing does."""
        if path not in self.paths:
            name, wanted = 'NotFound', 404
        elif method.lower() not in self.paths[path]:
            name, wanted = 'Method', 405
        else:
            responses = self.paths[path][method.lower()]['responses']
            if str(status) not in responses:
                raise Undescribed('%s %s: status %d is not described' % (method, path, status))
            return self.follow(responses[str(status)])
        if status != wanted:
            raise Undescribed('%s %s: status %d, where %d is described' % (method, path, status, wanted))
        return self.root['components']['responses'][name]

    def check(self, method, target, answer):
        path = urllib.parse.unquote(urllib.parse.urlsplit(target).path)
        where = '%s %s: %d' % (method, target[:200], answer.status)
        response = self.response(method, path, answer.status)
        for name, header in response.get('headers', {}).items():
            header, value = self.follow(header), answer.headers.get(name)
            if value is None and header.get('required'):
                raise Undescribed('%s: no %s' % (where, name))
            if value is not None:
                self.validate(value, header['schema'], '%s: %s' % (where, name))
        if method != 'HEAD' and 'content' in response:
            self.check_content(where, response, answer)

    def check_content(self, where, response, answer):
        kind = answer.headers.get('Content-Type', '').split(';')[0]
        if kind not in response['content']:
            raise Undescribed('%s: content of type %r' % (where, kind))
        content = response['content'][kind]
        if 'schema' in content:
            body = json.loads(answer.body) if kind.endswith('json') else answer.body.decode()
            self.validate(body, content['schema'], where)

    def validate(self, value, what, where):
        try:
            self.schemas.validate(value, what, '', '$')
        except schema.Invalid as why:
            raise Undescribed('%s: %s' % (where, why)) from why


def document():
    """None where nobody says which."""
    path = os.environ.get('SLUICE_OPENAPI')
    if not path:
        return None
    with open(path, encoding='utf-8') as file:
        return Document(file.read())
