# SPDX-License-Identifier: Apache-2.0
# complete.zsh DIR LINE: prints what the completion system offers for LINE, with the functions in DIR.
# It types the line into a shell in a pseudo-terminal, in which compadd prints the matches.
zmodload zsh/zpty
zpty shell zsh -f -i
zpty -w shell "PROMPT=; unsetopt zle_bracketed_paste; stty -echo; fpath=($1 \$fpath); autoload -Uz compinit; compinit -u -D"
zpty -w shell 'compadd() {
    if [[ ${@[1,(i)(-|--)]} == *-(O|A|D)\ * ]]; then builtin compadd "$@"; return; fi
    typeset -a offered; builtin compadd -A offered "$@"; [[ -n $offered ]] && print -rl -- "+$^offered"; return 0
}
offered_all() { print -r -- "+END"; exit }; bindkey "^I" complete-word; comppostfuncs=(offered_all); print REA""DY'
while zpty -r shell line; do [[ $line == *READY* ]] && break; done
zpty -n -w shell "$2"$'\t'
while zpty -r shell line; do
    line=${line%$'\r\n'}
    [[ $line == *+END* ]] && break
    [[ $line == *+* ]] && print -r -- ${line#*+}
done
