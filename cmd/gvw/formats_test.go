// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/gvw-project/gvw/feature"
	"github.com/gvw-project/gvw/internal/cli"
	"github.com/gvw-project/gvw/learn"
)

// block is a fenced block of a document.
type block struct {
	info string // what stands behind the fence
	text string
}

func blocks(t *testing.T, name string) []block {
	t.Helper()
	text, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	var all []block
	for i, part := range strings.Split("\n"+string(text), "\n```") {
		if i%2 == 1 {
			info, body, _ := strings.Cut(part, "\n")
			if body != "" {
				body += "\n"
			}
			all = append(all, block{info, body})
		}
	}
	return all
}

// read returns the examples of a block in the format that its info string names.
func read(t *testing.T, b block) *feature.Batch {
	t.Helper()
	words := strings.Fields(b.info)
	cfg := learn.Config{}
	if words[0] != "vw" {
		cfg.Data.Format = words[0]
	}
	format := cfg.DataFormat()
	f := feature.Config{Bits: 18, ChainHash: len(words) > 1 && words[1] == "--chain_hash"}
	parser, err := feature.NewParser(f)
	if err != nil {
		t.Fatal(err)
	}
	add := parser.AppendLine
	var batch feature.Batch
	text := b.text
	if format.New != nil {
		l, err := format.New(f)
		if err != nil {
			t.Fatal(err)
		}
		add = l.AppendLine
		if format.Header {
			first, rest, _ := strings.Cut(text, "\n")
			if err := l.(interface {
				Header(*feature.Batch, []byte) error
			}).Header(&batch, []byte(first)); err != nil {
				t.Fatal(err)
			}
			text = rest
		}
	}
	for line := range strings.Lines(text) {
		if err := add(&batch, []byte(line), 1); err != nil {
			t.Errorf("%q: %v", line, err)
		}
	}
	batch.Warnings = nil // of malformed lines
	return &batch
}

// TestFormatsDocument checks docs/formats.md: blocks that it calls equal have equal examples,
// and its commands write the output that it shows.
func TestFormatsDocument(t *testing.T) {
	all := blocks(t, filepath.FromSlash("../../docs/formats.md"))
	t.Chdir(t.TempDir())
	pairs, files := 0, 0
	for i, b := range all {
		words := strings.Fields(b.info)
		switch {
		case strings.HasSuffix(b.info, " the same") && i > 0:
			pairs++
			if diff := cmp.Diff(read(t, all[i-1]), read(t, b), cmpopts.EquateEmpty()); diff != "" {
				t.Errorf("\n%sand\n%s(-first +second):\n%s", all[i-1].text, b.text, diff)
			}
		case b.info == "sh":
			for command := range strings.Lines(b.text) {
				var stderr bytes.Buffer
				p := &program{Process: &cli.Process{Args: strings.Fields(command)[1:], Stdin: os.Stdin, Stdout: &stderr, Stderr: &stderr}}
				if code := p.main(); code != 0 {
					t.Fatalf("%s: exit code %d\n%s", command, code, &stderr)
				}
			}
		case len(words) == 2 && strings.Contains(words[1], "."):
			got, err := os.ReadFile(words[1])
			if os.IsNotExist(err) {
				err = os.WriteFile(words[1], []byte(b.text), 0o600)
				got = []byte(b.text)
			} else {
				files++
			}
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(b.text, string(got)); diff != "" {
				t.Errorf("%s (-document +gvw):\n%s", words[1], diff)
			}
		}
	}
	if pairs < 8 || files < 2 {
		t.Errorf("%d pairs and %d files were compared: is this the document?", pairs, files)
	}
}
