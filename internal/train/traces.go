// SPDX-License-Identifier: Apache-2.0

package train

import (
	"context"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"os"
	"strings"

	"github.com/gvw-project/gvw/internal/cli"
	"github.com/gvw-project/gvw/internal/otlp"
	"github.com/gvw-project/gvw/internal/record"
	"github.com/gvw-project/gvw/internal/timeline"
	"github.com/gvw-project/gvw/learn"
)

// takeTraces starts the OpenTelemetry trace of this process, or returns nil without --otlp. It sets the hooks of cfg.
func (l *Learner) takeTraces(c *cli.Context, cfg *learn.Config) (*otlp.Tracer, error) {
	to := c.String("otlp")
	if to == "" {
		return nil, nil
	}
	t := otlp.Config{URL: to, Rank: l.rank, Attempt: l.attempt(), Version: strings.SplitN(cli.Version(), "\n", 2)[0]}
	t.Host, _ = os.Hostname() // "": unknown
	join := cfg.Cluster.Join
	if join != nil {
		t.Job, t.Ranks = record.ID(join.Job.UniqueID, join.Job.RunKey), join.Total
	} else {
		t.Job = record.ID(rand.Uint64(), "alone")
	}
	if err := t.Validate(); err != nil {
		return nil, cli.Usagef("--otlp: %s", strings.TrimPrefix(err.Error(), "URL: "))
	}
	tracer, err := otlp.Start(t)
	if err != nil {
		return nil, fmt.Errorf("--otlp: %w", err)
	}
	if l.rank == 0 {
		cfg.Metrics.PassLog = also(cfg.Metrics.PassLog, tracer)
	}
	if join != nil {
		m, is := join.Timeline.(*timeline.Meter)
		if !is {
			m = &timeline.Meter{Trace: join.Timeline}
			join.Timeline = m
		}
		m.Span = tracer.Span
	}
	return tracer, nil
}

// endTraces ends the trace with the error of the run. A trace that could not be sent is no reason to fail the run.
func (l *Learner) endTraces(ctx context.Context, t *otlp.Tracer, err error, log *slog.Logger) {
	if terr := t.End(ctx, err); terr != nil && log != nil {
		log.Warn("the trace is incomplete", "error", terr)
	}
}
