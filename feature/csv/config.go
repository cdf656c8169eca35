// SPDX-License-Identifier: Apache-2.0

package csv

import (
	"errors"
	"fmt"
	"strings"

	"github.com/gvw-project/gvw/feature"
)

// Config describes how rows become examples, with the values of vw's options.
type Config struct {
	// Separator is the character between cells (--csv_separator); \t is a tab.
	// Empty: a comma. Quotes, bars and colons mean something else.
	Separator string
	// Header names the columns instead of the file's header (--csv_header),
	// always with commas between them. Empty: the file does.
	Header string
	// NoFileHeader says that the first line of a file is a row
	// (--csv_no_file_header); it needs Header. False: it is the header, also
	// where Header replaces it.
	NoFileHeader bool
	// Label is the name, or else the number from 1, of the column with the labels
	// (--label). Empty: _label.
	Label string
	// NamespaceValues are factors on the values of namespaces
	// (--csv_ns_value), like "a:0.5,:8"; no name is the default namespace.
	// Empty: none.
	NamespaceValues string
	// Several says that a cell in quotes that begins with Mark has several values, as the
	// lists and maps of package parquet. False: it is a text.
	Several bool
}

// Validate reports every fault of c at once.
func (c *Config) Validate() error {
	var errs []error
	if _, err := c.separator(); err != nil {
		errs = append(errs, err)
	}
	if c.NoFileHeader && c.Header == "" {
		errs = append(errs, errors.New("csv.Config.NoFileHeader: without a header in the file, the columns must be named by csv.Config.Header"))
	}
	factors, err := c.factors()
	if err != nil {
		errs = append(errs, err)
	}
	if c.Header != "" {
		t, err := newTable([]byte(c.Header), ',', false, c.Label)
		if err != nil {
			errs = append(errs, fmt.Errorf("csv.Config.Header: %w", err))
		} else if absent := t.scale(factors); len(absent) > 0 {
			errs = append(errs, fmt.Errorf("csv.Config.NamespaceValues would be ignored for namespaces %q: csv.Config.Header has no such columns", absent))
		}
	}
	return errors.Join(errs...)
}

// Name names the format and its options, without blanks.
func (c Config) Name() string {
	separator, _ := c.separator() // Validate has seen it
	name := fmt.Sprintf("csv,separator:%q,header:%q,file_header:%t,values:%q", separator, c.Header, !c.NoFileHeader, c.NamespaceValues)
	if c.Label != "" {
		name += fmt.Sprintf(",label:%q", c.Label)
	}
	return strings.ReplaceAll(name, " ", `\x20`)
}

func (c *Config) separator() (byte, error) {
	switch s := c.Separator; {
	case s == "":
		return ',', nil
	case s == `\t`:
		return '\t', nil
	case len(s) > 1:
		return 0, fmt.Errorf(`csv.Config.Separator=%q: one character is needed, or \t for a tab`, s)
	case strings.Contains("\"|:\r\n", s):
		return 0, fmt.Errorf("csv.Config.Separator=%q: quotes, bars, colons and line ends cannot separate cells", s)
	default:
		return s[0], nil
	}
}

// factor is one of NamespaceValues.
type factor struct {
	namespace string
	value     float32
}

func (c *Config) factors() ([]factor, error) {
	if c.NamespaceValues == "" {
		return nil, nil
	}
	var all []factor
	var errs []error
	for pair := range strings.SplitSeq(c.NamespaceValues, ",") {
		name, number, found := strings.Cut(pair, ":")
		v, n := feature.ParseFloat([]byte(number))
		if !found || number == "" || n != len(number) || v != v {
			errs = append(errs, fmt.Errorf("csv.Config.NamespaceValues: %q is not a namespace and a number, like a:0.5", pair))
			continue
		}
		all = append(all, factor{name, v})
	}
	return all, errors.Join(errs...)
}
