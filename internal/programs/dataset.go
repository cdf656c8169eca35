// SPDX-License-Identifier: Apache-2.0

package programs

import (
	"context"
	"errors"
	"io"
	"math/rand/v2"

	"github.com/gvw-project/gvw/feature"
	"github.com/gvw-project/gvw/feature/libsvm"
	"github.com/gvw-project/gvw/feature/stream"
	"github.com/gvw-project/gvw/learn"
)

// example is an example in its batch.
type example struct {
	*feature.Batch
	*feature.Example
	number int // in the input, from 1
}

// features returns the features of the example.
func (ex example) features() []feature.Feature { return ex.FeaturesOf(ex.Example) }

// learnable reports whether the example has a label and a weight above 0.
func (ex example) learnable() bool { return ex.Labeled() && ex.Weight > 0 }

// dataset has all examples of the input in memory.
type dataset struct {
	names    []string // of the inputs
	examples []example
	warnings []feature.Warning
}

// format returns how text becomes examples.
func format(c feature.Config, isLibsvm bool) stream.Config {
	config := stream.Config{Feature: c}
	if isLibsvm {
		config.Format = stream.Format{Name: libsvm.Name, New: func(c feature.Config) (stream.Lines, error) { return libsvm.NewParser(c) }}
	}
	return config
}

// load reads all examples of the inputs.
func load(ctx context.Context, inputs []learn.Input, config stream.Config) (d *dataset, err error) {
	for _, in := range inputs {
		config.Sources = append(config.Sources, stream.Source{Name: in.Name, Identity: in.Identity, Open: in.Open, Header: in.Header})
	}
	data, err := stream.NewDataset(config)
	if err != nil {
		return nil, err
	}
	pass, err := data.Pass(ctx)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, pass.Close()) }()
	d = &dataset{}
	for _, in := range inputs {
		d.names = append(d.names, in.Name)
	}
	for {
		b, err := pass.Next()
		if err == io.EOF {
			return d, nil
		}
		if err != nil {
			return nil, err
		}
		for i := range b.Examples {
			d.examples = append(d.examples, example{b, &b.Examples[i], len(d.examples) + 1})
		}
		d.warnings = append(d.warnings, b.Warnings...)
	}
}

// labeled returns the examples with a label and a weight above 0.
func (d *dataset) labeled() []example {
	out := make([]example, 0, len(d.examples))
	for _, ex := range d.examples {
		if ex.learnable() {
			out = append(out, ex)
		}
	}
	return out
}

// permuted returns the examples in a random order that depends only on the seed and the stream.
func permuted(examples []example, seed, stream uint64) []example {
	r := rand.New(rand.NewPCG(seed, stream))
	out := make([]example, len(examples))
	for i, j := range r.Perm(len(examples)) {
		out[i] = examples[j]
	}
	return out
}
