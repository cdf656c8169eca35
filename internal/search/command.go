// SPDX-License-Identifier: Apache-2.0

package search

import (
	"context"
	"fmt"
	"os"
	"slices"
	"strconv"

	"github.com/gvw-project/gvw/internal/cli"
	"github.com/gvw-project/gvw/internal/run"
	format "github.com/gvw-project/gvw/internal/search/journal"
	"github.com/gvw-project/gvw/internal/search/strategy"
)

// Defaults of options without one in their help text's column.
const (
	defaultTrials    = 32
	defaultEta       = 3
	defaultTolerance = 0.01 // vw-hypersearch's
)

// plan is a search whose options have been checked.
type plan struct {
	header  header
	space   strategy.Space
	base    *base
	next    strategy.Strategy
	state   string // journal; empty: none
	quiet   bool
	holdout bool // the held-out loss is that of --valid or --holdout, never a progressive one
}

// Command runs gvw search.
func Command(ctx context.Context, p *cli.Process, c *cli.Command, args []string) error {
	set := c.Sets[0]
	s, err := cli.Parse(set, args, p.Env, os.ReadFile)
	switch {
	case err != nil:
		return err
	case s.Has("help"):
		return p.Print(set.Page(true))
	case s.Rest == nil:
		return cli.Usagef("gvw search: the command that is varied comes after --, as in: gvw search --space 'l=log:0.01..10' -- -d train.vw")
	}
	var pl *plan
	if err := s.Dispatch(ctx, func(c *cli.Context) (err error) {
		pl, err = newPlan(p, set.Table, c, s)
		return err
	}); err != nil {
		return err
	}
	self, err := os.Executable()
	if err != nil {
		return fmt.Errorf("cannot find this program to start trials: %w", err)
	}
	f, err := openFiles(pl.state, pl.header)
	if err != nil {
		return err
	}
	p.AtEnd(f.close)
	p.AtKill(func() { _ = f.remove() })
	t := &trainer{
		base: pl.base, space: pl.space, resource: pl.header.Resource, self: self,
		env: run.WorkerEnv(p.Env, set.Table), dir: f.dir, holdout: pl.holdout,
	}
	return pl.search(ctx, p, t, f.journal, f.done)
}

// newPlan checks the options of a search and makes its strategy.
func newPlan(p *cli.Process, t *cli.Table, c *cli.Context, s *cli.Settings) (*plan, error) {
	text, words, how := c.String("space"), s.Rest, c.String("strategy")
	tolerance := c.Float64("tolerance")
	if len(s.Words) > 0 {
		if text != "" {
			return nil, cli.Usagef("%q: with --space no words come before --", s.Words[0])
		}
		var tol string
		var err error
		if text, tol, words, err = fromHypersearch(s.Words, words); err != nil {
			return nil, err
		}
		if tol != "" {
			if tolerance, err = strconv.ParseFloat(tol, 64); err != nil || !(tolerance > 0 && tolerance < 1) {
				return nil, cli.Usagef("%q: the tolerance is a number between 0 and 1", tol)
			}
		}
		if how == "" {
			how = "golden"
		}
	}
	if text == "" {
		return nil, cli.Usagef("gvw search: --space is missing, the options to vary, as in: --space 'learning_rate=log:0.01..10 power_t=0,0.5'")
	}
	space, err := strategy.ParseSpace(text)
	if err != nil {
		return nil, cli.Usagef("--space: %w", err)
	}
	b, err := readBase(p, t, words)
	if err != nil {
		return nil, err
	}
	if err := b.resolve(space); err != nil {
		return nil, err
	}
	if err := b.measureOn(c.StringSlice("valid")); err != nil {
		return nil, err
	}
	pl := &plan{space: space, base: b, state: c.String("state"), quiet: c.Bool("quiet"), holdout: c.Bool("holdout") || b.learner.Has("valid")}
	if c.Bool("holdout") && b.learner.Has("valid") {
		return nil, cli.Usagef("--holdout cannot go with --valid: each is the held-out set")
	}
	if how == "" {
		how = "random"
	}
	orElse := func(name string, def int) int {
		if !c.IsSet(name) {
			return def
		}
		return int(c.Uint64(name))
	}
	pl.header = header{
		Journal: format.Format, Command: b.args(b.trial(b.learner)), Space: text, Strategy: how, Seed: c.Uint64("seed"),
		Trials: orElse("trials", defaultTrials), Eta: orElse("eta", defaultEta), Parallel: orElse("parallel", 1),
	}
	if err := pl.ration(c); err != nil {
		return nil, err
	}
	return pl, pl.choose(c, tolerance)
}

