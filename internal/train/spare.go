// SPDX-License-Identifier: Apache-2.0

package train

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/gvw-project/gvw/internal/cli"

	"github.com/gvw-project/gvw/allreduce"
	"github.com/gvw-project/gvw/internal/files"
	"github.com/gvw-project/gvw/internal/joinflags"
	"github.com/gvw-project/gvw/internal/launch"
	"github.com/gvw-project/gvw/internal/spantree/protocol"
	"github.com/gvw-project/gvw/learn"
)

// spare is gvw --spare: a process that waits until a rank is lost, and then is that rank.
func (l *Learner) spare(ctx context.Context, s *cli.Settings) (err error) {
	log := l.Logger(cli.LogLevel(s.Has("quiet"), s.Get("log_level")), true)
	err = s.Dispatch(ctx, func(c *cli.Context) (err error) {
		l.enlisted, err = l.enlist(c)
		return err
	})
	if no, ok := errors.AsType[*protocol.RefusedError](err); ok && no.Code == protocol.JobFinished {
		log.Info(no.Error() + ": this spare is not needed")
		return nil
	}
	if err != nil {
		return idle(err, log)
	}
	defer func() { err = errors.Join(err, l.enlisted.Close()) }()
	if s.Has("elastic") {
		if l.live, err = l.enlisted.Roster(ctx); err != nil {
			return idle(err, log)
		}
	}
	l.replaces = true
	own := s.Clone()
	takeRank(own, l.enlisted.Rank())
	return own.Dispatch(ctx, l.Learn)
}

// enlist waits for a rank.
func (l *Learner) enlist(c *cli.Context) (*allreduce.Group, error) {
	cfg, err := l.recruit(c, launch.Place{Total: int(c.Uint64("total"))})
	if err != nil {
		return nil, err
	}
	return learn.Enlist(c.Context, cfg)
}

// recruit is how a process joins that does not know its inputs yet.
func (l *Learner) recruit(c *cli.Context, at launch.Place) (learn.Config, error) {
	cfg, err := Config(c)
	if err != nil {
		return cfg, err
	}
	if cfg.Cluster.Join, err = joinflags.Config(c, at); err != nil {
		return cfg, err
	}
	if err := joinflags.Guard(l.Process, c, cfg.Cluster.Join); err != nil {
		return cfg, err
	}
	if _, err := joinflags.FaultPlan(l.Process, at.Total, c.String("shm") != "off"); err != nil {
		return cfg, err // now, and not when it is needed
	}
	cfg.Diagnostics.Log = l.Logger(cli.LogLevel(cfg.Diagnostics.Quiet, c.String("log_level")), true)
	l.takeCheckpoints(c, cfg.Cluster.Join, cfg.Diagnostics.Log)
	cfg.Data.Inputs = []learn.Input{{Name: "what the rank will read"}}
	fsys := files.Watched(c, l.files.System(c.String, true), true, cfg.Diagnostics.Log)
	cfg.Model.Open, cfg.Output.Create = files.Opener(c.Context, fsys), l.create(c.Context, fsys)
	return cfg, nil
}

// takeRank makes the options of a spare those of a rank. A log that grows is rank 0's, where
// not each has its own.
func takeRank(s *cli.Settings, rank int) {
	if rank > 0 && !strings.Contains(s.Get("log_json"), files.RankMark) {
		s.Set("log_json")
	}
	s.Set("spare")
	s.Set("node", fmt.Sprint(rank))
	files.FillRank(s, rank)
}
