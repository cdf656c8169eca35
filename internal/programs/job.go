// SPDX-License-Identifier: Apache-2.0

package programs

import (
	"context"
	"errors"
	"io"
	"slices"
	"strings"

	"github.com/gvw-project/gvw/internal/cli"
	"github.com/gvw-project/gvw/internal/fault"
	"github.com/gvw-project/gvw/internal/files"
	"github.com/gvw-project/gvw/internal/joinflags"
	"github.com/gvw-project/gvw/malt"
	"github.com/gvw-project/gvw/optim/outer"
)

// shared is a program that also runs as several ranks.
type shared interface {
	// share creates the shared vectors, between prepare and create.
	share(j *job) error
	// exchange sends and merges them.
	exchange(ctx context.Context) error
}

// scaled is a program whose shared vectors have its weights up to a factor.
type scaled interface {
	// rescale makes the factor 1.
	rescale()
}

// job is this rank's part of a job. nil is a process that learns from all examples.
type job struct {
	group   *malt.Group
	config  malt.VectorConfig
	members int
	prog    shared
	shares  *shares // the examples of this rank
	epoch   int     // the membership for which shares were read

	every     int // examples between two exchanges
	since     int // examples since the last exchange
	exchanges int
	learned   func()  // called at the end of the learning since the last exchange; nil before the first one
	seen      int     // examples of all passes
	losses    float64 // sum over them

	graphs, syncs []string // of the first vectors, instead of those of config
	whole         int      // updates from one with whole rows to the next; 0 and 1: all

	outer  outer.Config       // outer optimiser on the merged values; zero: none
	steps  []*outer.Optimizer // of each vector; none without an outer optimiser
	rounds []func()           // called at the begin of each round

	vectors []*malt.Vector[float32] // the model
	final   *final                  // its average over all ranks
}

// defaultExchange is the default of --cb_size.
const defaultExchange = 1000

// checkJob returns the faults of the options of a job.
func checkJob(s *cli.Settings) []error {
	errs := append(joinflags.Check(s), joinflags.CheckGraph(s, "malt"))
	isRank := s.Has("node")
	switch {
	case s.Has(optTest) && isRank:
		errs = append(errs, cli.Usagef("--testonly in a job: each rank would make the same predictions; leave --node out"))
	case isRank && !s.Has("malt"):
		errs = append(errs, cli.Usagef("--node without --malt GRAPH: each rank would train a model of its own"))
	}
	if isRank && slices.ContainsFunc(s.All(optData), func(name string) bool { return slices.Contains(files.StdinNames, name) }) {
		errs = append(errs, cli.Usagef("--data: stdin belongs to one rank only: give files that all ranks can open"))
	}
	if isRank && !s.Has(optData) {
		errs = append(errs, cli.Usagef("--data: a rank of a job reads files: give -d FILE"))
	}
	if how := s.Get("on_loss"); how == "wait" || how == "grow" && s.Has("malt") {
		errs = append(errs, cli.Usagef("--on_loss %s: another attempt could not continue in the middle of training: use abort or shrink", how))
	}
	if name := s.Get(optModelOut); isRank && s.Get("on_loss") == "shrink" && slices.Contains(files.StdoutNames, name) {
		errs = append(errs, cli.Usagef("--final_regressor %s with --on_loss shrink: if the rank that writes the model is lost, another one writes it, too: give a file", name))
	}
	for _, name := range []string{"malt", "sync", "cb_size", "malt_compress", "outer_rate", "outer_momentum", "layer_graphs", "layer_syncs", "whole_every"} {
		if s.Has(name) && !isRank {
			errs = append(errs, cli.Usagef("--%s would be ignored: this is no rank of a job (gvw run -n 4 -- gvw svm --malt all ...)", name))
		}
	}
	return errs
}

// joinJob joins the job that the options name, or returns nil.
func joinJob(p *cli.Process, c *cli.Context, open func(name string) (io.ReadCloser, error)) (*job, error) {
	place, isRank, err := joinflags.Place(p, c)
	if err != nil || !isRank {
		return nil, err
	}
	custom, err := joinflags.Graph("malt", c.String("malt"), place.Total, open)
	if err != nil {
		return nil, err
	}
	if custom != nil && !custom.Uniform() {
		return nil, cli.Usagef("--malt: the edges of %s have weights, which would be ignored: leave the weights out", c.String("malt"))
	}
	step := outer.Config{Rate: c.Float64("outer_rate"), Momentum: c.Float64("outer_momentum")}
	if err := step.Validate(); err != nil {
		return nil, cli.Usagef("--outer_rate, --outer_momentum: %w", err)
	}
	g, at, err := joinflags.JoinShared(p, c, passes(c))
	if err != nil {
		return nil, err
	}
	return &job{
		group: g, members: at.Total, epoch: g.Epoch(), every: int(number(c, "cb_size", defaultExchange)),
		config: malt.VectorConfig{
			ObjectConfig: malt.ObjectConfig{Graph: c.String("malt"), Custom: custom, Sync: c.String("sync")},
			Format:       formats[c.String("malt_compress")],
		},
		outer:  step,
		graphs: words(c.String("layer_graphs")), syncs: words(c.String("layer_syncs")), whole: int(c.Uint64("whole_every")),
	}, nil
}

