// SPDX-License-Identifier: Apache-2.0

package simulation

import (
	"bytes"
	"context"
	"encoding/csv"
	"fmt"
	"slices"
	"strconv"
	"time"

	"github.com/gvw-project/gvw/internal/chart"
	"github.com/gvw-project/gvw/internal/cli"
	"github.com/gvw-project/gvw/internal/files"
	"github.com/gvw-project/gvw/internal/simulate/job"
	"github.com/gvw-project/gvw/internal/spantree/protocol"
)

// lossRow is the outcome of some jobs with the same configuration but for their seeds.
type lossRow struct {
	between float64 // hours
	name    string  // wait, shrink, or the number of spares
	cfg     job.Config
	lost    []time.Duration // ascending
	losses  float64         // mean
	left    float64         // mean number of ranks at the end
}

// mean returns the mean lost time in seconds.
func (r *lossRow) mean() float64 {
	var sum time.Duration
	for _, d := range r.lost {
		sum += d
	}
	return sum.Seconds() / float64(len(r.lost))
}

// most returns the lost time in seconds that 19 of 20 jobs do not exceed.
func (r *lossRow) most() float64 { return r.lost[(len(r.lost)*19-1)/20].Seconds() }

// share returns the mean lost time as a share of the time of an undisturbed job.
func (r *lossRow) share() float64 {
	return r.mean() / (r.cfg.Load + time.Duration(r.cfg.Steps)*r.cfg.Step).Seconds()
}

// rankHours returns the hours of all ranks and spares.
func (r *lossRow) rankHours() float64 {
	whole := (r.cfg.Load + time.Duration(r.cfg.Steps)*r.cfg.Step).Hours() + r.mean()/3600
	return whole * float64(r.cfg.Ranks+r.cfg.Spares)
}

// simulateLosses runs gvw simulate losses.
func simulateLosses(ctx context.Context, p *cli.Process, set *cli.FlagSet, args []string) error {
	s, err := set.Read(p, args)
	if s == nil {
		return err
	}
	return s.Dispatch(ctx, func(c *cli.Context) error {
		rows, err := lossRows(c)
		if err != nil {
			return err
		}
		if err := p.Print(fmt.Sprintf("%9s  %-10s %9s %9s %9s %9s %9s %11s\n", "hours", "on loss", "lost s", "of job", "95 % s", "losses", "ranks", "rank hours")); err != nil {
			return err
		}
		trials := 20
		if c.IsSet("trials") {
			trials = int(c.Uint64("trials"))
		}
		for i := range rows {
			r := &rows[i]
			if err := r.run(c.Context, trials); err != nil {
				return cli.Usagef("gvw simulate losses: %s, failures every %g h: %w", r.name, r.between, err)
			}
			if err := p.Print(fmt.Sprintf("%9g  %-10s %9.1f %8.1f%% %9.1f %9.1f %9.1f %11.1f\n", r.between, r.name, r.mean(), 100*r.share(), r.most(), r.losses, r.left, r.rankHours())); err != nil {
				return err
			}
		}
		if err := p.Print("\n" + lossAdvice(rows)); err != nil {
			return err
		}
		return writePictures(c, files.New(p), func() ([]byte, error) { return lossCSV(rows) }, func() []byte { return lossSVG(rows) })
	})
}

// lossRows reads the options.
func lossRows(c *cli.Context) ([]lossRow, error) {
	base := job.Config{
		Ranks: 100, Steps: 1000, Step: 10 * time.Second, Load: time.Minute, Restart: 30 * time.Second, Fetch: 2 * time.Second,
		LostAfter: 10 * time.Second, OnLoss: protocol.Wait, Seed: 1, Silent: c.Float64("silent"),
	}
	for name, field := range map[string]*time.Duration{"step": &base.Step, "load": &base.Load, "restart": &base.Restart, "fetch": &base.Fetch, "lost_after": &base.LostAfter} {
		if c.IsSet(name) {
			*field = c.Duration(name)
		}
	}
	if c.IsSet("ranks") {
		base.Ranks = int(c.Uint64("ranks"))
	}
	if c.IsSet("steps") {
		base.Steps = int(c.Uint64("steps"))
	}
	if c.IsSet("seed") {
		base.Seed = c.Uint64("seed")
	}
	hours, err := numbers("between", c.String("between"), "100,1000")
	if err != nil {
		return nil, err
	}
	spares, err := numbers("spares", c.String("spares"), "1,2,4")
	if err != nil {
		return nil, err
	}
	var rows []lossRow
	for _, h := range hours {
		cfg := base
		cfg.Between = time.Duration(h * float64(time.Hour))
		rows = append(rows, lossRow{between: h, name: "wait", cfg: cfg})
		for _, k := range spares {
			cfg.Spares = int(k)
			if float64(cfg.Spares) != k {
				return nil, cli.Usagef("--spares: got %g, want whole numbers", k)
			}
			name := "1 spare"
			if k > 1 {
				name = fmt.Sprintf("%g spares", k)
			}
			rows = append(rows, lossRow{between: h, name: name, cfg: cfg})
		}
		cfg.Spares, cfg.OnLoss = 0, protocol.Shrink
		rows = append(rows, lossRow{between: h, name: "shrink", cfg: cfg})
	}
	for _, r := range rows {
		if err := r.cfg.Validate(); err != nil {
			return nil, cli.Usagef("gvw simulate losses: %w", err)
		}
	}
	return rows, nil
}

