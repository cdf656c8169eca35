// SPDX-License-Identifier: Apache-2.0

package tools

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"

	"github.com/gvw-project/gvw/feature"
	"github.com/gvw-project/gvw/internal/cli"
	"github.com/gvw-project/gvw/learn"
	"github.com/gvw-project/gvw/learn/lda"
	"github.com/gvw-project/gvw/model"
)

// Infer runs gvw infer: it writes the topics of documents.
func Infer(ctx context.Context, p *cli.Process, c *cli.Command, args []string) error {
	s, err := c.Sets[0].Read(p, args)
	if s == nil {
		return err
	}
	name := s.Get("initial_regressor")
	if name == "" {
		return cli.Usagef("gvw infer: -i is missing, the model, as in: gvw infer -i MODEL -d FILE")
	}
	t, err := openTopics(ctx, p, s, name)
	if err != nil {
		return err
	}
	alphas, err := t.model.Alphas()
	if err != nil {
		return &learn.DataError{Name: name, Text: err.Error()}
	}
	l, err := lda.New(lda.Config{Topics: int(t.model.LDA), Words: 1 << t.model.Bits, Alphas: alphas, Eta: t.model.Eta()})
	if err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	l.Use(t.model.Weights)
	file := s.Get("predictions")
	if file == "" {
		file = "stdout"
	}
	out, err := t.files.Creator(ctx, t.fsys, 0)(file)
	if err != nil {
		return err
	}
	w := bufio.NewWriter(out)
	err = t.batches(s.All("data"), false, func(b *feature.Batch) error { return t.infer(w, l, b) })
	if err = errors.Join(err, w.Flush()); err != nil {
		return errors.Join(err, out.Abort())
	}
	return out.Commit()
}

// document is the JSON of a document.
type document struct {
	Tag    string    `json:"tag,omitempty"`
	Shares []float64 `json:"shares,omitempty"` // of the topics; they add up to 1
	Gamma  []float64 `json:"gamma,omitempty"`
}

// infer writes a line for each document of a batch.
func (t *topicFiles) infer(w io.Writer, l *lda.Learner, b *feature.Batch) error {
	gamma := make([]float32, t.model.LDA)
	values := make([]float64, len(gamma))
	var line []byte
	for i := range b.Examples {
		ex := &b.Examples[i]
		if _, err := l.Infer(gamma, b.FeaturesOf(ex)); err != nil {
			return fmt.Errorf("document %q: %w", b.TagOf(ex), err)
		}
		sum := 0.0
		for k, g := range gamma {
			values[k] = float64(g)
			sum += float64(g)
		}
		isGamma := t.s.Has("gamma")
		for k := range values {
			if !isGamma {
				values[k] /= sum
			}
		}
		if t.s.Has("json") {
			d := document{Tag: string(b.TagOf(ex)), Shares: values}
			if isGamma {
				d.Shares, d.Gamma = nil, values
			}
			text, err := json.Marshal(d)
			if err != nil {
				return err
			}
			line = append(text, '\n')
		} else {
			line = line[:0]
			for k, v := range values {
				if k > 0 {
					line = append(line, ' ')
				}
				line = model.AppendFloat(line, v)
			}
			if tag := b.TagOf(ex); len(tag) > 0 {
				line = append(append(line, ' '), tag...)
			}
			line = append(line, '\n')
		}
		if _, err := w.Write(line); err != nil {
			return err
		}
	}
	return nil
}
