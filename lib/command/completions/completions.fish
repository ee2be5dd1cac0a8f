# Completes minilink's command lines in fish; made by minilink --completions=fish.
@OPTIONS@
complete -c minilink -n 'string match -q "@*" -- (commandline -ct)' -x -a '@(__fish_complete_path (string sub -s 2 -- (commandline -ct)))'
# The other programs' options are those of their help.
for program in minidump minifat minilink-shim
    complete -c $program -a "($program --help | string match -rg '^ *(?:-[a-zA-Z], )?(--[a-z0-9-]+)')" -n 'string match -q -- "-*" (commandline -ct)'
end
