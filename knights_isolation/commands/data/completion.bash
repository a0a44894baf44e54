_isolation_completion() {
    local line="${COMP_LINE:0:COMP_POINT}" word reply kind value
    local -a words
    read -ra words <<< "$line"
    [[ "$line" == *[[:space:]] ]] && words+=("")
    # bash ends words at : = and @, too, and replaces only what stands behind the last of these, or the @ with it
    word="${words[${#words[@]}-1]}"
    local done=""
    [[ "$word" == *[:=@]* ]] && done="${word%"${word##*[:=@]}"}"
    done="${done%@}"
    COMPREPLY=()
    while IFS=, read -r kind value; do
        case "$kind" in
            dir|file) mapfile -t reply < <(compgen -o default -f -- "$word"); COMPREPLY+=("${reply[@]#"$done"}") ;;
            plain) COMPREPLY+=("${value#"$done"}") ;;
        esac
    done < <(COMP_WORDS="$line" COMP_CWORD=$((${#words[@]} - 1)) _ISOLATION_COMPLETE=bash_complete isolation)
    [[ ${#COMPREPLY[@]} -eq 1 && "${COMPREPLY[0]}" == *[:=@,] ]] && compopt -o nospace
    # names of files are quoted, in which parts of specs would be garbled
    [[ "$word${COMPREPLY[*]}" == *[:=@]* ]] || compopt -o filenames
}
complete -o nosort -F _isolation_completion isolation