// run simulates the jobs of a row.
func (r *lossRow) run(ctx context.Context, trials int) error {
	for i := range trials {
		if err := ctx.Err(); err != nil {
			return err
		}
		cfg := r.cfg
		cfg.Seed += uint64(i)
		out, err := job.Run(cfg)
		if err != nil {
			return err
		}
		r.lost = append(r.lost, out.Lost)
		r.losses += float64(out.Losses) / float64(trials)
		r.left += float64(out.Left) / float64(trials)
	}
	slices.Sort(r.lost)
	return nil
}

// nearBest is the factor by which a number of spares may be worse than the best one and still be advised if it is smaller.
const nearBest = 1.02

// lossAdvice names, for each rate of failures, the least number of spares with nearly the least time, and the one with nearly
// the fewest hours of ranks. Shrink is no candidate: it loses data.
func lossAdvice(rows []lossRow) string {
	text := ""
	for len(rows) > 0 {
		n := slices.IndexFunc(rows, func(r lossRow) bool { return r.between != rows[0].between })
		if n < 0 {
			n = len(rows)
		}
		waits := slices.DeleteFunc(slices.Clone(rows[:n]), func(r lossRow) bool { return r.cfg.OnLoss != protocol.Wait })
		text += fmt.Sprintf("Failures every %g h: spares for the least lost time: %d, for the fewest rank hours: %d.\n",
			rows[0].between, fewestSpares(waits, (*lossRow).mean), fewestSpares(waits, (*lossRow).rankHours))
		rows = rows[n:]
	}
	return text
}

// fewestSpares returns the least number of spares of which the cost is near to the best one.
func fewestSpares(rows []lossRow, cost func(*lossRow) float64) int {
	best := cost(&rows[0])
	for i := range rows {
		best = min(best, cost(&rows[i]))
	}
	fewest := job.MaxRanks
	for i := range rows {
		if cost(&rows[i]) <= nearBest*best {
			fewest = min(fewest, rows[i].cfg.Spares)
		}
	}
	return fewest
}

// lossCSV returns the table.
func lossCSV(rows []lossRow) ([]byte, error) {
	var b bytes.Buffer
	w := csv.NewWriter(&b)
	w.Write([]string{"between_hours", "on_loss", "spares", "trials", "lost_seconds", "lost_share", "lost_seconds_95", "losses", "ranks_left", "rank_hours"})
	number := func(x float64) string { return strconv.FormatFloat(x, 'g', 8, 64) }
	for _, r := range rows {
		w.Write([]string{
			number(r.between), r.cfg.OnLoss.String(), strconv.Itoa(r.cfg.Spares), strconv.Itoa(len(r.lost)), number(r.mean()), number(r.share()),
			number(r.most()), number(r.losses), number(r.left), number(r.rankHours()),
		})
	}
	w.Flush()
	return b.Bytes(), w.Error()
}

// lossSVG returns a picture with a line for each way to continue.
func lossSVG(rows []lossRow) []byte {
	l := chart.Lines{Title: fmt.Sprintf("Simulated time lost by failures, %d ranks", rows[0].cfg.Ranks), X: "mean hours until a rank fails", Y: "share of the job's time", LogX: true, Zero: true}
	for _, r := range rows {
		i := slices.IndexFunc(l.Series, func(s chart.Series) bool { return s.Name == r.name })
		if i < 0 {
			i = len(l.Series)
			l.Series = append(l.Series, chart.Series{Name: r.name})
		}
		l.Series[i].X = append(l.Series[i].X, r.between)
		l.Series[i].Y = append(l.Series[i].Y, r.share())
	}
	return l.AppendSVG(nil, chart.File)
}
