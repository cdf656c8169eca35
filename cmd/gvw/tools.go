// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strconv"

	"github.com/gvw-project/gvw/feature"
	"github.com/gvw-project/gvw/feature/stream"
	"github.com/gvw-project/gvw/hdfsio"
	"github.com/gvw-project/gvw/internal/cli"
	"github.com/gvw-project/gvw/learn"
	"github.com/gvw-project/gvw/model"
	"github.com/gvw-project/gvw/model/inspect"
)

// tool is a command on model files.
type tool struct {
	name  string
	specs []*spec
	files []string // what its words are
	does  string   // one line of help
	more  string   // the rest of it
	run   func(p *program, ctx context.Context, s *settings) error
}

// nameFlags are the options by which weights get names.
var nameFlags = []*spec{
	{name: "top", kind: integer, category: catInspect, arg: "N", def: "20", help: "show the N largest; 0: none"},
	{name: "data", short: "d", kind: text, category: catInspect, arg: "FILE", repeat: true, help: "names, ranges and counts from examples; repeatable"},
	{name: "format", kind: text, category: catInspect, arg: "FORMAT", choices: []string{"json", "csv", "libsvm"}, help: "of the examples, if they are not vw's text"},
	{name: "names", kind: text, category: catInspect, arg: "FILE", help: "names from the text of --invert_hash"},
	{name: "help", short: "h", kind: boolean, category: catOther, help: "this page"},
}

const catInspect = "Models"

var tools = []*tool{
	{
		name: "inspect", specs: nameFlags, files: []string{"MODEL"}, run: (*program).inspect,
		does: "shows what is in a model: header, largest weights, namespaces",
		more: "With -d or --names weights get their names. A weight's size is relative to the\nlargest one. In a model of --oaa, x is the weight of feature x for the first class,\nx[1] that for the second one, as --invert_hash has it.\n",
	},
	{
		name: "diff", specs: nameFlags, files: []string{"MODEL", "MODEL"}, run: (*program).diff,
		does: "shows in what two models differ",
		more: "Both may be binary models or texts of one.\n",
	},
	{
		name: "convert", files: []string{"MODEL", "FILE"}, run: (*program).convert,
		specs: []*spec{
			{name: "to", kind: text, category: catInspect, arg: "FORM", choices: []string{"binary", "text"}, def: "binary", help: "a model to load, or its text"},
			{name: "predict_only", kind: boolean, category: catInspect, help: "leave out what training would need to go on"},
			{name: "id", kind: text, category: catInspect, arg: "TEXT", help: "give it another id"},
			{name: "help", short: "h", kind: boolean, category: catOther, help: "this page"},
		},
		does: "writes a model in another form",
		more: "Models of vw 7.6 to 9 are read, binary or as text; 9.11.9 is written. The text is\nthat of --readable_model with all digits, so that it can be converted back. What\ntraining needs to go on can be left out, not made up: gvw -i MODEL trains on from\nany.\n",
	},
}

// usage is how the tool is called.
func (t *tool) usage() string {
	s := "gvw " + t.name
	for _, f := range t.files {
		s += " " + f
	}
	return s
}

// toolCommand runs gvw inspect, diff or convert.
func (p *program) toolCommand(ctx context.Context, t *tool, args []string) error {
	s, err := normalise(t.specs, args, nil, os.ReadFile)
	switch {
	case err != nil:
		return err
	case s.has("help"):
		return p.Print(t.help())
	}
	s.words = append(s.words, s.rest...)
	if len(s.words) != len(t.files) {
		return cli.Usagef("%s: got %d files, want %d (gvw %s --help says more)", t.usage(), len(s.words), len(t.files), t.name)
	}
	return t.run(p, ctx, s)
}

func (p *program) inspect(ctx context.Context, s *settings) error {
	file := s.words[0]
	names := inspect.NewNames()
	r, err := readModel(ctx, p.files(s.get, true), file, names.Note)
	if err != nil {
		return err
	}
	r.Settle()
	names, err = p.names(ctx, s, file, r, names)
	if err != nil {
		return err
	}
	text := inspect.AppendModel(nil, file, r)
	if n := s.top(); n > 0 {
		text = inspect.AppendTop(append(text, '\n'), r, names, n)
	}
	if names != nil {
		text = inspect.AppendNamespaces(append(text, '\n'), r, names)
	}
	return p.Print(string(text))
}

func (p *program) diff(ctx context.Context, s *settings) error {
	names := inspect.NewNames()
	a, err := readModel(ctx, p.files(s.get, true), s.words[0], names.Note)
	if err != nil {
		return err
	}
	b, err := readModel(ctx, p.files(s.get, true), s.words[1], names.Note)
	if err != nil {
		return err
	}
	a.Settle()
	b.Settle()
	names, err = p.names(ctx, s, s.words[0], a, names)
	if err != nil {
		return err
	}
	return p.Print(string(inspect.AppendDiff(nil, a, b, names, s.top())))
}

func (p *program) convert(ctx context.Context, s *settings) error {
	r, err := readModel(ctx, p.files(s.get, true), s.words[0], nil)
	if err != nil {
		return err
	}
	if s.has("id") {
		r.ID = s.get("id")
	}
	if s.has("predict_only") {
		r.ForPrediction()
	}
	r.ForEverybody()
	out, err := p.creator(ctx, p.files(s.get, true))(s.words[1])
	if err != nil {
		return err
	}
	write := model.Write
	if s.get("to") == "text" {
		write = model.WriteExact
	}
	if err := write(out, r); err != nil {
		return errors.Join(err, out.Abort())
	}
	return out.Commit()
}

// top is how many weights to show.
func (s *settings) top() int {
	if !s.has("top") {
		return 20
	}
	return int(s.number("top"))
}

// readModel reads a model, binary or text, and tells its names if it has them.
func readModel(ctx context.Context, fsys hdfsio.FS, name string, tell func(index uint32, name string)) (r *model.Regressor, err error) {
	f, err := hdfsio.Open(ctx, fsys, name)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	in := bufio.NewReaderSize(f, 1<<16)
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

// names adds what --names and --data say to what the model's own text said; nil:
// no name is known.
func (p *program) names(ctx context.Context, s *settings, file string, r *model.Regressor, names *inspect.Names) (*inspect.Names, error) {
	names.Of(&r.Header)
	if s.has("names") {
		inverted, err := readModel(ctx, p.files(s.get, true), s.get("names"), names.Note)
		switch {
		case err != nil:
			return nil, err
		case !names.Known():
			return nil, cli.Usagef("--names %s: it has no names: give what --invert_hash wrote", s.get("names"))
		case inverted.Bits != r.Bits:
			return nil, cli.Usagef("--names %s: it is of a model of %d bits, %s has %d", s.get("names"), inverted.Bits, file, r.Bits)
		}
	}
	if s.has("data") {
		if err := p.seeData(ctx, s, file, r, names); err != nil {
			return nil, err
		}
	}
	if !names.Known() {
		return nil, nil
	}
	return names, nil
}

// seeData reads examples as the model's options say.
func (p *program) seeData(ctx context.Context, s *settings, file string, r *model.Regressor, names *inspect.Names) (err error) {
	inputs, err := p.inputs(ctx, p.files(s.get, true), s.all("data"), "", hdfsio.Shard{})
	if err != nil {
		return err
	}
	d, err := learn.NamedData(file, &r.Header, s.get("format"), inputs)
	if err != nil {
		return err
	}
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
		names.See(b)
		pass.Recycle(b)
	}
}
