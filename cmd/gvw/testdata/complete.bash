# SPDX-License-Identifier: Apache-2.0
# complete.bash SCRIPT: prints what the functions in SCRIPT offer for each line of stdin, whose words are
# separated by tabs, as one line.
source "$1"
while IFS=$'\t' read -ra COMP_WORDS; do
    COMP_CWORD=$((${#COMP_WORDS[@]} - 1))
    [[ ${COMP_WORDS[COMP_CWORD]} == EMPTY ]] && COMP_WORDS[COMP_CWORD]=
    COMPREPLY=()
    _gvw 2>/dev/null # compopt is an error outside a completion
    echo "${COMPREPLY[*]}"
done
