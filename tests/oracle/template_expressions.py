"""What chat templates may hold, piece by piece: each kind of value in each place, method, filter, test and operator.

    python -m tests.oracle.template_expressions OUT

writes OUT/expressions.json: templates, each with the text that transformers' apply_chat_template gives, or with the
exception that it raises. Left out are addresses, which no two runs agree on, and what docs/models.md says is not taken.
"""

import argparse
import json
import os
import pathlib

from tests.oracle import stamp

MESSAGES = [{"role": "user", "content": "Hello, World"}, {"role": "assistant", "content": "Hi <b>&\n"}]

VALUES = ["none", "undefined_name", "true", "false", "0", "7", "-3", "2.5", "1e20", "''", "'text'", "' a B  c '",
          "'12'", "[]", "[1, 2]", "['b', 'a', 'B']", "[[2, 'x'], [1, 'y']]", "('t', 1)", "{}", "{'a': 1, 'b': none}",
          "messages", "messages[0]", "range(3) | list", "tools"]
FEW = ["none", "undefined_name", "true", "7", "-3", "2.5", "''", "'text'", "'%s'", "[1, 2]", "['text']", "('t', 1)",
       "{'a': 1}"]
STRINGS = ["''", "'abc'", "' Ab cd  ab '", "'-42'", "'+7.5'", "'Straße ÉCOLE ǆ'", "'line\\none\\r\\ntwo\\x0bthree'",
           "'x\\ty\\tz'", "'٣½²'", "'a_b1'", "'Title Case'", "'ab' * 3", "'you\\'re <b>&amp;</b>'", "'日本語 text'"]

