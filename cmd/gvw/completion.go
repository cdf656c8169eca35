// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/gvw-project/gvw/internal/cli"
	"github.com/gvw-project/gvw/internal/manual"
)

const completionHelp = `gvw completion prints the completions of a shell, or writes manual pages.

  source <(gvw completion bash)
  gvw completion zsh > "${fpath[1]}/_gvw"
  gvw completion fish > ~/.config/fish/completions/gvw.fish
  gvw completion man ~/.local/share/man/man1

The packages for Debian and RPM have them already.
`

// summary is the purpose of gvw, as the manual names it.
const summary = "linear models on one machine or a cluster, as Vowpal Wabbit trains them"

// completion runs gvw completion.
func completion(_ context.Context, p *cli.Process, _ *cli.Command, args []string) error {
	program := manual.FromTable("gvw", summary, commands())
	switch {
	case len(args) == 0 || args[0] == "--help" || args[0] == "-h":
		return p.Print(completionHelp)
	case len(args) == 1 && slices.Contains(manual.Shells, args[0]):
		return p.Print(program.Completion(args[0]))
	case len(args) != 2 || args[0] != "man":
		return cli.Usagef("gvw completion %s: want one of %s, or man DIR", strings.Join(args, " "), strings.Join(manual.Shells, ", "))
	}
	version, date := cli.Released()
	for _, page := range program.Pages(version, date) {
		if err := os.WriteFile(filepath.Join(args[1], page.Name), page.Text, 0o644); err != nil {
			return fmt.Errorf("cannot write the manual: %w; create the directory first", err)
		}
	}
	return nil
}
