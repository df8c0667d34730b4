"""A validator for the part of JSON Schema (draft 2020-12) that docs/schemas and docs/openapi.json keep to. A keyword
that it does not know is an error, so that none is believed to be checked."""
import json
import os
import re

# What says something for people alone.
NOTES = {'$schema', '$id', '$defs', 'title', 'description', 'examples', 'format', 'contentMediaType'}
TYPES = {
    'object': lambda v: isinstance(v, dict),
    'array': lambda v: isinstance(v, list),
    'string': lambda v: isinstance(v, str),
    'boolean': lambda v: isinstance(v, bool),
    'null': lambda v: v is None,
    'number': lambda v: isinstance(v, (int, float)) and not isinstance(v, bool),
    'integer': lambda v: isinstance(v, int) and not isinstance(v, bool) or isinstance(v, float) and v == int(v),
}


class Invalid(Exception):
    """A value that a schema does not allow, and where."""


def same(a, b):
    """As JSON has it: true is not 1."""
    return a == b and isinstance(a, bool) == isinstance(b, bool)


class Schemas:
    """Documents by name; `load` reads one that is not there yet."""

    def __init__(self, folder=None, documents=None):
        self.folder, self.documents = folder, dict(documents or {})

    def document(self, name):
        if name not in self.documents:
            with open(os.path.join(self.folder, name), encoding='utf-8') as file:
                self.documents[name] = json.load(file)
        return self.documents[name]

    def resolve(self, reference, base):
        """The schema that a $ref leads to, and the document that it is in."""
        name, _, pointer = reference.partition('#')
        name = name or base
        schema = self.document(name)
        for part in pointer.split('/')[1:]:
            schema = schema[part.replace('~1', '/').replace('~0', '~')]
        return schema, name

    def check(self, value, name):
        """Raises Invalid where `value` is not as the document (or DOCUMENT#/POINTER) says."""
        schema, base = self.resolve(name, name)
        self.validate(value, schema, base, '$')

    def valid(self, value, schema, base, where):
        try:
            self.validate(value, schema, base, where)
        except Invalid:
            return False
        return True

    def validate(self, value, schema, base, where):
        """Returns the names of an object's members that the schema has looked at."""
        if schema is True:
            return set()
        seen, late = set(), []
        for keyword, wanted in schema.items():
            if keyword in NOTES:
                continue
            if keyword == 'unevaluatedProperties':
                late.append(wanted)
                continue
            if keyword == '$ref':
                target, document = self.resolve(wanted, base)
                seen |= self.validate(value, target, document, where)
                continue
            check = getattr(self, 'is_' + keyword, None)
            if check is None:
                raise NotImplementedError('keyword %s in %s' % (keyword, base))
            seen |= check(value, wanted, schema, base, where) or set()
        if late and isinstance(value, dict) and late[0] is False and set(value) - seen:
            raise Invalid('%s: %s is not known' % (where, ', '.join(sorted(set(value) - seen))))
        return seen

    # ---- keywords: each returns the members that it has looked at, if it looks at members

    def is_type(self, value, wanted, _schema, _base, where):
        names = wanted if isinstance(wanted, list) else [wanted]
        if not any(TYPES[name](value) for name in names):
            raise Invalid('%s: %.80r is no %s' % (where, value, ' or '.join(names)))

    def is_enum(self, value, wanted, _schema, _base, where):
        if not any(same(value, one) for one in wanted):
            raise Invalid('%s: %.80r is none of %s' % (where, value, wanted))

    def is_const(self, value, wanted, schema, base, where):
        self.is_enum(value, [wanted], schema, base, where)

    def is_required(self, value, wanted, _schema, _base, where):
        missing = [name for name in wanted if isinstance(value, dict) and name not in value]
        if missing:
            raise Invalid('%s: %s is missing' % (where, ', '.join(missing)))

    def is_properties(self, value, wanted, _schema, base, where):
        if not isinstance(value, dict):
            return set()
        found = set(value) & set(wanted)
        for name in found:
            self.validate(value[name], wanted[name], base, '%s.%s' % (where, name))
        return found

    def is_additionalProperties(self, value, wanted, schema, base, where):
        if not isinstance(value, dict):
            return set()
        others = set(value) - set(schema.get('properties', {}))
        if wanted is False and others:
            raise Invalid('%s: %s is not known' % (where, ', '.join(sorted(others))))
        for name in others:
            self.validate(value[name], wanted, base, '%s.%s' % (where, name))
        return others

    def is_items(self, value, wanted, _schema, base, where):
        for i, one in enumerate(value if isinstance(value, list) else []):
            self.validate(one, wanted, base, '%s[%d]' % (where, i))

    def is_minItems(self, value, wanted, _schema, _base, where):
        if isinstance(value, list) and len(value) < wanted:
            raise Invalid('%s: fewer than %d' % (where, wanted))

    def is_maxItems(self, value, wanted, _schema, _base, where):
        if isinstance(value, list) and len(value) > wanted:
            raise Invalid('%s: more than %d' % (where, wanted))

    def is_exclusiveMinimum(self, value, wanted, _schema, _base, where):
        if TYPES['number'](value) and value <= wanted:
            raise Invalid('%s: %r is not above %r' % (where, value, wanted))

    def is_minimum(self, value, wanted, _schema, _base, where):
        if TYPES['number'](value) and value < wanted:
            raise Invalid('%s: %r is below %r' % (where, value, wanted))

    def is_maximum(self, value, wanted, _schema, _base, where):
        if TYPES['number'](value) and value > wanted:
            raise Invalid('%s: %r is above %r' % (where, value, wanted))

    def is_minLength(self, value, wanted, _schema, _base, where):
        if isinstance(value, str) and len(value) < wanted:
            raise Invalid('%s: shorter than %d' % (where, wanted))

    def is_maxLength(self, value, wanted, _schema, _base, where):
        if isinstance(value, str) and len(value) > wanted:
            raise Invalid('%s: longer than %d' % (where, wanted))

    def is_pattern(self, value, wanted, _schema, _base, where):
        if isinstance(value, str) and not re.search(wanted, value):
            raise Invalid('%s: %.80r does not match %s' % (where, value, wanted))

    def is_oneOf(self, value, wanted, _schema, base, where):
        fitting = [one for one in wanted if self.valid(value, one, base, where)]
        if len(fitting) != 1:
            raise Invalid('%s: %.80r fits %d of %d' % (where, value, len(fitting), len(wanted)))
        return self.validate(value, fitting[0], base, where)
