// SPDX-License-Identifier: Apache-2.0

package manual

import (
	"fmt"
	"strings"

	"github.com/gvw-project/gvw/internal/cli"
)

// Shells are the shells with completions.
var Shells = []string{"bash", "zsh", "fish"}

// Completion returns the script that completes the program's arguments in a shell, which is one of
// Shells.
func (p *Program) Completion(shell string) string {
	var b strings.Builder
	switch shell {
	case "bash":
		p.bash(&b)
	case "zsh":
		p.zsh(&b)
	case "fish":
		p.fish(&b)
	default:
		panic("BUG: manual: no completions for the shell " + shell)
	}
	return b.String()
}

// bash writes a function that finds the command, then what the word before the cursor takes.
func (p *Program) bash(b *strings.Builder) {
	fmt.Fprintf(b, "# bash completion of %s, generated from the table of options\n", p.Name)
	fmt.Fprintf(b, `_%[1]s() {
    local cur=${COMP_WORDS[COMP_CWORD]} prev=${COMP_WORDS[COMP_CWORD-1]} at=- i options values=
    COMPREPLY=()
    # The words of --name=value are three.
    if [[ $cur == = ]]; then
        cur=
    elif [[ $prev == = ]]; then
        prev=${COMP_WORDS[COMP_CWORD-2]}
    fi
`, p.Name)
	if len(p.Commands) > 0 {
		names := strings.Join(p.names(), " ")
		fmt.Fprintf(b, `    if ((COMP_CWORD == 1)) && [[ $cur != -* ]]; then
        COMPREPLY=($(compgen -W '%s' -- "$cur"))
        return
    fi
    case ${COMP_WORDS[1]} in
    %s) ((COMP_CWORD > 1)) && at=${COMP_WORDS[1]} ;;
    esac
    for ((i = 1; i < COMP_CWORD; i++)); do
        [[ ${COMP_WORDS[i]} == -- ]] && at=-
    done
`, names, strings.ReplaceAll(names, " ", "|"))
	}
	b.WriteString("    case \"$at $prev\" in\n")
	for _, c := range p.all() {
		var named, other []string
		for _, s := range c.Options {
			if !takes(s) {
				continue
			}
			var patterns []string
			for _, name := range spellings(s) {
				patterns = append(patterns, single(c.key()+" "+name))
			}
			switch {
			case len(s.Choices) > 0:
				fmt.Fprintf(b, "    %s) values=%s ;;\n", strings.Join(patterns, "|"), single(strings.Join(s.Choices, " ")))
			case files(s):
				named = append(named, patterns...)
			default:
				other = append(other, patterns...)
			}
		}
		if len(named) > 0 {
			fmt.Fprintf(b, "    %s) return ;;\n", strings.Join(named, "|"))
		}
		if len(other) > 0 {
			fmt.Fprintf(b, "    %s) compopt +o default; return ;;\n", strings.Join(other, "|"))
		}
	}
	b.WriteString("    esac\n    case $at in\n")
	for _, c := range p.all() {
		var options []string
		for _, s := range c.Options {
			options = append(options, spellings(s)...)
		}
		fmt.Fprintf(b, "    %s) options=%s ;;\n", c.key(), single(strings.Join(options, " ")))
		if len(c.Words) > 0 {
			fmt.Fprintf(b, "    esac\n    [[ $at == %s && $COMP_CWORD == 2 && $cur != -* ]] && values=%s\n    case $at in\n", c.key(), single(strings.Join(c.Words, " ")))
		}
	}
	fmt.Fprintf(b, `    esac
    if [[ -z $values && $cur == -* ]]; then
        values=$options
    fi
    COMPREPLY=($(compgen -W "$values" -- "$cur"))
}
complete -o default -F _%[1]s %[1]s
`, p.Name)
}

