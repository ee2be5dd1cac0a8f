#compdef minilink minidump minifat minilink-shim
# Completes minilink's command lines in zsh; made by minilink --completions=zsh.
# The other programs' options are those of their help.
if [[ ${service:-minilink} != minilink ]]; then
    _gnu_generic
    return
fi
_arguments \
@OPTIONS@
    '*:input:{ compset -P @; _files }'
