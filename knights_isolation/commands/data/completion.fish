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
