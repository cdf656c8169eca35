// SPDX-License-Identifier: Apache-2.0

package tools

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"strconv"

	"github.com/gvw-project/gvw/feature"
	"github.com/gvw-project/gvw/feature/stream"
	"github.com/gvw-project/gvw/hdfsio"
	"github.com/gvw-project/gvw/internal/cli"
	"github.com/gvw-project/gvw/internal/files"
	"github.com/gvw-project/gvw/learn"
	"github.com/gvw-project/gvw/model"
	"github.com/gvw-project/gvw/model/inspect"
)

// modelFiles returns the options of a command on model files, and checks the number of files.
// It returns nil settings if help was printed.
func modelFiles(p *cli.Process, c *cli.Command, args []string, usage string, want int) (*cli.Settings, error) {
	s, err := c.Sets[0].Read(p, args)
	if s == nil {
		return nil, err
	}
	s.Words = append(s.Words, s.Rest...)
	if len(s.Words) != want {
		return nil, cli.Usagef("%s: got %d files, want %d (gvw %s --help says more)", usage, len(s.Words), want, c.Name)
	}
	return s, nil
}

// Inspect runs gvw inspect. Names of features come from a readable model itself, from --names,
// and from the examples of --data.
func Inspect(ctx context.Context, p *cli.Process, c *cli.Command, args []string) error {
	s, err := modelFiles(p, c, args, "gvw inspect MODEL", 1)
	if s == nil {
		return err
	}
	file := s.Words[0]
	r, names, err := NamedModel(ctx, p, s, file)
	if err != nil {
		return err
	}
	text := inspect.AppendModel(nil, file, r)
	if n := top(s); n > 0 {
		text = inspect.AppendTop(append(text, '\n'), r, names, n)
	}
	if names != nil {
		text = inspect.AppendNamespaces(append(text, '\n'), r, names)
	}
	return p.Print(string(text))
}

// NamedModel reads a model, and the names of its features from the model itself, from --names and from --data. names is nil
// if none is known. The weights are those of predictions.
func NamedModel(ctx context.Context, p *cli.Process, s *cli.Settings, file string) (r *model.Regressor, names *inspect.Names, err error) {
	files := files.New(p)
	names = inspect.NewNames()
	if r, err = readModel(ctx, files.System(s.Get, true), file, names.Note); err != nil {
		return nil, nil, err
	}
	// Models of SGD with L1 or L2 keep the weights and the pending regularisation apart; Settle
	// applies it.
	r.Settle()
	names, err = modelNames(ctx, p, files, s, file, r, names)
	return r, names, err
}

// EachExample calls f for each example of data files in a format: vw's text if it is empty. f must not keep the example.
func EachExample(ctx context.Context, p *cli.Process, s *cli.Settings, data []string, format string, f func(ex *feature.Example) error) error {
	set := files.New(p)
	inputs, err := set.Inputs(ctx, set.System(s.Get, true), data, "", hdfsio.Shard{})
	if err != nil {
		return err
	}
	d, err := learn.NamedData("", &model.Header{Bits: 18}, format, inputs, learn.Dictionaries{}) // its header has no --dictionary
	if err != nil {
		return err
	}
	return eachBatch(ctx, p, d, func(b *feature.Batch) error {
		for i := range b.Examples {
			if err := f(&b.Examples[i]); err != nil {
				return err
			}
		}
		return nil
	})
}

// Diff runs gvw diff.
func Diff(ctx context.Context, p *cli.Process, c *cli.Command, args []string) error {
	s, err := modelFiles(p, c, args, "gvw diff MODEL MODEL", 2)
	if s == nil {
		return err
	}
	files := files.New(p)
	names := inspect.NewNames()
	a, err := readModel(ctx, files.System(s.Get, true), s.Words[0], names.Note)
	if err != nil {
		return err
	}
	b, err := readModel(ctx, files.System(s.Get, true), s.Words[1], names.Note)
	if err != nil {
		return err
	}
	a.Settle()
	b.Settle()
	names, err = modelNames(ctx, p, files, s, s.Words[0], a, names)
	if err != nil {
		return err
	}
	return p.Print(string(inspect.AppendDiff(nil, a, b, names, top(s))))
}

