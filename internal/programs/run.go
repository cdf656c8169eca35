// SPDX-License-Identifier: Apache-2.0

package programs

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"slices"

	"github.com/gvw-project/gvw/feature"
	"github.com/gvw-project/gvw/hdfsio"
	"github.com/gvw-project/gvw/internal/cli"
	"github.com/gvw-project/gvw/internal/files"
	"github.com/gvw-project/gvw/learn"
	"github.com/gvw-project/gvw/malt"
)

// program is a learner as a command.
type program interface {
	// check returns the faults of the options.
	check() error
	// features returns how text becomes features, once the model of -i has been read.
	features() feature.Config
	// modelOptions returns the options that a model keeps: those of the command line, and after restore those of the model.
	modelOptions() []modelOption
	// restore reads the model of -i.
	restore(data []byte) error
	// observe learns about an example of the training data what prepare needs. The example is valid during the call.
	observe(ex example) error
	// prepare completes the configuration once all examples of all ranks have been observed. sample has some of them, in
	// random order and the same on all ranks. mine is the number of examples of this rank in a pass.
	prepare(sample []example, mine int) error
	// create makes a model, or continues from that of restore.
	create() error
	// update learns from an example of pass number pass, and returns its loss before.
	update(ex example, pass int) float64
	// finish ends training.
	finish()
	// encode appends the model.
	encode(dst []byte) ([]byte, error)
	// predict returns the prediction for an example; it is counted in the measures of report.
	predict(ex example) float64
	// report returns the measures of all predictions of labelled examples.
	report() string
}

// Names of options that the programs have in common.
const (
	optData        = "data"
	optModelIn     = "initial_regressor"
	optModelOut    = "final_regressor"
	optTest        = "testonly"
	optPredictions = "predictions"
)

// run is one run of a program.
type run struct {
	ctx   context.Context
	c     *cli.Context
	p     *cli.Process
	files *files.Set
	fsys  hdfsio.FS
	log   *slog.Logger
	prog  program
	job   *job // nil: this process learns from all examples

	mine []example // the examples to learn from
	most int       // examples of a pass of the rank with most of them
}

// command runs a program with the options of the command line; make creates it from them.
func command(ctx context.Context, p *cli.Process, c *cli.Command, args []string, make func(c *cli.Context) program) error {
	s, err := c.Sets[0].Read(p, args)
	if s == nil {
		return err
	}
	if err := errors.Join(checkOptions(s)...); err != nil {
		return err
	}
	return s.Dispatch(ctx, func(c *cli.Context) (err error) {
		r := &run{ctx: c.Context, c: c, p: p, files: files.New(p), prog: make(c)}
		if err := r.prog.check(); err != nil {
			return cli.Usagef("%w", err)
		}
		r.fsys = r.files.System(s.Get, c.Bool("quiet"))
		r.log = p.Logger(cli.LogLevel(c.Bool("quiet"), ""), false)
		if c.Bool(optTest) {
			return r.test(s)
		}
		if r.job, err = joinJob(p, c, func(name string) (io.ReadCloser, error) { return hdfsio.Open(r.ctx, r.fsys, name) }); err != nil {
			return err
		}
		defer func() { err = errors.Join(err, r.job.close()) }()
		return r.train(s)
	})
}

// checkOptions returns the faults of options that the programs have in common.
func checkOptions(s *cli.Settings) (errs []error) {
	if s.Has(optTest) && !s.Has(optModelIn) {
		errs = append(errs, cli.Usagef("--testonly without -i MODEL: there is nothing to predict with"))
	}
	if s.Has(optTest) && s.Has(optModelOut) {
		errs = append(errs, cli.Usagef("--final_regressor would be ignored with --testonly"))
	}
	if s.Has(optPredictions) && !s.Has(optTest) {
		errs = append(errs, cli.Usagef("--predictions would be ignored without --testonly"))
	}
	return append(errs, checkJob(s)...)
}