// formats are the encodings of --malt_compress. An update has models, so what an encoding loses now is in a later one:
// nothing is carried over.
var formats = map[string]malt.Format{
	"f16": {Code: malt.F16, NoFeedback: true},
	"q8":  {Code: malt.Q8, NoFeedback: true},
}

// words returns words that are separated by commas.
func words(list string) []string {
	if list == "" {
		return nil
	}
	return strings.Split(list, ",")
}

// share creates the shared vectors of a program, and that of the final average.
func (j *job) share(p program) error {
	if j == nil {
		return nil
	}
	j.prog = p.(shared)
	if err := j.prog.share(j); err != nil {
		return err
	}
	length := 0
	for _, v := range j.vectors {
		length += len(v.Values())
	}
	var err error
	j.final, err = newFinal(j.group, length)
	return err
}

// vector creates a shared vector.
func (j *job) vector(name string, length int) (*malt.Vector[float32], error) {
	config, n := j.config, len(j.vectors)
	if n < len(j.graphs) {
		config.Graph, config.Custom = j.graphs[n], nil
	}
	if n < len(j.syncs) {
		config.Sync = j.syncs[n]
	}
	v, err := malt.NewVector[float32](j.group, name, length, config)
	if err != nil {
		return nil, err
	}
	j.vectors = append(j.vectors, v)
	return v, nil
}

// begin notes the first values of the vectors, which the program has set.
func (j *job) begin() error {
	if j == nil {
		return nil
	}
	if !j.outer.Plain() {
		for _, v := range j.vectors {
			o, err := outer.New(j.outer, v.Values())
			if err != nil {
				return err
			}
			j.steps = append(j.steps, o)
		}
	}
	j.round()
	return nil
}

// round begins a round.
func (j *job) round() {
	for _, begin := range j.rounds {
		begin()
	}
}

// step counts an example, and exchanges when it is time.
func (j *job) step(ctx context.Context) error {
	if j == nil {
		return nil
	}
	if j.since++; j.since < j.every {
		return nil
	}
	return j.exchange(ctx)
}

// exchange sends and merges models.
func (j *job) exchange(ctx context.Context) error {
	if j.learned != nil {
		j.learned()
	}
	j.since = 0
	j.exchanges++
	act := fault.At(j.rank(), fault.Exchange)
	// A factor would make the steps wrong, and float16 has no values above 65504.
	if p, ok := j.prog.(scaled); ok && (len(j.steps) > 0 || j.config.Format != (malt.Format{})) {
		p.rescale()
	}
	if err := j.prog.exchange(ctx); err != nil {
		return err
	}
	for i, o := range j.steps {
		o.Step(j.vectors[i].Values())
	}
	j.round()
	j.learned = act.Stretch()
	return nil
}

// finish ends training and averages the models of all ranks, which are in the shared vectors after end. most is the
// number of examples of the rank that has most of them: ranks with fewer exchange as often.
func (j *job) finish(ctx context.Context, most int, end func()) error {
	if j == nil {
		end()
		return nil
	}
	for j.exchanges < most/j.every {
		if err := j.exchange(ctx); err != nil {
			return err
		}
	}
	end()
	return j.final.average(ctx, j.vectors)
}

// done delivers the model and waits until all ranks are done. All ranks have the same model. The lowest rank that takes
// part writes it before it is done, so its loss ends the membership while the others wait; then the next one writes.
func (j *job) done(ctx context.Context, write func() error) error {
	if j == nil {
		return write()
	}
	wrote := j.first()
	if wrote {
		if err := write(); err != nil {
			return err
		}
	}
	if err := j.group.Done(ctx); err != nil {
		return err
	}
	if !wrote && j.first() {
		return write()
	}
	return nil
}

// first reports whether this rank is the lowest of those that take part.
func (j *job) first() bool { return j.group.Members()[0] == j.group.Rank() }

// report sends the progress of this rank after a pass to the server.
func (j *job) report(pass, examples int, loss float64) {
	if j == nil {
		return
	}
	j.seen += examples
	j.losses += loss
	j.group.Report(malt.Progress{Pass: uint32(pass), Step: "pass", Examples: uint64(j.seen), Loss: j.losses / float64(max(j.seen, 1))})
}

// close leaves the job.
func (j *job) close() error {
	if j == nil {
		return nil
	}
	return errors.Join(j.group.Close())
}

// rank returns the number of this process, from 0.
func (j *job) rank() int {
	if j == nil {
		return 0
	}
	return j.group.Rank()
}

// total returns the number of ranks.
func (j *job) total() int {
	if j == nil {
		return 1
	}
	return j.members
}
