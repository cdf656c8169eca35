// SPDX-License-Identifier: Apache-2.0

package learn

import (
	"fmt"
	"slices"

	"github.com/gvw-project/gvw/feature"
	"github.com/gvw-project/gvw/feature/csr"
	"github.com/gvw-project/gvw/feature/csv"
	"github.com/gvw-project/gvw/feature/json"
	"github.com/gvw-project/gvw/feature/libsvm"
	"github.com/gvw-project/gvw/feature/stream"
	"github.com/gvw-project/gvw/learn/internal/namespaces"
	"github.com/gvw-project/gvw/learn/internal/reduction"
	"github.com/gvw-project/gvw/model"
)

// Dictionaries are the places in which the files of --dictionary are found.
type Dictionaries = namespaces.Files

// NamedData returns a configuration that reads data with the features of a model, as the
// options in its header define them, and with the names of the features. An empty format is
// vw's text. name is the model's, for messages.
func NamedData(name string, h *model.Header, format string, inputs []Input, dictionaries Dictionaries) (stream.Config, error) {
	c := Config{Features: FeatureConfig{Bits: h.Bits}, Data: DataConfig{Format: format, Inputs: inputs}}
	c = c.withDefaults()
	if err := c.takeOptions(name, h); err != nil {
		return stream.Config{}, err
	}
	c.Features.DictionaryPath, c.Model.Open = dictionaries.Path, dictionaries.Open
	if err := c.loadDictionaries(); err != nil {
		return stream.Config{}, err
	}
	d := dataset(&c)
	d.Feature.Names = true
	return d, nil
}

// WeightsPerFeature returns the number of weights of a feature in a model, as the options in its header define it. With n
// weights, and n rounded up to the power of two w, feature i has the weights i·w to i·w+n-1, modulo the size of the
// table. name is the model's, for messages.
func WeightsPerFeature(name string, h *model.Header) (int, error) {
	c := Config{}.withDefaults()
	if err := c.takeLearner(name, h); err != nil {
		return 0, err
	}
	on := c.Learner.learners()
	if len(on) == 0 {
		return h.Classes(), nil
	}
	plan, err := on[0].New(c.Learner.Options)
	if err != nil {
		return 0, &DataError{Name: name, Text: fmt.Sprintf("kept options of --%s: %v", on[0].Name, err)}
	}
	if on[0].Bottom { // a feature has one row, which begins with its linear weight
		return 1, nil
	}
	width, _ := plan.Widths()
	return width, nil
}

// Formats of the data, besides vw's text.
const (
	FormatJSON   = "json"
	FormatCSV    = "csv"
	FormatLIBSVM = "libsvm"
	FormatCSR    = "csr"
	// FormatParquet is text of CSV that package parquet makes: inputs are the readers of its File.CSV.
	FormatParquet = "parquet"
)

// Formats lists these formats.
var Formats = []string{FormatJSON, FormatCSV, FormatLIBSVM, FormatCSR, FormatParquet}

// DataFormat returns the format that Data.Format and Data.CSV select. The zero Format is vw's
// text.
func (c *Config) DataFormat() stream.Format {
	switch c.Data.Format {
	case FormatJSON:
		return stream.Format{
			Name:       json.Name,
			EmptyLines: true,
			New:        func(f feature.Config) (stream.Lines, error) { return json.NewParser(f) },
		}
	case FormatCSV:
		return stream.Format{
			Name:       c.Data.CSV.Name(),
			Header:     !c.Data.CSV.NoFileHeader,
			EmptyLines: true,
			New:        func(f feature.Config) (stream.Lines, error) { return csv.NewParser(f, c.Data.CSV) },
		}
	case FormatParquet:
		cells := c.Data.CSV
		cells.Several = true
		return stream.Format{
			Name:       FormatParquet + "," + cells.Name(),
			Header:     true,
			EmptyLines: true,
			New:        func(f feature.Config) (stream.Lines, error) { return csv.NewParser(f, cells) },
		}
	case FormatLIBSVM:
		return stream.Format{
			Name: libsvm.Name,
			New:  func(f feature.Config) (stream.Lines, error) { return libsvm.NewParser(f) },
		}
	case FormatCSR:
		return stream.Format{
			Name:  csr.Name,
			Frame: csr.Length,
			New:   func(f feature.Config) (stream.Lines, error) { return csr.NewParser(f) },
		}
	}
	return stream.Format{}
}

// source returns the input as package stream takes it.
func (in *Input) source() stream.Source {
	return stream.Source{Name: in.Name, Identity: in.Identity, Open: in.Open, Header: in.Header}
}

// features returns the configuration of the parser.
func (c *Config) features() feature.Config {
	n := &c.Features.Namespaces
	if f := c.Data.Format; f == FormatJSON || f == FormatCSV || f == FormatParquet { // as in vw, some options apply to text only
		text := *n
		n, text.Redefine, text.Affix, text.Spelling = &text, nil, "", nil
	}
	f := feature.Config{
		Bits:       c.Features.Bits,
		HashAll:    c.Features.Hash == "all",
		HashSeed:   c.Features.HashSeed.Value,
		NoConstant: c.Features.NoConstant || c.LDA.Topics > 0,
		Labels:     c.labels(),
		ClassNames: c.OAA.names(),
		Names:      c.named(),
		Whole:      slices.ContainsFunc(c.Learner.learners(), func(s reduction.Spec) bool { return s.Whole }),
		Strict:     c.Data.Strict,
		MaxLine:    c.Data.MaxLine,
	}
	n.Apply(&f)
	return f
}

// DefaultExampleMemory is 512 MiB, in bytes.
const DefaultExampleMemory = 512 << 20

// exampleMemory returns the greatest number of bytes of examples in memory. Only passes after that which makes or first
// reads a cache need them.
func (c *Config) exampleMemory() int {
	if c.Data.Cache == "" && !c.keepsExamples() || c.maxPasses() == 1 {
		return 0
	}
	return c.Data.ExampleMemory.Or(DefaultExampleMemory)
}

// keepsExamples reports whether later passes take the examples from memory instead of a cache or the
// input. Programs that write frames write them only once.
func (c *Config) keepsExamples() bool { return c.Data.Format == FormatCSR && c.Data.Cache == "" }

// dataset returns the configuration of the data of a run.
func dataset(cfg *Config) stream.Config {
	d := stream.Config{
		Feature:   cfg.features(),
		Format:    cfg.DataFormat(),
		Cache:     cfg.Data.Cache,
		Mode:      cfg.Data.CacheMode,
		Calls:     cfg.Data.CacheCalls,
		KillCache: cfg.Data.KillCache,
		Memory:    cfg.exampleMemory(),
		Keep:      cfg.keepsExamples(),
		Passes:    cfg.maxPasses(),
	}
	for _, in := range cfg.Data.Inputs {
		d.Sources = append(d.Sources, in.source())
	}
	return d
}
