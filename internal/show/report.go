// SPDX-License-Identifier: Apache-2.0

package show

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/gvw-project/gvw/feature"
	"github.com/gvw-project/gvw/hdfsio"
	"github.com/gvw-project/gvw/internal/cli"
	"github.com/gvw-project/gvw/internal/files"
	"github.com/gvw-project/gvw/internal/record"
	"github.com/gvw-project/gvw/internal/report"
	"github.com/gvw-project/gvw/internal/tools"
	"github.com/gvw-project/gvw/learn"
	"github.com/gvw-project/gvw/model/inspect"
)

// Report runs gvw report.
func Report(ctx context.Context, p *cli.Process, c *cli.Command, args []string) error {
	s, err := c.Sets[0].Read(p, args)
	if s == nil {
		return err
	}
	set := files.New(p)
	fsys := set.System(s.Get, true)
	runs, err := readRuns(ctx, fsys, append(s.Words, s.Rest...))
	if err != nil {
		return err
	}
	if err := checkReport(s, len(runs)); err != nil {
		return err
	}
	for i, name := range s.All("predictions") {
		if runs[i].Scores, err = readScores(ctx, p, s, fsys, name); err != nil {
			return err
		}
	}
	for i, name := range s.All("model") {
		if runs[i].Weights, err = readWeights(ctx, p, s, name); err != nil {
			return err
		}
	}
	page := report.Page{Runs: runs}
	return write(ctx, set, fsys, s.Get("output"), page.AppendHTML(nil))
}

// checkReport returns the faults of options that do not go together.
func checkReport(s *cli.Settings, runs int) error {
	var errs []error
	for _, name := range []string{"predictions", "model"} {
		if n := len(s.All(name)); n > runs {
			errs = append(errs, cli.Usagef("--%s: got %d files, want at most one for each of %d runs", name, n, runs))
		}
	}
	if s.Has("predictions") != s.Has("labels") {
		errs = append(errs, cli.Usagef("--predictions and --labels go together: the predictions of a model, and the data with the labels of the same examples"))
	}
	if s.Has("format") && !s.Has("labels") && !s.Has("data") {
		errs = append(errs, cli.Usagef("--format would be ignored without --labels or --data"))
	}
	for _, name := range []string{"top", "names", "data", "dictionary_path"} {
		if s.Has(name) && !s.Has("model") {
			errs = append(errs, cli.Usagef("--%s would be ignored without --model", name))
		}
	}
	if !s.Has("output") {
		errs = append(errs, cli.Usagef("gvw report: --output is missing, as in: gvw report run.jsonl -o report.html"))
	}
	return errors.Join(errs...)
}

// readRuns reads the records of one or two runs. Files of one run that several machines have written are one record.
func readRuns(ctx context.Context, fsys hdfsio.FS, names []string) (runs []*report.Run, err error) {
	if len(names) == 0 {
		return nil, cli.Usagef("gvw report: got no file, want one of --record or --log_json, as in: gvw report run.jsonl -o report.html")
	}
	if names, err = inDirectories(ctx, fsys, names); err != nil {
		return nil, err
	}
	for _, name := range names {
		var r *record.Record
		if err := readFile(ctx, fsys, name, func(in io.Reader) (err error) {
			r, err = record.Read(name, in)
			return err
		}); err != nil {
			return nil, err
		}
		if i := slices.IndexFunc(runs, func(o *report.Run) bool { return samePart(o.Record, r) }); i >= 0 {
			runs[i].Record.Merge(r)
			continue
		}
		runs = append(runs, &report.Run{Record: r})
	}
	if len(runs) > 2 {
		return nil, cli.Usagef("gvw report: got %d runs, want one or two: files of one run have the same ID", len(runs))
	}
	for i, r := range runs {
		r.Name = r.Record.Name
		if base := filepath.Base(r.Name); i == 0 || base != filepath.Base(runs[0].Record.Name) {
			r.Name = base
		}
	}
	if len(runs) == 2 && runs[0].Name == filepath.Base(runs[1].Record.Name) {
		runs[0].Name = runs[0].Record.Name
	}
	return runs, nil
}