// Convert runs gvw convert. The new model has its final name only when it is complete.
func Convert(ctx context.Context, p *cli.Process, c *cli.Command, args []string) error {
	s, err := modelFiles(p, c, args, "gvw convert MODEL FILE", 2)
	if s == nil {
		return err
	}
	files := files.New(p)
	r, err := readModel(ctx, files.System(s.Get, true), s.Words[0], nil)
	if err != nil {
		return err
	}
	if s.Has("id") {
		r.ID = s.Get("id")
	}
	if s.Has("predict_only") {
		r.ForPrediction()
	}
	r.ForEverybody()
	out, err := files.Creator(ctx, files.System(s.Get, true), 0)(s.Words[1])
	if err != nil {
		return err
	}
	write := model.Write
	if s.Get("to") == "text" {
		write = model.WriteExact
	}
	if err := write(out, r); err != nil {
		return errors.Join(err, out.Abort())
	}
	return out.Commit()
}

// top returns the number of weights to show; 0: none.
func top(s *cli.Settings) int {
	if !s.Has("top") {
		return 20
	}
	return int(s.Number("top"))
}

// readModel reads a model, binary or text. It calls tell, if it is not nil, for each name of a
// feature in the text.
func readModel(ctx context.Context, fsys hdfsio.FS, name string, tell func(index uint32, name string)) (r *model.Regressor, err error) {
	f, err := hdfsio.Open(ctx, fsys, name)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	in := bufio.NewReaderSize(f, 1<<16)
	// The first bytes distinguish the forms, so the user need not name one. A file shorter than
	// that gets the error of its reader.
	head, err := in.Peek(8)
	if err != nil && err != io.EOF {
		return nil, err
	}
	if model.IsText(head) {
		r, err = model.ReadText(in, model.Limits{}, tell)
	} else {
		r, err = model.Read(in, model.Limits{})
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	return r, nil
}

// modelNames adds the names of --names and --data to those of the model's own text. It returns
// nil if no name is known.
func modelNames(ctx context.Context, p *cli.Process, files *files.Set, s *cli.Settings, file string, r *model.Regressor, names *inspect.Names) (*inspect.Names, error) {
	names.Of(&r.Header, r.Classes()) // other learners have no names but those of --data
	if s.Has("names") {
		inverted, err := readModel(ctx, files.System(s.Get, true), s.Get("names"), names.Note)
		switch {
		case err != nil:
			return nil, err
		case !names.Known():
			return nil, cli.Usagef("--names %s: it has no names: give what --invert_hash wrote", s.Get("names"))
		// Names are by index, and an index depends on the number of weights.
		case inverted.Bits != r.Bits:
			return nil, cli.Usagef("--names %s: it is of a model of %d bits, %s has %d", s.Get("names"), inverted.Bits, file, r.Bits)
		}
	}
	if s.Has("data") {
		if err := namesOfData(ctx, p, files, s, file, r, names); err != nil {
			return nil, err
		}
	}
	if !names.Known() {
		return nil, nil
	}
	return names, nil
}

// namesOfData reads examples in the format that the model's options require.
func namesOfData(ctx context.Context, p *cli.Process, files *files.Set, s *cli.Settings, file string, r *model.Regressor, names *inspect.Names) error {
	fsys := files.System(s.Get, true)
	inputs, err := files.Inputs(ctx, fsys, s.All("data"), "", hdfsio.Shard{})
	if err != nil {
		return err
	}
	d, err := learn.NamedData(file, &r.Header, s.Get("format"), inputs, dictionaries(ctx, p, s, fsys))
	if err != nil {
		return err
	}
	weights, err := learn.WeightsPerFeature(file, &r.Header)
	if err != nil {
		return err
	}
	names.Of(&r.Header, weights)
	return eachBatch(ctx, p, d, func(b *feature.Batch) error {
		names.See(b) // it copies what it keeps
		return nil
	})
}

// dictionaries returns the places of the dictionaries of a model: those in which training searches.
func dictionaries(ctx context.Context, p *cli.Process, s *cli.Settings, fsys hdfsio.FS) learn.Dictionaries {
	return learn.Dictionaries{Path: files.DictionaryPath(s.All("dictionary_path"), p.Getenv("PATH")), Open: files.Opener(ctx, fsys)}
}

// eachBatch calls f for all batches of the data, and prints their warnings. f must not keep a
// batch, which is reused for later examples.
func eachBatch(ctx context.Context, p *cli.Process, d stream.Config, f func(b *feature.Batch) error) (err error) {
	set, err := stream.NewDataset(d)
	if err != nil {
		return err
	}
	pass, err := set.Pass(ctx)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, pass.Close()) }()
	for {
		var b *feature.Batch
		switch b, err = pass.Next(); {
		case err == io.EOF:
			return nil
		case err != nil:
			return err
		}
		for _, w := range b.Warnings {
			fmt.Fprintln(p.Stderr, "gvw: "+w.Source+", line "+strconv.FormatInt(w.Line, 10)+": "+w.Text)
		}
		if err := f(b); err != nil {
			return err
		}
		pass.Recycle(b)
	}
}