PLACES = [
    "{{ V }}", "{% for x in V %}<{{ x }}>{% else %}none{% endfor %}", "{% for x in V if x %}<{{ x }}>{% endfor %}",
    "{% for a, b in V %}<{{ a }}{{ b }}>{% endfor %}",
    "{% if V %}yes{% else %}no{% endif %}", "{{ not V }}", "{{ V[0] }}", "{{ V[-1] }}",
    "{{ V['a'] }}", "{{ V.a }}", "{{ V.a.b }}", "{{ V[9] }}",
    "{{ V ~ 'x' }}", "{{ V ~ V }}", "{{ [V, V] }}", "{{ {'k': V} }}", "{{ (V, 1) }}",
    "{{ V if V else 'e' }}", "{{ V or 'e' }}", "{{ V and 'e' }}", "{{ '%s' % V }}", "{{ '%r|%s' % (V, V) }}",
    "{{ '%d' % V }}", "{{ '%5.1f|' % V }}", "{{ '%-6s|' % V }}", "{{ 'a%%b%s' % [V] }}", "{{ '%(a)s' % V }}",
    "{{ '{}'.format(V) }}", "{{ '{0!r:>9}|'.format(V) }}", "{{ '{x}'.format(x=V) }}", "{{ '{:>6}|'.format(V) }}",
    "{{ '%s' | format(V) }}", "{{ 'abc'.startswith(V) }}", "{{ 'abc'.replace('b', V) }}",
    "{{ ', '.join(V) }}", "{{ V.items() | list }}", "{{ V.keys() | list }}", "{{ V.values() | list }}",
    "{{ V.get('a') }}", "{{ V.get('z', 'd') }}", "{{ V.count(1) }}", "{{ V.index(1) }}",
    "{{ V.append(1) }}", "{{ V.pop() }}", "{{ V.update({}) }}", "{{ V.nothing() }}", "{{ V() }}", "{{ V.upper() }}",
    "{% set x = V %}{{ x }}", "{% with x = V %}{{ x }}{% endwith %}",
    "{% set ns = namespace(x=V) %}{% set ns.x = [ns.x] %}{{ ns.x }}", "{% filter upper %}{{ V }}{% endfilter %}",
    "{% macro m(x, y=V) %}{{ x }}{{ y }}{% endmacro %}{{ m(1) }}", "{{ range(V) | list }}",
    "{{ dict(a=V) }}", "{{ V is defined and V }}", "{{ 1 if V is not none and V }}",
    "{{ V['content'] | trim }}", "{% for k, v in V.items() %}{{ k }}={{ v }}{% endfor %}",
    "{% for k, v in V | items %}{{ k }}={{ v }}{% endfor %}", "{% for k, v in V | dictsort %}{{ k }}{% endfor %}",
    "{{ raise_exception(V) }}", "{% for x in [1] + V %}{{ x }}{% endfor %}", "{% for x in V | list %}{{ x }}{% endfor %}",
    "{{ 'x' if 'a' in V else 'y' }}", "{{ V | tojson | safe }}", "{{ V is in [1, 'text', none] }}",
]
FILTERS = [
    "batch(2) | list", "batch(2, 'f') | list", "capitalize", "center(9)", "count", "d('d')",
    "default('d')", "default('d', true)", "default", "dictsort", "dictsort(reverse=true)",
    "e", "escape", "first", "float", "float(1.5)", "forceescape", "format('x')", "indent", "indent(2)", "indent(2, true)", "int", "int(5)",
    "int(default=5)", "items | list", "join", "join(', ')", "join(',', attribute='role')", "last", "length", "list",
    "lower", "map('upper') | list", "map(attribute='role') | list", "map(attribute='role', default='x') | list",  "reject('none') | list", "rejectattr('role') | list",
    "rejectattr('role', 'eq', 'user') | list", "replace('a', 'b')", "replace('t', 'T', 1)", "reverse | list", "reverse",
     "select('string') | list",
    "select | list", "selectattr('role', 'equalto', 'user') | list", "selectattr('role') | list", "slice(2) | list",
    "sort(attribute='role')", "string", "sum",
    "sum(start=2)", "title", "tojson", "tojson(indent=2)", "tojson(ensure_ascii=true)", "trim",
    "trim('t')", "truncate(5)", "truncate(3, true, '..', leeway=0)", "upper",
    "wordcount", "no_such_filter", "items",
]
TESTS = [
    "boolean", "callable", "defined", "divisibleby(2)", "divisibleby 3", "eq 7", "equalto 'text'", "escaped", "even",
    "false", "float", "ge 1", "gt 1", "greaterthan 1", "in [7]", "integer", "iterable", "le 1", "lower",
    "lt 1", "lessthan 1", "mapping", "ne 7", "none", "number", "odd", "sameas none", "sequence", "string",
    "true", "undefined", "upper", "not none", "not string", "no_such_test", "sameas true",
]
BINARY = ["+", "-", "*", "/", "//", "%", "~", "==", "!=", "and", "or"]
ORDERED = [("7", "-3"), ("2.5", "true"), ("'a'", "'B'"), ("''", "'a'"), ("[1, 2]", "[1, 3]"), ("(1,)", "(1, 2)")]
CONTAINERS = ["[1, 7, 'text']", "('t', none)", "['']", "none", "7", "undefined_name"]
LISTS = ["[3, 1, 2]", "['b', 'B', 'a', 'b']", "[1.5, 1, true]", "[]", "messages | map(attribute='role') | list"]
OF_LISTS = ["max", "min", "sort", "sort(reverse=true)", "sort(case_sensitive=true)", "unique | list", "unique(true) | list",
            "first", "last", "length", "batch(2) | list", "slice(2) | list"]
