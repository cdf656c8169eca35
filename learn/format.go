// SPDX-License-Identifier: Apache-2.0

package learn

import (
	"github.com/gvw-project/gvw/feature"
	"github.com/gvw-project/gvw/feature/csv"
	"github.com/gvw-project/gvw/feature/json"
	"github.com/gvw-project/gvw/feature/libsvm"
	"github.com/gvw-project/gvw/feature/stream"
)

// Formats of the data, besides vw's text.
const (
	FormatJSON   = "json"
	FormatCSV    = "csv"
	FormatLIBSVM = "libsvm"
)

// Formats are all of them.
var Formats = []string{FormatJSON, FormatCSV, FormatLIBSVM}

// DataFormat is how lines become examples, by Format and CSV.
func (c *Config) DataFormat() stream.Format {
	switch c.Data.Format {
	case FormatJSON:
		return stream.Format{
			Name: json.Name,
			New:  func(f feature.Config) (stream.Lines, error) { return json.NewParser(f) },
		}
	case FormatCSV:
		return stream.Format{
			Name:   c.Data.CSV.Name(),
			Header: !c.Data.CSV.NoFileHeader,
			New:    func(f feature.Config) (stream.Lines, error) { return csv.NewParser(f, c.Data.CSV) },
		}
	case FormatLIBSVM:
		return stream.Format{
			Name: libsvm.Name,
			New:  func(f feature.Config) (stream.Lines, error) { return libsvm.NewParser(f) },
		}
	}
	return stream.Format{}
}

// validateFormat reports what is wrong with the way the data is to be read.
func (c *Config) validateFormat(fault func(option, format string, args ...any)) {
	switch c.Data.Format {
	case "", FormatJSON, FormatLIBSVM:
	case FormatCSV:
		if err := c.Data.CSV.Validate(); err != nil {
			fault("", "%v", err)
		}
	default:
		fault("", "%q is no format: text is the default, the others are json, csv and libsvm", c.Data.Format)
	}
	if c.Data.MaxLine < 0 {
		fault("--max_line", "%d bytes: a number above 0 is needed", c.Data.MaxLine)
	}
}

// source is the input as the reader needs it.
func (in *Input) source() stream.Source {
	return stream.Source{Name: in.Name, Identity: in.Identity, Open: in.Open, Header: in.Header}
}
