# SPDX-License-Identifier: MIT
# Completion of cushim for bash. The command itself knows what may stand there.

_cushim()
{
    local word=${COMP_WORDS[COMP_CWORD]} words=() offered i
    COMPREPLY=()
    for ((i = 1; i <= COMP_CWORD; i++)); do # bash makes three words of --driver=PATH
        if [[ $i -gt 1 && (${COMP_WORDS[i]} == = || ${COMP_WORDS[i - 1]} == =) ]]; then
            words[-1]+=${COMP_WORDS[i]}
        else
            words+=("${COMP_WORDS[i]}")
        fi
    done
    offered=$("${COMP_WORDS[0]}" --complete "${words[@]}" 2>/dev/null)
    if [[ $offered == :* ]]; then
        mapfile -t COMPREPLY < <(compgen -f -- "${word#=}")
    elif [[ -n $offered ]]; then
        mapfile -t COMPREPLY < <(cut -f 1 <<<"$offered" | sed 's/^--[a-z-]*=//')
    fi
}
complete -o filenames -F _cushim cushim
