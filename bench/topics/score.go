// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bufio"
	"compress/gzip"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"math/bits"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/gvw-project/gvw/feature"
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
	f, err := os.Open(name)
	if err != nil {
		return err
	}
	defer f.Close()
	z, err := gzip.NewReader(f)
	if err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	parser, err := feature.NewParser(feature.Config{Bits: 31, NoConstant: true})
	if err != nil {
		return err
	}
	lines := bufio.NewScanner(z)
	lines.Buffer(nil, feature.DefaultMaxLine)
	for n := int64(1); lines.Scan(); n++ {
		if err := parser.AppendLine(b, lines.Bytes(), n); err != nil {
			return fmt.Errorf("%s, line %d: %w", name, n, err)
		}
	}
	return lines.Err()
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
