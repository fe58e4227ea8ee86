# SPDX-License-Identifier: MIT
# Completion of cushim for fish. The command itself knows what may stand there.

function __cushim_offered
    set -l words (commandline -opc)[2..-1] (commandline -ct)
    cushim --complete $words 2>/dev/null
end

function __cushim_files
    string match -q -- ':*' (__cushim_offered)
end

complete -c cushim -n 'not __cushim_files' -f -a '(__cushim_offered)'
complete -c cushim -n __cushim_files -F
