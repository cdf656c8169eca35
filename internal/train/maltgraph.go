// SPDX-License-Identifier: Apache-2.0

package train

import (
	"strings"

	"github.com/gvw-project/gvw/internal/cli"
	"github.com/gvw-project/gvw/internal/flags"
	"github.com/gvw-project/gvw/learn"
	"github.com/gvw-project/gvw/malt/graph"
)

// takeGraph reads the graph of --malt file:FILE. Each rank reads it, and the server compares its digest over all ranks.
func takeGraph(cfg *learn.Config) error {
	name, isFile := strings.CutPrefix(cfg.Malt.Graph, flags.GraphFile)
	if !isFile || cfg.Cluster.Join == nil {
		return nil
	}
	f, err := cfg.Model.Open(name)
	if err != nil {
		return cli.Usagef("--malt: %w", err)
	}
	defer f.Close()
	if cfg.Malt.Custom, err = graph.Read(f, name, cfg.Cluster.Join.Total); err != nil {
		return cli.Usagef("--malt: %w", err)
	}
	return nil
}