// train makes all passes and writes the model. The file is created before the passes, so that a name at which it cannot
// be costs no training.
func (r *run) train(s *cli.Settings) (err error) {
	if err := r.restore(s); err != nil {
		return err
	}
	file := &modelFile{run: r, name: s.Get(optModelOut)}
	defer func() { err = errors.Join(err, file.abort()) }()
	if r.job.rank() == 0 {
		if err := file.create(); err != nil {
			return err
		}
	}
	if err := r.learn(s); err != nil {
		return err
	}
	return r.job.done(r.ctx, file.write)
}

// learn reads the examples, makes all passes over them, and ends training.
func (r *run) learn(s *cli.Settings) error {
	sample, err := r.examples(s)
	if err != nil {
		return err
	}
	if err := r.prog.prepare(sample, len(r.mine)); err != nil {
		return err
	}
	if err := r.job.share(r.prog); err != nil {
		return err
	}
	if err := r.prog.create(); err != nil {
		return err
	}
	if err := r.job.begin(); err != nil {
		return err
	}
	for pass := range passes(r.c) {
		if err := r.pass(pass); err != nil {
			return err
		}
	}
	return r.job.finish(r.ctx, r.most*passes(r.c), r.prog.finish)
}

// sampleSize is the number of examples that prepare gets, if there are as many.
const sampleSize = 1000

// examples reads the examples of this process, and shows the program those of all ranks.
func (r *run) examples(s *cli.Settings) (sample []example, err error) {
	if r.job != nil {
		return r.sharedExamples(s)
	}
	data, err := r.load(s)
	if err != nil {
		return nil, err
	}
	r.mine = permuted(data.labeled(), r.c.Uint64("random_seed"), 0)
	r.most = len(r.mine)
	if r.most == 0 {
		return nil, noExamples(data.names)
	}
	for _, ex := range r.mine {
		if err := r.prog.observe(ex); err != nil {
			return nil, dataError(data.names, err)
		}
	}
	return r.mine[:min(sampleSize, r.most)], nil
}

// dataError returns a fault in the contents of files as an error that the exit code distinguishes. names has at least one.
func dataError(names []string, err error) error {
	name := names[0]
	if len(names) > 1 {
		name += " and others"
	}
	return &learn.DataError{Name: name, Text: err.Error()}
}

// noExamples returns the error for data without labels.
func noExamples(names []string) error {
	return dataError(names, errors.New("there are no labelled examples to learn from"))
}

// sharedExamples is examples for a rank of a job: it keeps only its share of them.
func (r *run) sharedExamples(s *cli.Settings) (sample []example, err error) {
	j := r.job
	c := malt.DataConfig{FS: r.fsys, Names: s.All(optData), Rank: j.rank(), Of: j.total(), Seed: r.c.Uint64("random_seed")}
	data, err := malt.LoadData(r.ctx, c)
	if err != nil {
		return nil, err
	}
	if err := data.Compare(r.ctx, j.group); err != nil {
		return nil, err
	}
	j.shares = &shares{data: data, format: format(r.prog.features(), r.c.Bool("libsvm"))}
	if sample, err = j.shares.survey(r.ctx, j.rank(), j.total(), c.Seed, sampleSize, r.prog.observe); err != nil {
		return nil, err
	}
	r.warn(j.shares.warnings)
	r.mine, r.most = j.shares.mine(), slices.Max(j.shares.counts)
	if len(sample) == 0 {
		return nil, noExamples(c.Names)
	}
	return sample, nil
}

// takeOver reads the shares of lost ranks that this rank has now.
func (r *run) takeOver() error {
	j := r.job
	if j == nil || j.epoch == j.group.Epoch() {
		return nil
	}
	j.epoch = j.group.Epoch()
	read, err := j.shares.own(r.ctx, j.group.Shares())
	r.mine = j.shares.mine()
	for _, share := range read {
		r.log.Info("took over the share of a lost rank", "rank", j.rank(), "share", share, "examples", len(j.shares.examples[share]))
	}
	return err
}

// defaultPasses is the default of --passes.
const defaultPasses = 10

