// SPDX-License-Identifier: Apache-2.0

package joinflags

import (
	"github.com/gvw-project/gvw/internal/cli"
	"github.com/gvw-project/gvw/internal/launch"
	"github.com/gvw-project/gvw/internal/maltjob"
	"github.com/gvw-project/gvw/malt"
)

// JoinShared joins the job of shared vectors that the options name. Without --node it returns nil,
// since this process is no rank. passes are those that the program makes; 0: unknown.
func JoinShared(p *cli.Process, c *cli.Context, passes int) (g *malt.Group, at launch.Place, err error) {
	at, isRank, err := Place(p, c)
	if err != nil {
		return nil, at, err
	}
	if err := ArmFaults(p, at, c.Uint64("generation"), false, false); err != nil || !isRank {
		return nil, at, err
	}
	j, err := Config(c, at)
	if err != nil {
		return nil, at, err
	}
	if err := Guard(p, c, j); err != nil {
		return nil, at, err
	}
	j.Log = p.Logger(cli.LogLevel(c.Bool("quiet"), ""), true)
	config := maltjob.Config(j)
	config.Passes = passes
	config.VerbsMemory = int64(c.Uint64("verbs_memory")) << 20
	g, err = malt.Join(c.Context, config)
	return g, at, err
}