// measureOn makes the files of --valid the validation set of each trial.
func (b *base) measureOn(valid []string) error {
	own := b.learner.All("valid")
	if len(valid) > 0 && len(own) > 0 && !slices.Equal(valid, own) {
		return cli.Usagef("--valid is %s before -- and %s after it: give it once", valid[0], own[0])
	}
	if len(valid) > 0 {
		b.learner.Set("valid", valid...)
	}
	return nil
}

// ration sets the resource that rungs have, and its amounts.
func (pl *plan) ration(c *cli.Context) error {
	h, learner := &pl.header, pl.base.learner
	rationed := h.Strategy == "asha" || h.Strategy == "hyperband"
	if !rationed {
		for _, name := range []string{"resource", "min_resource", "max_resource", "eta"} {
			if c.IsSet(name) {
				return cli.Usagef("--%s would be ignored without --strategy asha or hyperband", name)
			}
		}
		h.Rungs, h.Eta = []int{0}, 0
		return nil
	}
	if h.Eta < 2 {
		return cli.Usagef("--eta %d: want 2 or more, since 1/ETA of the trials of a rung continue", h.Eta)
	}
	h.Resource = c.String("resource")
	if h.Resource == "" {
		h.Resource = "examples"
		if learner.Number("passes") > 1 {
			h.Resource = "passes"
		}
	}
	most := int(learner.Number(h.Resource))
	if c.IsSet("max_resource") {
		if learner.Has(h.Resource) {
			return cli.Usagef("--max_resource cannot go with --%s after --: that is the greatest amount", h.Resource)
		}
		most = int(c.Uint64("max_resource"))
	}
	varied := slices.ContainsFunc(pl.space, func(d strategy.Dimension) bool { return d.Name == h.Resource })
	switch {
	case varied:
		return cli.Usagef("--space %s: it is the resource of --strategy %s, which sets it", h.Resource, h.Strategy)
	case most < 1:
		return cli.Usagef("--strategy %s divides the %s of a training: give --passes N after --, or --max_resource N (with --resource examples: their number)", h.Strategy, h.Resource)
	}
	least := int(c.Uint64("min_resource"))
	switch {
	case least > most:
		return cli.Usagef("--min_resource %d is more than the whole resource, %d %s", least, most, h.Resource)
	case least == 0 && h.Resource == "examples":
		least = max(1, most/(h.Eta*h.Eta*h.Eta)) // three halvings: fewer examples order the trials by chance
	case least == 0 && !learner.Has("valid"):
		least = min(2, most) // a single pass holds no examples out
	}
	h.Rungs = strategy.Rungs(max(least, 1), most, h.Eta)
	return nil
}

// choose makes the strategy.
func (pl *plan) choose(c *cli.Context, tolerance float64) error {
	h := &pl.header
	cfg := strategy.Config{Space: pl.space, Seed: h.Seed, Trials: h.Trials, Eta: h.Eta, Rungs: h.Rungs}
	if h.Strategy != "golden" && tolerance != 0 {
		return cli.Usagef("--tolerance would be ignored without --strategy golden")
	}
	switch h.Strategy {
	case "random":
		pl.next = strategy.NewRandom(cfg)
	case "asha":
		pl.next = strategy.NewASHA(cfg)
	case "hyperband":
		pl.next = strategy.NewHyperband(cfg)
	case "golden":
		if len(pl.space) != 1 || pl.space[0].Scale == strategy.Choice {
			return cli.Usagef("--strategy golden searches a range of one option, as in --space 'l2=log:1e-9..1e-3'")
		}
		h.Tol = tolerance
		if tolerance == 0 {
			h.Tol = defaultTolerance
		}
		pl.next = strategy.NewGolden(cfg, h.Tol)
	}
	return nil
}

