// SPDX-License-Identifier: Apache-2.0

package tools

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/gvw-project/gvw/feature"
	"github.com/gvw-project/gvw/feature/stream"
	"github.com/gvw-project/gvw/hdfsio"
	"github.com/gvw-project/gvw/internal/cli"
	"github.com/gvw-project/gvw/internal/files"
	"github.com/gvw-project/gvw/learn"
	"github.com/gvw-project/gvw/model"
	"github.com/gvw-project/gvw/model/topics"
)

// topicFiles reads the files of a command on a topic model.
type topicFiles struct {
	ctx   context.Context
	p     *cli.Process
	s     *cli.Settings
	files *files.Set
	fsys  hdfsio.FS
	name  string // of the model
	model *model.Topics
}

// openTopics reads a topic model.
func openTopics(ctx context.Context, p *cli.Process, s *cli.Settings, name string) (t *topicFiles, err error) {
	t = &topicFiles{ctx: ctx, p: p, s: s, files: files.New(p), name: name}
	t.fsys = t.files.System(s.Get, true)
	f, err := hdfsio.Open(ctx, t.fsys, name)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	if t.model, err = model.ReadTopics(f, model.Limits{Bits: 32}); err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	return t, nil
}

// batches calls f for all batches of documents. If names is true, they have the names of features.
func (t *topicFiles) batches(data []string, names bool, f func(b *feature.Batch) error) error {
	inputs, err := t.files.Inputs(t.ctx, t.fsys, data, "", hdfsio.Shard{})
	if err != nil {
		return err
	}
	d, err := t.documents(inputs, names)
	if err != nil {
		return err
	}
	return eachBatch(t.ctx, t.p, d, f)
}

// documents returns how documents are read: by the options in the header that are about features.
// As in vw there is no constant.
func (t *topicFiles) documents(inputs []learn.Input, names bool) (stream.Config, error) {
	h := t.model.Header
	h.LDA = 0
	h.Options = slices.DeleteFunc(slices.Clone(h.Options), func(o model.Option) bool {
		return slices.Contains([]string{"lda", "lda_alpha", "lda_alphas", "lda_rho", "noconstant"}, o.Name)
	})
	h.Options = append(h.Options, model.Option{Name: "noconstant"})
	d, err := learn.NamedData(t.name, &h, t.s.Get("format"), inputs, dictionaries(t.ctx, t.p, t.s, t.fsys))
	d.Feature.Names = names
	return d, err
}

// Topics runs gvw topics.
func Topics(ctx context.Context, p *cli.Process, c *cli.Command, args []string) error {
	s, err := modelFiles(p, c, args, "gvw topics MODEL", 1)
	if s == nil {
		return err
	}
	if err := checkTopics(s); err != nil {
		return err
	}
	t, err := openTopics(ctx, p, s, s.Words[0])
	if err != nil {
		return err
	}
	v, err := t.vocabulary()
	if err != nil {
		return err
	}
	var words []uint32 // nil: all
	if v != nil {
		words = v.Words()
	}
	m, err := topics.New(t.model, words)
	if err != nil {
		return &learn.DataError{Name: t.name, Text: err.Error()}
	}
	if s.Has("vocab_out") {
		if err := t.write(s.Get("vocab_out"), v.AppendText(nil)); err != nil {
			return err
		}
	}
	if s.Get("to") == "table" {
		return p.Print(string(m.AppendTable(nil, v)))
	}
	n := 10
	if s.Has("top") {
		n = int(s.Number("top"))
	}
	r := m.Report(v, n)
	if err := t.measure(m, r); err != nil {
		return err
	}
	return t.print(r)
}

// checkTopics returns the faults of options that do not go together.
func checkTopics(s *cli.Settings) error {
	var errs []error
	if s.Has("vocab_ids") && !s.Has("vocab") {
		errs = append(errs, cli.Usagef("--vocab_ids would be ignored without --vocab FILE"))
	}
	if s.Has("alpha") && !s.Has("perplexity") {
		errs = append(errs, cli.Usagef("--alpha would be ignored without --perplexity FILE"))
	}
	if s.Has("vocab_out") && !s.Has("vocab") && !s.Has("data") {
		errs = append(errs, cli.Usagef("--vocab_out without --vocab or --data: no word has a name"))
	}
	if s.Get("to") == "table" {
		for _, name := range []string{"top", "corpus", "perplexity"} {
			if s.Has(name) {
				errs = append(errs, cli.Usagef("--%s would be ignored with --to table, which has all words and no measures", name))
			}
		}
	}
	for _, name := range []string{"data", "corpus", "perplexity"} {
		if slices.ContainsFunc(s.All(name), func(file string) bool { return slices.Contains(files.StdinNames, file) }) {
			errs = append(errs, cli.Usagef("--%s: stdin can be read only once: give a file", name))
		}
	}
	return errors.Join(append(errs, checkStreams(s)...)...)
}

