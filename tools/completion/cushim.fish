# SPDX-License-Identifier: MIT
# Completion of cushim for fish. Commands and options are those that --help lists.

function __cushim_command
    for word in (commandline -opc)[2..-1]
        string match -q -- '-*' $word; or begin
            echo $word
            return 0
        end
    end
    return 1
end

function __cushim_commands
    cushim --help 2>/dev/null | sed -n '/^Commands:/,/^$/s/^  \([a-z][a-z]*\)  *\(.*\)/\1\t\2/p'
end

function __cushim_options
    cushim (__cushim_command) --help 2>/dev/null | grep -oE -- '--[a-z][a-z-]*' | sort -u
end

complete -c cushim -n 'not __cushim_command' -f -a '(__cushim_commands)'
complete -c cushim -n 'string match -q -- "-*" (commandline -ct)' -f -a '(__cushim_options)'
