// SPDX-License-Identifier: Apache-2.0

package stream_test

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"strings"
	"testing"

	"github.com/gvw-project/gvw/feature"
	"github.com/gvw-project/gvw/feature/stream"
)

// column is a format whose header names the one feature of the file and whose
// lines are its values.
type column struct {
	name   string
	parser *feature.Parser
}

var columnFormat = stream.Format{
	Name:   "column",
	Header: true,
	New: func(cfg feature.Config) (stream.Lines, error) {
		p, err := feature.NewParser(cfg)
		return &column{parser: p}, err
	},
}

func (c *column) Header(dst *feature.Batch, line []byte) error {
	c.name = string(feature.TrimLine(line))
	if c.name == "bad" {
		return errors.New("a bad name")
	}
	dst.Warnings = append(dst.Warnings, feature.Warning{Line: 1, Text: "header " + c.name})
	return nil
}

func (c *column) AppendLine(dst *feature.Batch, line []byte, n int64) error {
	return c.parser.AppendLine(dst, fmt.Appendf(nil, "%d '%s | %s:%s", n, c.name, c.name, feature.TrimLine(line)), n)
}

// values returns n lines of numbers.
func values(n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, "%d\n", i+1)
	}
	return b.String()
}

// TestHeaders: every worker gets the header of the file whose lines it reads, also where a
// source begins in the middle of a file. Headers are not examples, and warnings about them are
// given once.
func TestHeaders(t *testing.T) {
	middle := text("c.txt", values(400))
	middle.Header = func(limit int) ([]byte, bool, error) { return []byte("third\r\n"), false, nil }
	front := text("d.txt", "fourth\n"+values(3))
	front.Header = func(limit int) ([]byte, bool, error) { return nil, true, nil }
	sources := []stream.Source{
		text("a.txt", "first\n"+values(1000)), text("empty.txt", ""), text("header.txt", "alone"),
		text("b.txt", "second\r\n"+values(7)), middle, front,
	}
	var want bytes.Buffer
	for _, f := range []struct {
		name        string
		from, lines int
	}{{"first", 2, 1000}, {"second", 2, 7}, {"third", 1, 400}, {"fourth", 2, 3}} {
		for i := range f.lines {
			fmt.Fprintf(&want, "%d '%s | %s:%d\n", f.from+i, f.name, f.name, i+1)
		}
	}
	for workers := range 4 {
		cfg := stream.Config{
			Feature: bits18, Format: columnFormat, Sources: sources,
			Workers: workers, ChunkSize: 40, Passes: 2, Cache: filepath.Join(t.TempDir(), "c"),
		}
		plain := cfg
		plain.Format, plain.Sources = stream.Format{}, []stream.Source{text("plain.vw", want.String())}
		expected := parsed(t, plain, want.String())
		for _, line := range []struct{ file, name string }{{"a.txt", "first"}, {"b.txt", "second"}, {"d.txt", "fourth"}} {
			expected.Warnings = append(expected.Warnings, feature.Warning{Source: line.file, Line: 1, Text: "header " + line.name})
		}
		d := dataset(t, cfg)
		if diff := differ(expected, mustPass(t, d)); diff != "" {
			t.Errorf("%d workers:\n%s", workers, diff)
		}
		expected.Warnings = nil
		if diff := differ(expected, mustPass(t, d)); diff != "" {
			t.Errorf("%d workers, from the cache:\n%s", workers, diff)
		}
		plain.Cache, plain.Sources = cfg.Cache, cfg.Sources
		if plan := dataset(t, plain).Plan(); !strings.Contains(plan, "format=column, not text") {
			t.Errorf("a cache of another format: %q", plan)
		}
	}
}

func TestHeaderErrors(t *testing.T) {
	away := text("away.txt", "1\n")
	away.Header = func(int) ([]byte, bool, error) { return nil, false, io.ErrUnexpectedEOF }
	rest := text("rest.txt", "1\n")
	rest.Header = func(int) ([]byte, bool, error) { return []byte("bad\n"), false, nil }
	for want, s := range map[string]stream.Source{
		"bad.txt, line 1: a bad name":                               text("bad.txt", "bad\n1\n2\n"),
		"rest.txt, line 1: a bad name":                              rest,
		"cannot read the header of away.txt: unexpected EOF":        away,
		"long.txt, line 1: at least 30 bytes long: want at most 20": text("long.txt", strings.Repeat("x", 30)+"\n1\n"),
	} {
		cfg := bits18
		cfg.MaxLine = 20
		_, err := onePass(t, dataset(t, stream.Config{Feature: cfg, Format: columnFormat, Sources: []stream.Source{s}}))
		if err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("got %v, want %s", err, want)
		}
	}
}
