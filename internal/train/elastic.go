// SPDX-License-Identifier: Apache-2.0

package train

import (
	"context"
	"errors"
	"slices"

	"github.com/gvw-project/gvw/internal/cli"

	"github.com/gvw-project/gvw/hdfsio"
	"github.com/gvw-project/gvw/internal/joinflags"
	"github.com/gvw-project/gvw/internal/launch"
	"github.com/gvw-project/gvw/internal/spantree/protocol"
	"github.com/gvw-project/gvw/learn"
)

// muster is a rank of a job that may start without some, and whose ranks share out one
// input: it joins, hears who takes part, and then has its part of the input.
func (l *Learner) muster(ctx context.Context, s *cli.Settings) (err error) {
	err = s.Dispatch(ctx, func(c *cli.Context) error {
		at, _, err := joinflags.Place(l.Process, c)
		if err != nil {
			return err
		}
		cfg, err := l.recruit(c, at)
		if err != nil {
			return err
		}
		l.enlisted, l.live, err = learn.Muster(c.Context, cfg)
		return err
	})
	if no, ok := errors.AsType[*protocol.RefusedError](err); ok && no.Code == protocol.JobFinished {
		err = nil // what is left to do is the learner's to say
	}
	if err != nil {
		return idle(err, l.Logger(cli.LogLevel(s.Has("quiet"), s.Get("log_level")), true))
	}
	if l.enlisted != nil {
		defer func() { err = errors.Join(err, l.enlisted.Close()) }()
	}
	return s.Dispatch(ctx, l.Learn)
}

// share is the part of the input that is a rank's among those that take part. One that does
// not reads nothing.
func (l *Learner) share(kind hdfsio.Kind, at launch.Place) hdfsio.Shard {
	if i := slices.Index(l.live, at.Rank); i >= 0 {
		return hdfsio.Shard{Kind: kind, Rank: i, Total: len(l.live)}
	}
	return hdfsio.Shard{Kind: kind, Rank: at.Rank, Total: at.Total}
}
