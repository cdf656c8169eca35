// SPDX-License-Identifier: Apache-2.0

package train

import (
	"github.com/gvw-project/gvw/internal/joinflags"
	"github.com/gvw-project/gvw/learn"
)

// takeGraph reads the graph of --malt file:FILE.
func takeGraph(cfg *learn.Config) (err error) {
	if cfg.Cluster.Join == nil {
		return nil
	}
	cfg.Malt.Custom, err = joinflags.Graph("malt", cfg.Malt.Graph, cfg.Cluster.Join.Total, cfg.Model.Open)
	return err
}