// zsh writes a function of _arguments' specifications.
func (p *Program) zsh(b *strings.Builder) {
	fmt.Fprintf(b, "#compdef %[1]s\n# generated from the table of options\n", p.Name)
	if len(p.Commands) > 0 {
		fmt.Fprintf(b, "_%s_first() {\n    local -a commands=(\n", p.Name)
		for _, c := range p.Commands {
			fmt.Fprintf(b, "        %s\n", single(c.Name+":"+strings.ReplaceAll(c.Summary, ":", `\:`)))
		}
		fmt.Fprintf(b, "    )\n    _describe -t commands command commands\n    _files\n}\n")
	}
	fmt.Fprintf(b, "_%s() {\n    local at=-\n    local -i last\n    local -a options\n", p.Name)
	first := "'*:file:_files'"
	if len(p.Commands) > 0 {
		fmt.Fprintf(b, `    if (( CURRENT > 2 )); then
        case $words[2] in
        (%s) at=$words[2] ;;
        esac
    fi
    last=$words[(I)--]
    if (( last > 1 && last < CURRENT )); then
        at=-
        words=(%s "${(@)words[last+1,-1]}")
        (( CURRENT -= last - 1 ))
    elif [[ $at != - ]]; then
        words=(%[2]s "${(@)words[3,-1]}")
        (( CURRENT-- ))
    fi
`, strings.Join(p.names(), "|"), p.Name)
		first = fmt.Sprintf("'1:command:_%s_first' '*:file:_files'", p.Name)
	}
	b.WriteString("    case $at in\n")
	for _, c := range p.all() {
		rest := "'*:file:_files'"
		if c.Name == "" {
			rest = first
		}
		if len(c.Words) > 0 {
			rest = single("1:command:("+strings.Join(c.Words, " ")+")") + " " + rest
		}
		fmt.Fprintf(b, "    (%s) options=(%s\n", c.key(), rest)
		for _, s := range c.Options {
			explain := "[" + strings.NewReplacer(`\`, `\\`, "[", `\[`, "]", `\]`).Replace(s.Help) + "]"
			value := ""
			switch {
			case s.Kind == cli.Boolean:
			case len(s.Choices) > 0:
				value = ":" + colons(s.Arg) + ":(" + colons(strings.Join(s.Choices, " ")) + ")"
			case files(s):
				value = ":" + colons(s.Arg) + ":_files"
			default:
				value = ":" + colons(s.Arg) + ": "
			}
			for _, name := range spellings(s) {
				switch {
				case s.Implied != "":
					name, value = name+"=-", ":"+value // a value that may be missing follows only after "="
				case s.Kind != cli.Boolean && strings.HasPrefix(name, "--"):
					name += "="
				}
				fmt.Fprintf(b, "        %s\n", single("*"+name+explain+value))
			}
		}
		b.WriteString("    ) ;;\n")
	}
	fmt.Fprintf(b, "    esac\n    _arguments $options\n}\n_%[1]s \"$@\"\n", p.Name)
}

// fish writes a line for each option.
func (p *Program) fish(b *strings.Builder) {
	fmt.Fprintf(b, "# fish completion of %s, generated from the table of options\n", p.Name)
	if len(p.Commands) > 0 {
		fmt.Fprintf(b, `function __%[1]s_at
    set -l words (commandline -opc)
    set -l at -
    if test (count $words) -gt 1; and contains -- $words[2] %[2]s
        set at $words[2]
    end
    if contains -- -- $words
        set at -
    end
    test $at = $argv[1]
end
# fish itself completes no options after "--".
function __%[1]s_rest
    set -l words (commandline -opc)
    set -l at (contains -i -- -- $words); or return
    set -e words[1..$at]
    complete -C "%[1]s $words "(commandline -ct)
end
complete -c %[1]s -n 'contains -- -- (commandline -opc)' -a '(__%[1]s_rest)'
`, p.Name, strings.Join(p.names(), " "))
	}
	for _, c := range p.Commands {
		fmt.Fprintf(b, "complete -c %s -n 'test (count (commandline -opc)) -eq 1' -a %s -d %s\n", p.Name, c.Name, fishWord(c.Summary))
	}
	for _, c := range p.all() {
		when := ""
		if len(p.Commands) > 0 {
			when = fmt.Sprintf(" -n '__%s_at %s'", p.Name, c.key())
		}
		if len(c.Words) > 0 {
			fmt.Fprintf(b, "complete -c %s%s -a %s\n", p.Name, when, fishWord(strings.Join(c.Words, " ")))
		}
		for _, s := range c.Options {
			fmt.Fprintf(b, "complete -c %s%s -l %s", p.Name, when, s.Name)
			if s.Alias != "" {
				fmt.Fprintf(b, " -l %s", s.Alias)
			}
			if s.Short != "" {
				fmt.Fprintf(b, " -s %s", s.Short)
			}
			switch {
			case s.Kind == cli.Boolean:
			case len(s.Choices) > 0 && takes(s):
				fmt.Fprintf(b, " -x -a %s", fishWord(strings.Join(s.Choices, " ")))
			case !takes(s):
			case files(s):
				b.WriteString(" -r -F")
			default:
				b.WriteString(" -x")
			}
			fmt.Fprintf(b, " -d %s\n", fishWord(s.Help))
		}
	}
}

// single quotes a word for bash and zsh.
func single(s string) string { return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'" }

// fishWord quotes a word for fish.
func fishWord(s string) string {
	return "'" + strings.NewReplacer(`\`, `\\`, "'", `\'`).Replace(s) + "'"
}

// colons escapes the colons of a part of a specification of _arguments.
func colons(s string) string { return strings.ReplaceAll(s, ":", `\:`) }
