// SPDX-License-Identifier: Apache-2.0

package main

import (
	"compress/gzip"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math/bits"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/gvw-project/gvw/feature"
	"github.com/gvw-project/gvw/hdfsio"
	"github.com/gvw-project/gvw/model"
	"github.com/gvw-project/gvw/model/topics"
)

// corpus is a data set: the sizes of its training set, and its test set.
type corpus struct {
	train, test       string
	documents, tokens int
	words, bits       int // word ids are below words, and words is at most 2^bits
	held              feature.Batch
}

// tenth is the share of the training documents on which settings are chosen: one of so many.
const tenth = 10

// split returns a corpus whose training set, in dir, lacks each tenth document of that of c. Those are
// its test set.
func (c *corpus) split(dir string) (_ *corpus, err error) {
	fit := *c
	fit.train, fit.test = filepath.Join(dir, "fit.vw.gz"), filepath.Join(dir, "valid.vw.gz")
	fit.held = feature.Batch{}
	text, err := lines(c.train)
	if err != nil {
		return nil, err
	}
	var parts [2][]byte
	for i, line := range text {
		at := 0
		if (i+1)%tenth == 0 {
			at = 1
		}
		parts[at] = append(append(parts[at], line...), '\n')
	}
	if err := errors.Join(pack(fit.train, parts[0]), pack(fit.test, parts[1]), parse(fit.test, &fit.held)); err != nil {
		return nil, err
	}
	fit.documents = len(text) - len(fit.held.Examples)
	return &fit, nil
}

// pack writes a compressed file.
func pack(name string, text []byte) error {
	f, err := os.Create(name)
	if err != nil {
		return err
	}
	z := gzip.NewWriter(f)
	_, err = z.Write(text)
	return errors.Join(err, z.Close(), f.Close())
}

// lines returns the lines of a compressed file.
func lines(name string) ([]string, error) {
	r, err := hdfsio.Open(context.Background(), hdfsio.Local{}, name)
	if err != nil {
		return nil, err
	}
	defer r.Close()
	text, err := io.ReadAll(r)
	return strings.Split(strings.TrimSuffix(string(text), "\n"), "\n"), err
}

// read reads a data set in which words are numbers.
func read(dir string) (*corpus, error) {
	c := &corpus{train: filepath.Join(dir, "train.vw.gz"), test: filepath.Join(dir, "test.vw.gz")}
	vocabulary, err := os.ReadFile(filepath.Join(dir, "vocab.txt"))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	c.words = strings.Count(string(vocabulary), "\n")
	var train feature.Batch
	if err := errors.Join(parse(c.train, &train), parse(c.test, &c.held)); err != nil {
		return nil, err
	}
	c.documents = len(train.Examples)
	for _, b := range []*feature.Batch{&train, &c.held} {
		for _, x := range b.Features {
			c.words = max(c.words, int(x.Index)+1)
			if b == &train {
				c.tokens += int(x.Value)
			}
		}
	}
	c.bits = bits.Len(uint(c.words - 1))
	return c, nil
}

// parse reads all documents of a file.
func parse(name string, b *feature.Batch) error {
	text, err := lines(name)
	if err != nil {
		return err
	}
	parser, err := feature.NewParser(feature.Config{Bits: 31, NoConstant: true})
	if err != nil {
		return err
	}
	for i, line := range text {
		if err := parser.AppendLine(b, []byte(line), int64(i+1)); err != nil {
			return fmt.Errorf("%s, line %d: %w", name, i+1, err)
		}
	}
	return nil
}

// perplexity returns the perplexity of the test set, as lda_eval.py computes it.
func (c *corpus) perplexity(table [][]float64, alpha float64) (float64, error) {
	k := len(table[0])
	// The table has λ; a prior that hardly counts stands for the one that the model adds.
	m := &model.Topics{Header: model.Header{Bits: uint(c.bits), LDA: uint32(k), Options: []model.Option{{Name: "lda_rho", Value: "1e-30"}}}}
	m.Weights = make([]float32, k<<c.bits)
	words := make([]uint32, c.words)
	for i, row := range table {
		words[i] = uint32(i)
		for j, x := range row {
			m.Weights[i*k+j] = float32(x)
		}
	}
	t, err := topics.New(m, words)
	if err != nil {
		return 0, err
	}
	completion := t.NewCompletion(slices.Repeat([]float64{alpha}, k))
	for i := range c.held.Examples {
		completion.Add(c.held.FeaturesOf(&c.held.Examples[i]))
	}
	p, _ := completion.Perplexity()
	return p, nil
}

// readTable reads the topics that peer.py has written.
func readTable(name string) (table [][]float64, err error) {
	text, err := os.ReadFile(name)
	if err != nil {
		return nil, err
	}
	for line := range strings.Lines(string(text)) {
		var row []float64
		for _, word := range strings.Fields(line)[1:] {
			x, err := strconv.ParseFloat(word, 64)
			if err != nil {
				return nil, err
			}
			row = append(row, x)
		}
		table = append(table, row)
	}
	return table, nil
}

// score returns the perplexity by lda_eval.py.
func (s *settings) score(c *corpus, table [][]float64) (float64, error) {
	var text []byte
	for i, row := range table {
		text = strconv.AppendInt(text, int64(i), 10)
		for _, x := range row {
			text = strconv.AppendFloat(append(text, ' '), x, 'g', 9, 64)
		}
		text = append(text, '\n')
	}
	name := filepath.Join(s.dir, "scored")
	if err := os.WriteFile(name, text, 0o600); err != nil {
		return 0, err
	}
	out, err := exec.Command(s.python[0], append(s.python[1:], s.eval, c.test, name, fmt.Sprint(s.alpha))...).Output()
	if err != nil {
		return 0, fmt.Errorf("%s: %w", s.eval, err)
	}
	var r struct {
		Perplexity float64 `json:"completion_ppl"`
	}
	if err := json.Unmarshal(out, &r); err != nil {
		return 0, fmt.Errorf("%s printed %q: %w", s.eval, out, err)
	}
	return r.Perplexity, nil
}
