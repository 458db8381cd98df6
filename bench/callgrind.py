"""Reads callgrind's profiles: the instructions of each function itself."""
import collections
import re

_NAME = re.compile(r'^(c?)(ob|fn|fl|fi|fe)=\((\d+)\)(?: (.*))?$')


def self_costs(path):
    """{(library, function): instructions}, called functions not included."""
    names, costs = {}, collections.Counter()
    library = function = '???'
    after_call = False
    with open(path, encoding='utf-8', errors='replace') as file:
        for line in file:
            found = _NAME.match(line)
            if found:
                called, kind, number, name = found.groups()
                table = {'ob': 'object', 'fn': 'function'}.get(kind, 'file')
                if name:
                    names[table, number] = name
                if called or table == 'file':
                    continue
                if table == 'object':
                    library = names[table, number].rsplit('/', 1)[-1]
                else:
                    function = names[table, number]
            elif line.startswith('calls='):
                after_call = True
            elif line[:1] in '+-*0123456789':
                # the line after calls= is the cost of the called function
                if not after_call:
                    costs[library, short(function)] += int(line.split()[1])
                after_call = False
    return costs


def short(function):
    """Without namespaces, arguments, results, and the numbers of repeated names."""
    function = re.sub(r"'\d+$", '', function)
    function = re.sub(r'cpp_output::|\(anonymous namespace\)::', '', function)
    return re.sub(r'[(<].*', '', function).split(' ')[-1]
