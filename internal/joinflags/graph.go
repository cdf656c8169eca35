// SPDX-License-Identifier: Apache-2.0

package joinflags

import (
	"io"
	"strings"

	"github.com/gvw-project/gvw/internal/cli"
	"github.com/gvw-project/gvw/internal/flags"
	"github.com/gvw-project/gvw/malt/graph"
)

// Graph reads the graph of a job of total ranks that the value of an option names as file:FILE; nil: it names none. Each
// rank reads its file, and ranks compare the digests when they create the vectors.
func Graph(option, value string, total int, open func(name string) (io.ReadCloser, error)) (*graph.Graph, error) {
	name, isFile := strings.CutPrefix(value, flags.GraphFile)
	if !isFile {
		return nil, nil
	}
	f, err := open(name)
	if err != nil {
		return nil, cli.Usagef("--%s: %w", option, err)
	}
	defer f.Close()
	g, err := graph.Read(f, name, total)
	if err != nil {
		return nil, cli.Usagef("--%s: %w", option, err)
	}
	return g, nil
}

// CheckGraph returns the fault of the name of a graph in an option.
func CheckGraph(s *cli.Settings, option string) error {
	if !s.Has(option) {
		return nil
	}
	if err := flags.CheckGraph(s.Get(option)); err != nil {
		return cli.Usagef("--%s: %w", option, err)
	}
	return nil
}
