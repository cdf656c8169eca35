// SPDX-License-Identifier: Apache-2.0

package train

import (
	"context"
	"errors"
	"slices"

	"github.com/gvw-project/gvw/hdfsio"
	"github.com/gvw-project/gvw/internal/cli"
	"github.com/gvw-project/gvw/internal/joinflags"
	"github.com/gvw-project/gvw/internal/launch"
	"github.com/gvw-project/gvw/internal/spantree/protocol"
	"github.com/gvw-project/gvw/learn"
)

// joinEarly runs a rank of an elastic job whose ranks share one input. It joins before it knows
// its inputs, since its part of the input depends on the members, which the server decides.
func (l *Learner) joinEarly(ctx context.Context, s *cli.Settings) (err error) {
	err = s.Dispatch(ctx, func(c *cli.Context) error {
		at, _, err := joinflags.Place(l.Process, c)
		if err != nil {
			return err
		}
		cfg, err := l.earlyConfig(c, at)
		if err != nil {
			return err
		}
		l.group, l.members, err = learn.JoinEarly(c.Context, cfg)
		return err
	})
	if no, ok := errors.AsType[*protocol.RefusedError](err); ok && no.Finished() {
		err = nil // Learn copies what the rank still owes
	}
	if err != nil {
		return notNeeded(err, l.Logger(cli.LogLevel(s.Has("quiet"), s.Get("log_level")), true))
	}
	if l.group != nil {
		defer func() { err = errors.Join(err, l.group.Close()) }()
	}
	// The members are known now, so Learn can determine the shard and open the inputs.
	return s.Dispatch(ctx, l.Learn)
}

// shardOf returns a rank's part of the input, which is divided among the members in the order
// of their ranks. An excluded rank reads nothing, whatever its part.
func (l *Learner) shardOf(kind hdfsio.Kind, at launch.Place) hdfsio.Shard {
	if i := slices.Index(l.members, at.Rank); i >= 0 {
		return hdfsio.Shard{Kind: kind, Rank: i, Total: len(l.members)}
	}
	return hdfsio.Shard{Kind: kind, Rank: at.Rank, Total: at.Total}
}