METHODS = [
    "capitalize()", "casefold()", "center(9)", "center(9, '*')", "count('a')", "count('a', 1)", "count('a', 1, 4)",
    "count('')", "endswith('b')", "endswith(('b', 'c'))", "endswith('b', 0, 2)", "expandtabs()",
    "expandtabs(4)", "find('b')", "find('b', 2)", "find('b', 0, -1)", "find('')", "index('b')", "isalnum()", "isalpha()",
    "isascii()", "isdecimal()", "isdigit()", "isidentifier()", "islower()", "isnumeric()", "isprintable()", "isspace()",
    "istitle()", "isupper()", "join(['x', 'y'])", "join('xyz')", "join([1])", "ljust(9)", "ljust(9, '.')", "lower()",
    "lstrip()", "lstrip('a ')", "partition(' ')", "partition('b')", "removeprefix('a')", "removesuffix('c')",
    "replace('a', 'b')", "replace('a', 'b', 1)", "replace('a', 'b', count=1)", "replace('', '-')", "replace('', '-', 2)",
    "rfind('a')", "rfind('a', 1, -1)", "rindex('b')", "rjust(9)", "rjust(9, '0')", "rpartition(' ')", "rsplit()",
    "rsplit(None, 1)", "rsplit(' ', 1)", "rsplit('b')", "rsplit(maxsplit=1)", "rstrip()", "rstrip('b ')", "split()",
    "split(' ')", "split('b', 1)", "split(None, 1)", "split(sep='a')", "split(maxsplit=1)", "split('')", "split(1)",
    "splitlines()", "splitlines(true)", "splitlines(keepends=true)", "startswith('a')", "startswith(('a', ' '))",
    "startswith('b', 1)", "startswith(['a'])", "startswith(1)", "strip()", "strip(' ab')", "strip(none)", "strip(1)",
    "swapcase()", "title()", "upper()", "zfill(6)", "zfill(2)", "upper(1)", "no_such()",
    "__class__", "__len__()", "format(1)", "length", "split()[0]", "split(' ')[-1] | length", "lower",
]
FORMATS = [
    "'%s and %s' % ('a', 1)", "'%s' % ('a', 1)", "'%s %s' % 'a'", "'%05d|%+d|% d|%x|%X|%o|%c|%c' % (42, 4, 4, 255, 255, 8, 65, 'z')",
    "'%.3s|%8.3s|%-8s|' % ('abcdef', 'abcdef', 'ab')", "'%e %.2E %g %G' % (12345.678, 0.00012, 1e-10, 1e20)",
    "'%*d' % (5, 3)", "'%.*f' % (2, 3.14159)", "'%(a)s-%(b)05.1f' % {'a': 'x', 'b': 2}", "'%' % ()", "'%z' % 1", "'%s' % {}",
    "'100%' % ()", "'%%' % ()", "'%s' % ('a',) ~ 'b'", "'a' ~ '%s' % 1 + 'c'", "2 * '%s' % (1, 2)", "'%d%%' % 7 | length",
    "('%s' | string) % 5", "7 % 3", "7.5 % 2", "-7 % 3", "10 - 7 % 4 * 2", "10 % 4 % 3", "'%s' % 7 % ()", "'%i' % 3.9", "'%d' % '3'",
    "'%s' % none", "'%s' % true", "'%s' % 1.0", "'%r' % 'it'", "'%5s|%-5s|' % (true, none)", "'%s' % ([1, 'a'],)",
    "[1, 2][7 % 2]", "{'a': 7 % 4}", "(7 % 4, 8 % 5)", "range(7 % 4) | list", "'%s' % (1 if true else 2)", "-7 % 3 ** 2", "7 %3",
    "loop % 2", "messages | length % 2 == 0", "not 4 % 2", "'x%sy' % 'a b'.split()[0]", "'%s' % messages[0].content",
    "'{} {}'.format('a', 1)", "'{1} {0}'.format('a', 1)", "'{0}{0}'.format('a')", "'{}'.format()", "'{0} {}'.format(1, 2)",
    "'{a.b}'.format(a={'b': 1})", "'{a[b]}'.format(a={'b': 1})", "'{:05d}|{:<5}|{:^5}|{:*>5}'.format(42, 'a', 'b', 'c')",
    "'{:,}|{:_}|{:.2f}|{:.1%}|{:e}|{:g}'.format(1234567, 1234567, 3.14159, 0.256, 12345.678, 1e-7)", "'{{}} {}'.format(1)",
    "'{:x}|{:#x}|{:b}|{:o}|{:c}|{:+}'.format(255, 255, 5, 8, 65, 3)", "'{!r} {!s}'.format('a', 'b')", "'{'.format(1)",
    "'{:{}}|'.format('a', 5)", "'{:{w}.{p}f}|'.format(3.14159, w=8, p=2)", "'{:d}'.format('a')", "'{:s}'.format(1)", "'{:>{w}}'.format(1, w=4)",
    "'{0[0]}{0[1]}'.format([1, 2])", "'{:.3}'.format('abcdef')", "'{:10.3f}|{:<10.3e}|'.format(2.5, 2.5)", "'{:06.1f}'.format(2.25)",
    "'{:>4}{:>4}'.format(none, true)", "'{}'.format([1, 'a'])", "'{:5}|'.format(true)", "'%s' % '{}'.format(1)",
    "'%d' | format(3)", "'%s %s' | format('a', 'b')", "'%(x)s' | format(x=1)", "'a%sb%%' | format('x')", "'{:%Y}'.format(1)",
]
WHOLE = [
    "{% for tool in tools %}{{ tool }}{% endfor %}", "{% for x in none %}x{% endfor %}", "{% for x in undefined_name %}x{% else %}e{% endfor %}",
    "{% for t in tools if t %}x{% endfor %}", "{% for t in (tools or []) %}x{% else %}e{% endfor %}", "{% for x in 5 %}x{% endfor %}",
    "{% for x in (1 if tools else [2]) %}{{ x }}{% endfor %}", "{% for x in [1, 2] if x % 2 %}{{ x }}{% endfor %}", "{% for x in 1, 2 %}{{ x }}{% endfor %}",
    "{% for a, (b, c) in [(1, (2, 3))] %}{{ a }}{{ b }}{{ c }}{% endfor %}", "{%- for m in messages -%} {{ loop.index % 2 }} {%- endfor -%}",
    "{% for x in [[1, [2]], [3]] recursive %}{% if x is iterable %}({{ loop(x) }}){% else %}{{ x }}{% endif %}{% endfor %}",
    "{% for m in messages %}{% for c in m.content if c != 'l' %}{{ c }}{% endfor %}{% endfor %}", "{% for x in messages | map(attribute='role') %}{{ x }}{% endfor %}",
    "{% for x in 'a%b' %}{{ x }}{% endfor %}", "{% for x in {'a': 1} %}{{ x }}{% endfor %}", "{% for m in messages %}{{ loop.nextitem.role }}{% endfor %}",
    "{% for k in {'%': '%}'} %}{{ k }}{% endfor %}", "{{ '%}' % () }}", "{{ '}}' }}", "{# '%s' % 1 #}{{ 7 %2 }}", "{% raw %}{{ '%s' % 1 }}{% for x in none %}{% endraw %}",
    "{% if 7 % 2 == 1 and '%d' % 3 == '3' %}y{% endif %}", "{% set x = '%s-%s' % ('a', 'b') %}{{ x }}", "{% set x %}a%b{% endset %}{{ x }}",
    "{% macro f(a, b='%s' % 3) %}{{ a % 2 }}{{ b }}{% endmacro %}{{ f(7 % 4) }}{{ f(a=5 % 3, b='c') }}", "{{ messages[7 % 2].role }}",
    "{% set j = joiner(', ') %}{{ j() }}a{{ j() }}b",
    "{{ messages | map('tojson') | join(' ') }}", "{{ messages | selectattr('role', 'in', ['user']) | list | length }}",
    "{{ messages | map(attribute='content') | map('length') | list }}",
    "{{ 10 ** 30 }}", "{{ 2 ** 100 }}", "{{ 9223372036854775807 + 1 }}", "{{ 1 / 3 }}", "{{ 1 // 0 }}", "{{ 1 % 0 }}", "{{ 1 / 0 }}", "{{ 2 ** -1 }}", "{{ 0.1 + 0.2 }}",
    "{{ 5 == 5.0 }}", "{{ true == 1 }}", "{{ 'a' < 'b' < 'c' }}", "{{ 1 < 2 < 2 }}", "{{ [1] < [2] }}", "{{ {'a': 1} == {'a': 1} }}", "{{ 1 in [true] }}",
    "{{ none + 'a' }}", "{{ 'a' + none }}", "{{ 'a' + 1 }}", "{{ [1] * 2 }}", "{{ (1,) + (2,) }}", "{{ [1] + (2,) }}", "{{ {'a': 1} + {} }}", "{{ true + true }}",
    "{{ undefined_name + 'a' }}", "{{ 'a' ~ undefined_name ~ 'b' }}", "{{ undefined_name == none }}", "{{ undefined_name.x }}", "{{ undefined_name['x'] is defined }}",
    "{{ undefined_name is defined and undefined_name.x }}", "{{ messages[0].x.y }}", "{{ messages[0].x is defined }}", "{{ messages[5] is defined }}", "{{ messages[5].role }}",
    "{{ messages[0]['tool_calls'] | length }}", "{{ messages[0].tool_calls }}", "{{ 'a' in undefined_name }}", "{{ 'a' in none }}",
    "{{ [1, 2, 3][1:2] }}{{ 'abc'[1] }}{{ (1, 2)[:1] }}{{ range(5)[2:] | list }}", "{{ 'abc'['1'] }}", "{{ [1]['a'] }}", "{{ {'a': 1}[[]] }}", "{{ [1][1.0] }}", "{{ [1][true] }}",
    "{{ 'abc' is string and 'abc' is not number }}", "{{ (1, 2) is sequence }}", "{{ messages is iterable and messages is not string and messages is not mapping }}",
    "{{ 'it''s' }}", "{{ 'a' 'b' }}", "{{ \"a\\tb\\x41\\u00e9\" }}", "{{ 1_000 }}", "{{ 0x1F }}", "{{ 1e3 }}", "{{ 1.5e-3 }}", "{{ True }}{{ None }}{{ False }}", "{{ [1, 2,] }}", "{{ {'a': 1,} }}",
    "{{ (1) }}", "{{ () }}", "{{ {} }}", "{{ messages|length }}", "{{ messages | length + 1 }}", "{{ -1 | abs }}", "{{ (-1) | abs }}", "{{ not true or true }}", "{{ 1 if false }}|", "{{ 'a' if true else 'b' if true else 'c' }}",
    "{{ caller is defined }}", "{% macro f() %}{{ caller('x') }}{% endmacro %}{% call(a) f() %}{{ a }}{% endcall %}", "{% block b %}x{% endblock %}", "{% do 1 %}", "{% include 'x' %}", "{% import 'x' as y %}", "{% break %}",
    "{% set a = 1 %}{% if true %}{% set a = 2 %}{% endif %}{{ a }}", "{% set a = 1 %}{% for i in [1] %}{% set a = 2 %}{% endfor %}{{ a }}", "{% set messages = [] %}{{ messages }}", "{% set x.y = 1 %}", "{% set ns = namespace() %}{% set ns.a = 1 %}{{ ns.a }}{{ ns.b }}",
]


