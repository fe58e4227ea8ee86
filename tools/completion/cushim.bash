# SPDX-License-Identifier: MIT
# Completion of cushim for bash. Commands and options are those that --help lists.

_cushim()
{
    local word=${COMP_WORDS[COMP_CWORD]} command='' program=${COMP_WORDS[0]} i
    COMPREPLY=()
    for ((i = 1; i < COMP_CWORD; i++)); do
        case ${COMP_WORDS[i]} in
            --) command=program; break ;; # what follows is a program and its arguments
            -*) ;;
            *) [ -n "$command" ] || command=${COMP_WORDS[i]} ;;
        esac
    done
    if [ -z "$command" ] && [[ $word != -* ]]; then
        mapfile -t COMPREPLY < <(compgen -W "$("$program" --help 2>/dev/null |
            sed -n '/^Commands:/,/^$/s/^  \([a-z][a-z]*\)  *.*/\1/p')" -- "$word")
    elif [[ $word == -* && $command != program ]]; then
        # shellcheck disable=SC2086
        mapfile -t COMPREPLY < <(compgen -W "$("$program" $command --help 2>/dev/null |
            grep -oE -- '--[a-z][a-z-]*' | sort -u)" -- "$word")
    else
        mapfile -t COMPREPLY < <(compgen -f -- "$word")
    fi
}
complete -o filenames -F _cushim cushim
