#!/usr/bin/env python3
"""Completions for bash, zsh and fish, from what the programs say of themselves: --help, the stages, the commands.

    make.py SLUICE SLUICED FOLDER             writes them (ninja man)
    make.py --check SLUICE SLUICED FOLDER     1 when one differs from what is there

The files are part of the source, because a build for another machine cannot run its programs."""
import json
import os
import re
import subprocess
import sys

FORMATS = ('bmp', 'jpg', 'npy', 'npz', 'png', 'pnm', 'raw')
DEVICES = ('auto', 'gpu', 'cpu', 'reference')
FOLDERS = {'watch', 'state'}
HEAD = '# Made by docs/completions/make.py (ninja man). Do not edit.\n'


def ask(*command):
    return subprocess.run(command, check=True, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL).stdout.decode()


class Option:
    """One of --help."""

    def __init__(self, short, name, value, text):
        self.short, self.name, self.value = short, name, value
        self.text = re.split(r'[;:(\[]', text)[0].strip()
        choices = re.search(r'\((?:one of )?([\w-]+(?:, [\w-]+)+)\)(?: \[[^\]]*\])?$', text)
        self.choices = choices[1].split(', ') if choices else []
        if name == 'format':
            self.choices = list(FORMATS)
        if name in ('device', 'fallback') and not self.choices:
            self.choices = list(DEVICES)

    def is_chain(self):
        return self.name == 'chain'

    def is_folder(self):
        return self.name in FOLDERS


def options_of(*command):
    found = []
    for line in ask(*command, '--help').split('\noptions:\n', 1)[1].split('\n'):
        match = re.match(r'  (?:-(\w), |    )--([\w-]+)((?: \S+)?)\s{2,}(.*)$', line)
        if not match:
            break
        found.append(Option(match[1], match[2], match[3].strip(), match[4]))
    assert found, command
    return found


class Programs:
    def __init__(self, sluice, sluiced):
        told = ask(sluice, 'help').split('\ncommands:\n', 1)[1].split('\n\n', 1)[0]
        self.commands = dict(re.findall(r'(?m)^  ([\w-]+) +(.*)$', told))
        self.options = {name: options_of(sluice, name) for name in self.commands if name not in ('version', 'help')}
        self.daemon = options_of(sluiced)
        self.stages = {stage['name']: stage['summary'] for stage in json.loads(ask(sluice, 'stages', '--json'))}


# ---- bash

BASH = '''%s
# A chain is completed stage by stage: what stands behind its last comma.
_sluice_chain()
{
    local prefix=
    case $1 in *,*) prefix=${1%%,*}, ;; esac
    compopt -o nospace
    COMPREPLY=($(compgen -P "$prefix" -W "%s" -- "${1##*,}"))
}

_sluice_value() # COMMAND OPTION WORD: 1 when the option has no value
{
    case $1:$2 in
%s
    *) return 1 ;;
    esac
}

_sluice()
{
    local word=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD - 1]} command=${COMP_WORDS[1]}
    [ "${1##*/}" = sluiced ] && command=sluiced
    COMPREPLY=()
    if [ "$COMP_CWORD" = 1 ] && [ "$command" != sluiced ]; then
        COMPREPLY=($(compgen -W "%s" -- "$word"))
        return
    fi
    _sluice_value "$command" "$before" "$word" && return
    case $command:$word in
%s
    help:*) COMPREPLY=($(compgen -W "%s" -- "$word")) ;;
    stages:*) COMPREPLY=($(compgen -W "%s" -- "$word")) ;;
    *) compopt -o filenames; COMPREPLY=($(compgen -f -- "$word")) ;;
    esac
}

complete -F _sluice sluice sluiced
'''


def bash_value(command, option):
    names = '|'.join('%s:%s' % (command, name) for name in ('--' + option.name, option.short and '-' + option.short) if name)
    if option.is_chain():
        action = '_sluice_chain "$3"'
    elif option.choices:
        action = 'COMPREPLY=($(compgen -W "%s" -- "$3"))' % ' '.join(option.choices)
    elif option.is_folder():
        action = 'compopt -o filenames; COMPREPLY=($(compgen -d -- "$3"))'
    else:
        action = 'compopt -o filenames; COMPREPLY=($(compgen -f -- "$3"))'
    return '    %s) %s ;;' % (names, action)


def bash(programs):
    everything = {**programs.options, 'sluiced': programs.daemon}
    values = [bash_value(command, option) for command, options in everything.items() for option in options if option.value]
    words = ['    %s:-*) COMPREPLY=($(compgen -W "%s" -- "$word")) ;;' %
             (command, ' '.join('--' + option.name for option in options)) for command, options in everything.items()]
    commands, stages = ' '.join(programs.commands), ' '.join(programs.stages)
    return BASH % (HEAD, stages, '\n'.join(values), commands, '\n'.join(words), commands, stages)


