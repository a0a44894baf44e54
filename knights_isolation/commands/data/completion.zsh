(( $+functions[compdef] )) || { autoload -Uz compinit && compinit }
_isolation_completion() {
    local kind value told
    local -a reply whole begun described
    reply=("${(@f)$(COMP_WORDS="${words[*]}" COMP_CWORD=$((CURRENT - 1)) _ISOLATION_COMPLETE=zsh_complete isolation)}")
    for kind value told in $reply; do
        case "$kind" in
            dir|file) _path_files ;;
            plain)
                if [[ "$told" != _ ]]; then described+=("${value//:/\:}:$told")
                elif [[ "$value" == *[:=@,] ]]; then begun+=("$value")
                else whole+=("$value"); fi ;;
        esac
    done
    (( $#described )) && _describe -V isolation described
    (( $#whole )) && compadd -U -V isolation -a whole
    # behind what is only begun no blank is wanted
    (( $#begun )) && compadd -U -V isolation -S "" -a begun
}
compdef _isolation_completion isolation
