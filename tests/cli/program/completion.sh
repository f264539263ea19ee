#!/bin/bash
# completion.sh WINDLASS: what bash, zsh and fish complete.
set -eu
windlass=$(realpath "$1")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
failed=0
touch app.cpu.wndl app.cpu.wndl.old notes.txt
mkdir folder
PATH=$(dirname "$windlass"):$PATH
export PATH
for shell in bash zsh fish; do
    "$windlass" --completion-$shell >windlass.$shell
done

# The cases, a line each: the words that are there (+) or not (-) | what is
# typed so far. Tests are the same for all shells.
cat >cases <<'X'
+record +report +ls -collect|
+report|re
+--rate +--output -rate|record --
+auto +perf +outside -x|record --engine 
+fn +module -function|report --by 
+module|report --by=mo
+pprof +firefox|export -f 
+pprof|export --format 
+app.cpu.wndl +app.cpu.wndl.old -notes.txt|report 
+app.cpu.wndl -notes.txt|diff app.cpu.wndl 
+app.cpu.wndl|view app
-line +app.cpu.wndl|report --by fn 
+resume +dump +status -start|ctl 1 
+build +verify|unwind-table 
+usleepier -record|record usleepi
+usleepier -record|record -- usleepi
+usleepier -record|heap -q --max-frames 7 usleepi
-line -report -auto|record usleepier --by 
+record +report|help 
+folder -app.cpu.wndl|report --debug-dir 
+notes.txt|export -o no
+notes.txt|stack --core no
X
mkdir bin
printf '#!/bin/sh\n' >bin/usleepier
chmod +x bin/usleepier
PATH=$work/bin:$PATH

# check SHELL TYPED WANTED: against the words in ./got.
check() {
    for wanted in $3; do
        word=${wanted#[+-]}
        found=no
        ! grep -qx -- "${word}[/ ]*" got || found=yes
        case $wanted$found in
        +*no | -*yes)
            echo "completion: $1: windlass $2<TAB>: $wanted: $(tr '\n' ' ' <got)"
            failed=1
            ;;
        esac
    done
}

# split TYPED: sets `words`, as bash does with "=".
split() {
    read -r -a words <<<"windlass ${1//=/ = }"
    case $1 in *[!\ =]) ;; *) words+=("") ;; esac
}

. ./windlass.bash
while IFS='|' read -r wanted typed; do
    split "$typed"
    COMP_WORDS=("${words[@]}")
    COMP_CWORD=$((${#words[@]} - 1))
    _windlass 2>/dev/null || true
    printf '%s\n' "${COMPREPLY[@]+"${COMPREPLY[@]}"}" >got
    check bash "$typed" "$wanted"
done <cases

if command -v fish >/dev/null; then
    export HOME=$work XDG_CONFIG_HOME=$work
    while IFS='|' read -r wanted typed; do
        fish -c "source windlass.fish; complete -C 'windlass $typed'" \
            2>err | cut -f 1 | sed 's/^--by=//' >got || true
        ! [ -s err ] || { cat err; failed=1; }
        check fish "$typed" "$wanted"
    done <cases
else
    echo "completion: no fish"
fi
if command -v zsh >/dev/null; then
    # A terminal of its own: what Tab adds or lists is read from the screen.
    mkdir functions
    cp windlass.zsh functions/_windlass
    cat >ask.zsh <<'X'
zmodload zsh/zpty
zpty z "ZDOTDIR=$PWD TERM=dumb zsh -f -i"
zpty -w z 'PS1=; LISTMAX=0; fpath=($PWD/functions $fpath); autoload -U compinit'
zpty -w z 'compinit -u -d ./dump; setopt NO_always_last_prompt no_beep'
zpty -w z 'zstyle ":completion:*" list-prompt ""; echo rea""dy'
zpty -r -m z line '*ready*'
zpty -w -n z "windlass $1"$'\t\t'
for try in {1..300}; do
    sleep 0.1
    while zpty -r -t z more; do line+=$more; done
    lacks=
    for word in ${=2}; do [[ $line == *$word* ]] || lacks=$word; done
    [[ -z $lacks ]] && break
done
zpty -d z
print -r -- $line
X
    while IFS='|' read -r wanted typed; do
        case $wanted in *+*) ;; *) continue ;; esac
        must=$(echo "$wanted" | tr ' ' '\n' | sed -n 's/^+//p')
        zsh ask.zsh "$typed" "$must" 2>err | tr -d '\r\a' | tr -s ' =\t' '\n\n\n' |
            sed 's/\x1b\[[0-9;?]*[a-zA-Z]//g' >got || true
        # What is typed is on the screen, too: only what must be there counts.
        check zsh "$typed" "$(echo "$wanted" | tr ' ' '\n' | grep '^+')"
    done < <(grep -E '\|(re|record --engine |report --by |diff |ctl 1 |record usl)' \
        cases)
else
    echo "completion: no zsh"
fi
exit $failed