# ---- zsh

def zsh_quote(text):
    return text.replace("'", "'\\''")


def zsh_text(text):
    return zsh_quote(re.sub(r'([\[\]:\\])', r'\\\1', text))


def zsh_option(option):
    names = "'(-%s --%s)'{-%s,--%s}" % (option.short, option.name, option.short, option.name) if option.short else '--' + option.name
    spec = '[%s]' % zsh_text(option.text)
    if option.value:
        action = ('_sluice_chain' if option.is_chain() else '(%s)' % ' '.join(option.choices) if option.choices
                  else '_files -/' if option.is_folder() else '_files')
        spec += ':%s:%s' % (zsh_text(option.value), action)
    return "%s'%s'" % (names, spec)


def zsh_arguments(options, indent):
    return (' \\\n' + indent).join(['_arguments -s', *(zsh_option(option) for option in options), "'*:file:_files'"])


ZSH = '''#compdef sluice sluiced
%s
# A chain is completed stage by stage.
_sluice_chain() {
    local -a stages
    stages=(
%s
    )
    compset -P '*,'
    _describe -t stages stage stages -S ''
}

_sluice() {
    if [[ $service == sluiced ]]; then
        %s
        return
    fi
    local -a commands
    commands=(
%s
    )
    if (( CURRENT == 2 )); then
        _describe -t commands command commands
        return
    fi
    local command=$words[2]
    shift words
    (( CURRENT-- ))
    case $command in
%s
    (help) _describe -t commands command commands ;;
    esac
}

_sluice "$@"
'''


def zsh(programs):
    def described(pairs):
        return '\n'.join("        '%s:%s'" % (name, zsh_text(text)) for name, text in pairs.items())
    cases = '\n'.join('    (%s)\n        %s\n        ;;' % (name, zsh_arguments(options, ' ' * 12)) for name, options in programs.options.items())
    return ZSH % (HEAD, described(programs.stages), zsh_arguments(programs.daemon, ' ' * 12), described(programs.commands), cases)


# ---- fish

def fish_quote(text):
    return "'%s'" % text.replace('\\', '\\\\').replace("'", "\\'")


def fish_option(program, condition, option):
    words = ['complete -c', program, *(['-n', fish_quote(condition)] if condition else []), *(['-s', option.short] if option.short else []),
             '-l', option.name, '-d', fish_quote(option.text)]
    if option.value:
        words.append('-r')
        if option.is_chain():
            words.append("-f -a '(__sluice_chain)'")
        elif option.choices:
            words.append('-f -a %s' % fish_quote(' '.join(option.choices)))
        elif option.is_folder():
            words.append("-f -a '(__fish_complete_directories)'")
    return ' '.join(words)


def fish(programs):
    lines = [HEAD, '# A chain is completed stage by stage: what stands behind its last comma.', 'function __sluice_chain',
             "    set -l before (string match -r '^.*,' -- (commandline -ct))"]
    lines += ['    printf \'%%s\\t%%s\\n\' "$before"%s %s' % (name, fish_quote(text)) for name, text in programs.stages.items()]
    lines += ['end', '']
    lines += ["complete -c sluice -n __fish_use_subcommand -f -a %s -d %s" % (name, fish_quote(text)) for name, text in programs.commands.items()]
    lines += ["complete -c sluice -n '__fish_seen_subcommand_from help' -f -a %s" % fish_quote(' '.join(programs.commands)),
              "complete -c sluice -n '__fish_seen_subcommand_from stages' -f -a %s" % fish_quote(' '.join(programs.stages))]
    lines += [fish_option('sluice', '__fish_seen_subcommand_from ' + name, option) for name, options in programs.options.items() for option in options]
    lines += [fish_option('sluiced', None, option) for option in programs.daemon]
    return '\n'.join(lines) + '\n'


def main():
    arguments = [argument for argument in sys.argv[1:] if argument != '--check']
    programs = Programs(*arguments[:2])
    wrong = []
    for name, text in (('sluice.bash', bash(programs)), ('_sluice', zsh(programs)), ('sluice.fish', fish(programs))):
        path = os.path.join(arguments[2], name)
        if '--check' not in sys.argv:
            with open(path, 'w', encoding='utf-8') as file:
                file.write(text)
        elif not os.path.exists(path):
            wrong.append(name)
        else:
            with open(path, encoding='utf-8') as file:
                wrong += [name] if file.read() != text else []
    for name in wrong:
        print('docs/completions/%s differs from what the programs say: ninja man' % name)
    sys.exit(bool(wrong))


main()
