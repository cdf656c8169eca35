// SPDX-License-Identifier: Apache-2.0

package train

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/gvw-project/gvw/allreduce"
	"github.com/gvw-project/gvw/internal/cli"
	"github.com/gvw-project/gvw/internal/files"
	"github.com/gvw-project/gvw/internal/joinflags"
	"github.com/gvw-project/gvw/internal/launch"
	"github.com/gvw-project/gvw/internal/spantree/protocol"
	"github.com/gvw-project/gvw/learn"
)

// spare runs a spare: it waits until a rank is lost, takes that rank, and trains with the
// options that the rank had. It succeeds without training if the job finishes before.
func (l *Learner) spare(ctx context.Context, s *cli.Settings) (err error) {
	log := l.Logger(cli.LogLevel(s.Has("quiet"), s.Get("log_level")), true)
	err = s.Dispatch(ctx, func(c *cli.Context) (err error) {
		l.group, err = l.waitForRank(c)
		return err
	})
	if no, ok := errors.AsType[*protocol.RefusedError](err); ok && no.Finished() {
		log.Info(no.Error() + ": this spare is not needed")
		return nil
	}
	if err != nil {
		return notNeeded(err, log)
	}
	defer func() { err = errors.Join(err, l.group.Close()) }()
	if s.Has("elastic") {
		if l.members, err = l.group.Members(ctx); err != nil {
			return notNeeded(err, log)
		}
	}
	// The number of the attempt matters for injected faults: see joinflags.ArmFaults.
	l.replaces = true
	own := s.Clone()
	takeRank(own, l.group.Rank())
	return own.Dispatch(ctx, l.Learn)
}

// waitForRank joins the job and waits for a rank.
func (l *Learner) waitForRank(c *cli.Context) (*allreduce.Group, error) {
	cfg, err := l.earlyConfig(c, launch.Place{Total: int(c.Uint64("total"))})
	if err != nil {
		return nil, err
	}
	return learn.JoinSpare(c.Context, cfg)
}

// earlyConfig returns the configuration of a process that joins before it knows its inputs.
func (l *Learner) earlyConfig(c *cli.Context, at launch.Place) (learn.Config, error) {
	cfg, err := Config(c)
	if err != nil {
		return cfg, err
	}
	if cfg.Cluster.Join, err = joinflags.Config(c, at); err != nil {
		return cfg, err
	}
	joinflags.TakeServerLog(l.Process, c, cfg.Cluster.Join)
	if err := joinflags.Guard(l.Process, c, cfg.Cluster.Join); err != nil {
		return cfg, err
	}
	l.guard = *cfg.Cluster.Join
	if _, err := joinflags.FaultPlan(l.Process, at.Total, c.String("shm") != "off"); err != nil {
		return cfg, err // report it at once, and not when the spare is needed
	}
	cfg.Diagnostics.Log = l.Logger(cli.LogLevel(cfg.Diagnostics.Quiet, c.String("log_level")), true)
	l.takeCheckpoints(c, cfg.Cluster.Join, cfg.Diagnostics.Log)
	// The inputs are not known yet, and learn.Config needs some: only the name can appear in a
	// message.
	cfg.Data.Inputs = []learn.Input{{Name: "what the rank will read"}}
	if len(c.StringSlice("valid")) > 0 {
		cfg.Holdout.Valid = []learn.Input{{Name: "what the rank will validate"}} // ranks agree on whether there is any
	}
	fsys := files.Watched(c, l.files.System(c.String, true), true, cfg.Diagnostics.Log)
	cfg.Features.DictionaryPath = files.DictionaryPath(c.StringSlice("dictionary_path"), l.Getenv("PATH"))
	cfg.Model.Open, cfg.Output.Create = files.Opener(c.Context, fsys), l.create(c.Context, fsys)
	return cfg, takeGraph(&cfg)
}

// takeRank turns the options of a spare into those of a rank. The log of --log_json, which grows
// line by line, is rank 0's unless its name has {rank}.
func takeRank(s *cli.Settings, rank int) {
	if rank > 0 && !strings.Contains(s.Get("log_json"), files.RankMark) {
		s.Set("log_json")
	}
	s.Set("spare")
	s.Set("node", fmt.Sprint(rank))
	files.FillRank(s, rank)
}