// inDirectories replaces directories by the records in them, the files *.jsonl.
func inDirectories(ctx context.Context, fsys hdfsio.FS, names []string) (all []string, err error) {
	for _, name := range names {
		info, err := fsys.Stat(ctx, name)
		if err != nil || !info.Mode.IsDir() {
			all = append(all, name) // opening it reports an error
			continue
		}
		found, err := fsys.List(ctx, hdfsio.Escape(strings.TrimSuffix(name, "/"))+"/*.jsonl")
		if err != nil {
			return nil, err
		}
		if len(found) == 0 {
			return nil, cli.Usagef("gvw report: directory %s has no files *.jsonl, want those of --record", name)
		}
		for _, f := range found {
			all = append(all, f.Name)
		}
	}
	return all, nil
}

// samePart reports whether two files are of one run, and of different ranks.
func samePart(a, b *record.Record) bool {
	if a.Run == nil || b.Run == nil || a.Run.ID != b.Run.ID {
		return false
	}
	return !slices.ContainsFunc(a.Machines, func(m record.Machine) bool {
		return slices.ContainsFunc(b.Machines, func(n record.Machine) bool { return m.Rank == n.Rank })
	})
}

// readScores reads predictions, one a line, and the labels of the same examples. Examples without a label are left out.
func readScores(ctx context.Context, p *cli.Process, s *cli.Settings, fsys hdfsio.FS, name string) (*report.Scores, error) {
	var scores []float64
	if err := readFile(ctx, fsys, name, func(in io.Reader) error {
		b := bufio.NewScanner(in)
		b.Buffer(nil, 1<<20)
		for n := 1; b.Scan(); n++ {
			word, _, _ := strings.Cut(strings.TrimSpace(b.Text()), " ")
			v, err := strconv.ParseFloat(word, 64)
			if err != nil {
				return fmt.Errorf("line %d: got %q, want a prediction, a number", n, word)
			}
			scores = append(scores, v)
		}
		return b.Err()
	}); err != nil {
		return nil, err
	}
	var cases []report.Case
	examples := 0
	labels := map[float32]bool{}
	err := tools.EachExample(ctx, p, s, s.All("labels"), s.Get("format"), func(ex *feature.Example) error {
		if examples++; examples > len(scores) || !ex.Labeled() {
			return nil
		}
		if labels[ex.Label] = true; len(labels) > 2 {
			return &learn.DataError{Name: s.Get("labels"), Text: fmt.Sprintf("example %d: got a third label, %g, want two, such as -1 and 1", examples, ex.Label)}
		}
		cases = append(cases, report.Case{Score: scores[examples-1], Weight: max(0, float64(ex.Weight)), Positive: ex.Label > 0})
		return nil
	})
	if err != nil {
		return nil, err
	}
	if examples != len(scores) {
		return nil, &learn.DataError{Name: name, Text: fmt.Sprintf("got %d predictions, want one for each of %d examples of --labels", len(scores), examples)}
	}
	out, err := report.NewScores(cases)
	if err != nil {
		return nil, &learn.DataError{Name: name, Text: err.Error()}
	}
	return out, nil
}

// readWeights reads the largest weights of a model.
func readWeights(ctx context.Context, p *cli.Process, s *cli.Settings, name string) (*report.Weights, error) {
	r, names, err := tools.NamedModel(ctx, p, s, name)
	if err != nil {
		return nil, err
	}
	n := 25
	if s.Has("top") {
		n = int(s.Number("top"))
	}
	w := &report.Weights{Model: filepath.Base(name)}
	for _, x := range inspect.Top(r, n) {
		w.Top = append(w.Top, report.Weight{Name: names.Name(x.Index), Value: float64(x.Value)})
	}
	return w, nil
}