// passes returns --passes.
func passes(c *cli.Context) int { return int(number(c, "passes", defaultPasses)) }

// number returns the value of an option, or its default.
func number(c *cli.Context, name string, def uint64) uint64 {
	if c.IsSet(name) {
		return c.Uint64(name)
	}
	return def
}

// pass learns from the examples in a random order. A rank that has taken over shares learns from a random part of its
// examples in each pass: passes stay as long as before, so all ranks exchange equally often.
func (r *run) pass(pass int) error {
	if err := r.takeOver(); err != nil {
		return err
	}
	loss := 0.0
	// Stream 0 is that of the sample.
	mine := permuted(r.mine, r.c.Uint64("random_seed"), uint64(pass*r.job.total()+r.job.rank())+1)
	mine = mine[:min(len(mine), r.most)]
	for i, ex := range mine {
		loss += r.prog.update(ex, pass)
		if i%1024 == 0 && r.ctx.Err() != nil {
			return context.Cause(r.ctx)
		}
		if err := r.job.step(r.ctx); err != nil {
			return err
		}
	}
	r.job.report(pass+1, len(mine), loss)
	if !r.c.Bool("quiet") {
		fmt.Fprintf(r.p.Stderr, "pass %d: %d examples, mean loss %.6f\n", pass+1, len(mine), loss/float64(max(len(mine), 1)))
	}
	return nil
}

// test predicts all examples, and prints the measures of those with a label.
func (r *run) test(s *cli.Settings) error {
	if err := r.restore(s); err != nil {
		return err
	}
	data, err := r.load(s)
	if err != nil {
		return err
	}
	predict := func(w io.Writer) error {
		b := bufio.NewWriter(w)
		for _, ex := range data.examples {
			fmt.Fprintf(b, "%.6g", r.prog.predict(ex))
			if tag := ex.TagOf(ex.Example); len(tag) > 0 {
				fmt.Fprintf(b, " %s", tag)
			}
			b.WriteByte('\n')
		}
		return b.Flush()
	}
	if s.Has(optPredictions) {
		err = r.write(s.Get(optPredictions), predict)
	} else {
		err = predict(io.Discard)
	}
	if err == nil && !r.c.Bool("quiet") {
		fmt.Fprintf(r.p.Stderr, "%d examples: %s\n", len(data.examples), r.prog.report())
	}
	return err
}

// load reads the examples.
func (r *run) load(s *cli.Settings) (*dataset, error) {
	inputs, err := r.files.Inputs(r.ctx, r.fsys, s.All(optData), "", hdfsio.Shard{})
	if err != nil {
		return nil, err
	}
	data, err := load(r.ctx, inputs, format(r.prog.features(), r.c.Bool("libsvm")))
	if err != nil {
		return nil, err
	}
	r.warn(data.warnings)
	return data, nil
}

// warn logs the warnings about the data.
func (r *run) warn(all []feature.Warning) {
	for _, w := range all {
		r.log.Warn(w.Text, "source", w.Source, "line", w.Line)
	}
}

// restore reads the model of -i, if there is one.
func (r *run) restore(s *cli.Settings) error {
	name := s.Get(optModelIn)
	if name == "" {
		return nil
	}
	f, err := hdfsio.Open(r.ctx, r.fsys, name)
	if err != nil {
		return err
	}
	data, err := io.ReadAll(f)
	if err = errors.Join(err, f.Close()); err != nil {
		return err
	}
	given := r.prog.modelOptions()
	if err := r.prog.restore(data); err != nil {
		return dataError([]string{name}, err)
	}
	return checkKept(r.c, name, given, r.prog.modelOptions())
}

// write writes an output, which gets its name when it is complete.
func (r *run) write(name string, contents func(w io.Writer) error) error {
	out, err := r.files.Creator(r.ctx, r.fsys, r.job.rank())(name)
	if err != nil {
		return err
	}
	if err := contents(out); err != nil {
		return errors.Join(err, out.Abort())
	}
	return out.Commit()
}