def templates():
    found = [place.replace("V", value) for place in PLACES for value in VALUES]
    found += ["{{ %s | %s }}" % (value, each) for each in FILTERS for value in VALUES]
    found += ["{{ %s is %s }}" % (value, each) for each in TESTS for value in VALUES]
    found += ["{{ %s %s %s }}" % (left, each, right) for each in BINARY for left in FEW for right in FEW]
    found += ["{{ %s %s %s }}" % (left, each, right) for each in ("<", "<=", ">", ">=") for left, right in ORDERED]
    found += ["{{ %s %s %s }}" % (value, each, container)
              for each in ("in", "not in") for value in FEW for container in CONTAINERS]
    found += ["{{ %s | %s }}" % (values, each) for each in OF_LISTS for values in LISTS]
    found += ["{{ (%s).%s }}" % (text, method) for method in METHODS for text in STRINGS]
    found += ["{{ %s }}" % each for each in FORMATS]
    return [*dict.fromkeys([*found, *(each for each in WHOLE if each)])]


def outcome(tokenizer, template):
    try:
        messages = [dict(message) for message in MESSAGES]
        text = tokenizer.apply_chat_template(messages, tokenize=False, chat_template=template)
    except Exception as error:  # whatever a template raises
        return {"template": template, "error": f"{type(error).__name__}: {error}"[:200]}
    return {"template": template, "text": text}


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("out", type=pathlib.Path)
    out = parser.parse_args().out
    done = stamp.Stamp(out, [__file__])
    if done.is_current():
        return
    os.environ.setdefault("TRANSFORMERS_VERBOSITY", "error")
    from tokenizers import Tokenizer, models
    from transformers import PreTrainedTokenizerFast

    tokenizer = PreTrainedTokenizerFast(tokenizer_object=Tokenizer(models.BPE(vocab={"a": 0}, merges=[])))
    cases = [outcome(tokenizer, template) for template in templates()]
    cases = [case for case in cases if " at 0x" not in case.get("text", "")]
    out.mkdir(parents=True, exist_ok=True)
    (out / "expressions.json").write_text(
        json.dumps({"messages": MESSAGES, "cases": cases}, ensure_ascii=False), encoding="utf-8")
    done.write()


if __name__ == "__main__":
    main()