// checkStreams returns an error for each stream but stdin that would be read twice: it has no data the second time.
func checkStreams(s *cli.Settings) (errs []error) {
	uses := map[string][]string{}
	use := func(purpose string, options ...string) {
		for _, option := range options {
			if names := s.All(option); len(names) > 0 { // the first option that is given has the files
				for _, name := range names {
					uses[name] = append(uses[name], purpose)
				}
				return
			}
		}
	}
	use("the names of words", "vocab", "data")
	if s.Get("to") != "table" {
		use("coherence", "corpus", "data")
		use("perplexity", "perplexity")
	}
	for _, name := range slices.Sorted(maps.Keys(uses)) {
		if purposes := uses[name]; len(purposes) > 1 && readOnce(name) && !slices.Contains(files.StdinNames, name) {
			errs = append(errs, cli.Usagef("%s would be read for %s, but a stream can be read only once: give a file", name, strings.Join(purposes, " and for ")))
		}
	}
	return errs
}

// vocabulary returns the names of --vocab, else those in --data, else nil.
func (t *topicFiles) vocabulary() (v *topics.Vocabulary, err error) {
	if name := t.s.Get("vocab"); name != "" {
		f, err := hdfsio.Open(t.ctx, t.fsys, name)
		if err != nil {
			return nil, err
		}
		ids := topics.IDs(max(0, slices.Index(topics.IDNames, t.s.Get("vocab_ids"))))
		v, err = topics.ReadVocabulary(f, ids, t.model.Bits)
		if err != nil {
			err = &learn.DataError{Name: name, Text: err.Error()}
		}
		return v, errors.Join(err, f.Close())
	}
	if !t.s.Has("data") {
		return nil, nil
	}
	v, data := topics.NewVocabulary(), t.s.All("data")
	if err := t.batches(data, true, func(b *feature.Batch) error {
		for i, x := range b.Features {
			v.Add(x.Index, b.NameOf(i))
		}
		return nil
	}); err != nil {
		return nil, err
	}
	if len(v.Words()) == 0 {
		return nil, &learn.DataError{Name: data[0], Text: "no document has a word"}
	}
	return v, nil
}

// measure adds what documents show: coherence and perplexity.
func (t *topicFiles) measure(m *topics.Model, r *topics.Report) error {
	corpus := t.s.All("corpus")
	if len(corpus) == 0 {
		corpus = t.s.All("data")
	}
	if len(corpus) > 0 {
		pairs, words := r.Pairs(), []uint32(nil)
		err := t.documentsOf(corpus, func(doc []feature.Feature) error {
			words = words[:0]
			for _, x := range doc {
				words = append(words, x.Index)
			}
			pairs.Add(words)
			return nil
		})
		if err != nil {
			return err
		}
		r.Score(pairs)
	}
	if held := t.s.All("perplexity"); len(held) > 0 {
		alphas := m.Alphas()
		if t.s.Has("alpha") {
			alpha, err := strconv.ParseFloat(t.s.Get("alpha"), 64)
			if err != nil {
				return cli.Usagef("--alpha: %w", err)
			}
			alphas = slices.Repeat([]float64{alpha}, len(alphas))
		}
		completion := m.NewCompletion(alphas)
		err := t.documentsOf(held, func(doc []feature.Feature) error {
			completion.Add(doc)
			return nil
		})
		if err != nil {
			return err
		}
		perplexity, tokens := completion.Perplexity()
		if tokens == 0 {
			return &learn.DataError{Name: held[0], Text: "no document has two tokens, one to infer topics from and one to predict"}
		}
		r.Perplexity, r.HeldOut = &perplexity, tokens
	}
	return nil
}

// documentsOf calls f for each document.
func (t *topicFiles) documentsOf(data []string, f func(doc []feature.Feature) error) error {
	return t.batches(data, false, func(b *feature.Batch) error {
		for i := range b.Examples {
			if err := f(b.FeaturesOf(&b.Examples[i])); err != nil {
				return err
			}
		}
		return nil
	})
}

// print prints the report in the form of --to.
func (t *topicFiles) print(r *topics.Report) error {
	var text []byte
	var err error
	switch t.s.Get("to") {
	case "json":
		text, err = r.AppendJSON(nil)
	case "html":
		text, err = r.AppendHTML(nil, "Topics of "+t.name)
	default:
		text = r.AppendText(nil)
	}
	return errors.Join(err, t.p.Print(string(text)))
}

// write writes a file, which gets its name when it is complete.
func (t *topicFiles) write(name string, contents []byte) error {
	out, err := t.files.Creator(t.ctx, t.fsys, 0)(name)
	if err != nil {
		return err
	}
	if _, err := out.Write(contents); err != nil {
		return errors.Join(err, out.Abort())
	}
	return out.Commit()
}
