// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/gvw-project/gvw/internal/cli"

	"github.com/gvw-project/gvw/allreduce"
	"github.com/gvw-project/gvw/internal/launch"
	"github.com/gvw-project/gvw/internal/spantree/protocol"
	"github.com/gvw-project/gvw/learn"
)

// spare is gvw --spare: a process that waits until a rank is lost, and then is that rank.
func (p *program) spare(ctx context.Context, s *settings) (err error) {
	log := p.Logger(logLevel(s.has("quiet"), s.get("log_level")), true)
	err = p.dispatch(ctx, s.args(), learnFlags, func(c *cli.Context) (err error) {
		p.enlisted, err = p.enlist(c)
		return err
	})
	if no, ok := errors.AsType[*protocol.RefusedError](err); ok && no.Code == protocol.JobFinished {
		log.Info(no.Error() + ": this spare is not needed")
		return nil
	}
	if err != nil {
		return idle(err, log)
	}
	defer func() { err = errors.Join(err, p.enlisted.Close()) }()
	if s.has("elastic") {
		if p.live, err = p.enlisted.Roster(ctx); err != nil {
			return idle(err, log)
		}
	}
	p.replaces = true
	own := s.clone()
	own.takeRank(p.enlisted.Rank())
	return p.dispatch(ctx, own.args(), learnFlags, p.learn)
}

// enlist waits for a rank.
func (p *program) enlist(c *cli.Context) (*allreduce.Group, error) {
	cfg, err := p.recruit(c, launch.Place{Total: int(c.Uint64("total"))})
	if err != nil {
		return nil, err
	}
	return learn.Enlist(c.Context, cfg)
}

// recruit is how a process joins that does not know its inputs yet.
func (p *program) recruit(c *cli.Context, at launch.Place) (learn.Config, error) {
	cfg, err := learnConfig(c)
	if err != nil {
		return cfg, err
	}
	if cfg.Cluster.Join, err = clusterConfig(c, at); err != nil {
		return cfg, err
	}
	if err := p.guard(c, cfg.Cluster.Join); err != nil {
		return cfg, err
	}
	if _, err := p.faultPlan(at.Total, c.String("shm") != "off"); err != nil {
		return cfg, err // now, and not when it is needed
	}
	cfg.Diagnostics.Log = p.Logger(logLevel(cfg.Diagnostics.Quiet, c.String("log_level")), true)
	p.takeCheckpoints(c, cfg.Cluster.Join, cfg.Diagnostics.Log)
	cfg.Data.Inputs = []learn.Input{{Name: "what the rank will read"}}
	fsys := watched(c, p.files(c.String, true), true, cfg.Diagnostics.Log)
	cfg.Model.Open, cfg.Output.Create = opener(c.Context, fsys), p.creator(c.Context, fsys)
	return cfg, nil
}

// takeRank makes the options of a spare those of a rank. A log that grows is rank 0's, where
// not each has its own.
func (s *settings) takeRank(rank int) {
	if rank > 0 && !strings.Contains(s.get("log_json"), rankMark) {
		s.set("log_json")
	}
	s.set("spare")
	s.set("node", fmt.Sprint(rank))
	s.fillRank(rank)
}

// andSpares is what the launcher says of them.
func andSpares(n int) string {
	switch n {
	case 0:
		return ""
	case 1:
		return " and 1 spare"
	}
	return fmt.Sprintf(" and %d spares", n)
}

// name is that of a process of the job: ranks come first, then spares.
func (pl *plan) name(process int) string {
	if spare := process - len(pl.workers); spare >= 0 {
		return fmt.Sprintf("spare %d", spare)
	}
	return fmt.Sprintf("rank %d", process)
}

// replaced says whether a job with spares goes on without a process that is not started
// again. lost counts those: there are enough as long as they are no more than the spares.
func (p *program) replaced(pl *plan, watch *jobWatch, r launch.Result, how string, lost *int) bool {
	if watch.finished() {
		return true // it was stopped, and has been woken too late
	}
	if !launch.Curable(r.Code) || *lost >= len(pl.spares) || !watch.goesOn(r.Code == cli.ExitLost || r.Code == cli.ExitDeadline) {
		return false
	}
	*lost++
	fmt.Fprintf(p.Stderr, "gvw run: %s has ended (%s); the job goes on (spares left: %d)\n", pl.name(r.Rank), how, len(pl.spares)-*lost)
	return true
}
