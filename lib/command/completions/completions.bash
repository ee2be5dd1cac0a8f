# Completes minilink's command lines in bash; made by minilink --completions=bash.
_minilink()
{
    local word=$2 option=$3 kind=input words= joined=
    # Bash takes = for a word of its own.
    if [[ ${COMP_WORDS[COMP_CWORD]} == = ]]; then word= joined=1
    elif [[ $3 == = ]]; then option=${COMP_WORDS[COMP_CWORD - 2]} joined=1; fi
    COMPREPLY=()
    [[ $option == -* ]] && option=${option#-} || option=
    case ${option#-} in
@KINDS@
    esac
    if [[ $kind == input && $word == -* ]]; then
        kind=words words='@OPTIONS@'
    fi
    [[ $kind == input && $word == @* ]] && kind=response
    case $kind in
    response) mapfile -t COMPREPLY < <(compgen -P @ -f -- "${word#@}") ;;
    words) mapfile -t COMPREPLY < <(compgen -W "$words" -- "$word") ;;
    folder) mapfile -t COMPREPLY < <(compgen -d -- "$word") ;;
    file | input) mapfile -t COMPREPLY < <(compgen -f -- "$word") ;;
    esac
    [[ $kind == words ]] || compopt -o filenames 2> /dev/null
    [[ ${#COMPREPLY[@]} == 1 && ${COMPREPLY[0]} == *[=:] ]] && compopt -o nospace 2> /dev/null
    return 0
}
complete -F _minilink minilink
# The other programs' options are those of their help.
_minilink_help()
{
    if [[ $2 == -* ]]; then
        mapfile -t COMPREPLY < <(compgen -W "$("$1" --help | grep -oE '^ *(-[a-zA-Z], )?--[a-z0-9-]+' | grep -oE -e '--.*')" -- "$2")
    else
        mapfile -t COMPREPLY < <(compgen -f -- "$2")
        compopt -o filenames 2> /dev/null
    fi
}
complete -F _minilink_help minidump minifat minilink-shim