// finishedJob is a job that a process has run.
type finishedJob struct {
	n   int
	o   outcome
	err error
}

// search runs all jobs that are not in done, prints the table, and trains with the best options.
func (pl *plan) search(ctx context.Context, p *cli.Process, t *trainer, j *journal, done map[place]outcome) error {
	if len(done) > 0 && !pl.quiet {
		fmt.Fprintf(p.Stderr, "gvw search: %d finished jobs are in %s\n", len(done), pl.state)
	}
	all, err := pl.runAll(ctx, p, t, j, done)
	if err != nil {
		if pl.state != "" && ctx.Err() != nil {
			fmt.Fprintf(p.Stderr, "gvw search: stopped after %d jobs: the same command continues from %s\n", len(all), pl.state)
		}
		return err
	}
	if err := p.Print(pl.table(all)); err != nil {
		return err
	}
	at := best(all)
	if at < 0 {
		last := all[len(all)-1]
		return &cli.ExitError{Text: fmt.Sprintf("all %d trials have failed; the last one: %s", len(all), last.Error), Code: max(last.Code, cli.ExitUsage)}
	}
	s := pl.base.apply(pl.space, pl.job(all[at]), pl.header.Resource)
	if err := p.Print(fmt.Sprintf("\nbest: trial %d, loss %.6f\n%s\n", all[at].Trial, *all[at].Loss, pl.base.line(s))); err != nil {
		return err
	}
	if !slices.ContainsFunc(trialFiles, s.Has) {
		return nil
	}
	t.shareCache(s, pl.job(all[at]).Values)
	if pl.quiet {
		s.Set("quiet", "true")
	}
	result, _, _, err := t.process(ctx, pl.base.args(s), p.Stderr)
	if err == nil && (result.Code != 0 || result.Err != nil) {
		err = &cli.ExitError{Text: "the training with the best options has failed: see the lines above", Code: max(result.Code, cli.ExitUsage)}
	}
	return err
}

// job returns the job of an outcome.
func (pl *plan) job(o outcome) strategy.Job {
	j := strategy.Job{Trial: o.Trial, Resource: o.Resource}
	for _, d := range pl.space {
		j.Values = append(j.Values, o.Options[d.Name])
	}
	return j
}

// runAll runs the jobs of the strategy, several at a time, and returns their outcomes in the order
// in which they have finished. Jobs in done are not run again.
func (pl *plan) runAll(ctx context.Context, p *cli.Process, t *trainer, to *journal, done map[place]outcome) (all []outcome, err error) {
	ctx, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	seq := strategy.NewSequencer(pl.next, pl.header.Parallel)
	ended := make(chan finishedJob, pl.header.Parallel)
	running := 0
	defer func() { // no process outlives the call
		stop(context.Canceled)
		for ; running > 0; running-- {
			<-ended
		}
	}()
	if !pl.quiet {
		fmt.Fprintln(p.Stderr, pl.head())
	}
	for {
		n, j, state := 0, strategy.Job{}, strategy.Wait
		if running < pl.header.Parallel {
			n, j, state = seq.Next()
		}
		if state == strategy.End {
			return all, nil
		}
		if state == strategy.Start {
			if o, known := done[place{j.Trial, j.Resource}]; known {
				seq.Finish(n, o.Known())
				all = append(all, o)
				continue
			}
			running++
			go func() {
				o, err := t.run(ctx, n, j)
				ended <- finishedJob{n, o, err}
			}()
			continue
		}
		f := <-ended
		running--
		if f.err != nil {
			return all, f.err
		}
		seq.Finish(f.n, f.o.Known())
		all = append(all, f.o)
		if to != nil {
			if err := to.add(f.o); err != nil {
				return all, fmt.Errorf("cannot write %s: %w", pl.state, err)
			}
		}
		if !pl.quiet {
			fmt.Fprintln(p.Stderr, pl.row(f.o))
		}
	}
}
