"""Shell completion of commands, options, heuristics, runs and specs."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from itertools import chain
from pathlib import Path

import click
from click.shell_completion import CompletionItem

_BASH = """\
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
"""
_ZSH = """\
(( $+functions[compdef] )) || { autoload -Uz compinit && compinit }
_isolation_completion() {
    local kind value told
    local -a reply whole begun described
    reply=("${(@f)$(COMP_WORDS="${words[*]}" COMP_CWORD=$((CURRENT - 1)) _ISOLATION_COMPLETE=zsh_complete isolation)}")
    for kind value told in $reply; do
        case "$kind" in
            dir|file) _path_files ;;
            plain)
                if [[ "$told" != _ ]]; then described+=("${value//:/\\:}:$told")
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
"""
_FISH = """\
function _isolation_completion
    set -l begun (commandline -ct)
    for line in (env _ISOLATION_COMPLETE=fish_complete COMP_WORDS=(commandline -cp) COMP_CWORD="$begun" isolation)
        # a spec may hold commas, too
        set -l parts (string split -m 1 , -- $line)
        switch $parts[1]
            case dir
                __fish_complete_directories $parts[2]
            case file
                __fish_complete_path $parts[2]
            case plain
                echo $parts[2]
        end
    end
end
complete --no-files --keep-order --command isolation --arguments "(_isolation_completion)"
"""
_SCRIPTS = {"bash": _BASH, "zsh": _ZSH, "fish": _FISH}


@click.command("completion")
@click.argument("shell", metavar="SHELL", type=click.Choice(tuple(_SCRIPTS)))
def completion(shell: str) -> None:
    """Print a shell completion script for bash, zsh or fish.

    For bash put eval "$(isolation completion bash)" into ~/.bashrc; for zsh the same with zsh into ~/.zshrc; for fish
    isolation completion fish | source into ~/.config/fish/config.fish.
    """
    click.echo(_SCRIPTS[shell].rstrip())


def complete_run(context: click.Context, parameter: click.Parameter, begun: str) -> list[CompletionItem]:
    """Complete runs below runs/, the latest first, and other paths, since runs may be anywhere, without duplicates."""
    from knights_isolation.experiments.record.run_directory import FACTS, HOME

    runs = sorted((facts.parent for facts in HOME.glob(f"*/{FACTS}")), reverse=True)
    completions = _beginning(begun, map(str, runs))
    return (
        completions
        if completions and Path(begun).parent == HOME
        else [*completions, CompletionItem(begun, type="file")]
    )


def complete_plot(context: click.Context, parameter: click.Parameter, begun: str) -> list[CompletionItem]:
    """Complete runs, and after them kinds of plots."""
    from knights_isolation.reports.plots import KINDS

    return [*_beginning(begun, KINDS), *complete_run(context, parameter, begun)]


def complete_file(context: click.Context, parameter: click.Parameter, begun: str) -> list[CompletionItem]:
    """Complete Python files here, and folders."""
    completions = _beginning(begun, _files())
    return completions or [CompletionItem(begun, type="file")]


def complete_heuristics(context: click.Context, parameter: click.Parameter, begun: str) -> list[CompletionItem]:
    """Complete names of heuristics; the last one of a comma-separated list."""
    done = begun[: begun.rfind(",") + 1]
    return _beginning(begun, (f"{done}{name}" for name in chain(_heuristics(), _files())))


def complete_spec(context: click.Context, parameter: click.Parameter, begun: str) -> list[CompletionItem]:
    """Complete the next part of an agent's spec: the player, its heuristic, or an option.

    >>> [item.value for item in complete_spec(None, None, "ID:improved@no")]
    ['ID:improved@nodes=']
    """
    from knights_isolation.experiments.roster.agent_kinds import KINDS, METHODS, SWITCHES
    from knights_isolation.experiments.roster.spec import UNITS

    if "@" in begun:
        done = begun[: max(begun.rfind("@"), begun.rfind(",")) + 1]
        return _beginning(begun, (f"{done}{option}" for option in (*(f"{unit}=" for unit in UNITS), *SWITCHES)))
    name = re.match(r"[^=:/]*=|", begun)
    done = name[0] if name else ""
    method, colon, _ = begun.removeprefix(done).partition(":")
    if colon:
        known = chain(_heuristics(), _files()) if method in METHODS else ()
        return _beginning(begun, (f"{done}{method}:{target}" for target in known))
    words = dict.fromkeys(word for kind in KINDS.values() for word in kind.words)
    starts = (f"{word}:" if word in METHODS else word for word in words)
    return _beginning(begun, (f"{done}{start}" for start in chain(starts, ("MCTS",), _files())))


def _heuristics() -> list[str]:
    from knights_isolation import heuristics

    return heuristics.names()


def _files() -> Sequence[str]:
    return sorted(path.name for path in Path().glob("*.py"))


def _beginning(begun: str, candidates: Iterable[str]) -> list[CompletionItem]:
    return [CompletionItem(candidate) for candidate in candidates if candidate.startswith(begun)]


COMMANDS = (completion,)
