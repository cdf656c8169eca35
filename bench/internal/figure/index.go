// SPDX-License-Identifier: Apache-2.0

package figure

import (
	"bytes"
	"cmp"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
)

// Index writes DIR/README.md, which shows each figure of the directory with its notes and its command.
func Index(dir string) error {
	paths, err := filepath.Glob(filepath.Join(dir, "*.csv"))
	if err != nil {
		return err
	}
	var b bytes.Buffer
	b.WriteString("# Figures\n\n`make figures` measures these figures again, and `make bench-compare` that of compare.csv. This page is made from the headers of the CSV files.\n")
	for _, path := range paths {
		text, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		h := Header(string(text))
		table := ""
		if h["kind"] == "dots" || h["kind"] == "ranges" {
			f := Figure{Rows: strings.Split(h["rows"], "|"), Kind: h["kind"]}
			if f.Lines, err = ReadLines(path); err != nil {
				return err
			}
			table = "\n" + f.Markdown()
		}
		name := strings.TrimSuffix(filepath.Base(path), ".csv")
		shows := ""
		if h["shows"] != "" {
			shows = h["shows"] + "\n\n"
		}
		fmt.Fprintf(&b, "\n## %s\n\n![%s](%s.svg)\n\n%s%s ([table](%s.csv))\n%s\n    %s\n",
			h["title"], cmp.Or(h["alt"], h["title"]), name, shows, h["notes"], name, table, h["command"])
	}
	return os.WriteFile(filepath.Join(dir, "README.md"), b.Bytes(), 0o644)
}

// Header returns the comment lines of a file by their keys.
func Header(text string) map[string]string {
	h := map[string]string{}
	for line := range strings.Lines(text) {
		if comment, ok := strings.CutPrefix(line, "# "); ok {
			key, value, _ := strings.Cut(strings.TrimSpace(comment), ": ")
			h[key] = value
		}
	}
	return h
}

// Markdown returns the points of a figure of rows as a table.
func (f *Figure) Markdown() string {
	var b strings.Builder
	b.WriteString("| |")
	for _, l := range f.Lines {
		b.WriteString(" " + l.Name + " |")
	}
	b.WriteString("\n|---|" + strings.Repeat("--:|", len(f.Lines)) + "\n")
	for row, name := range f.Rows {
		b.WriteString("| " + name + " |")
		for _, l := range f.Lines {
			var values []string
			for _, p := range l.Points {
				if p.Y == float64(row) {
					values = append(values, strconv.FormatFloat(p.X, 'f', -1, 64))
				}
			}
			text := strings.Join(values, " to ")
			if text == "" && f.Kind != "ranges" {
				text = "not reached"
			}
			b.WriteString(" " + text + " |")
		}
		b.WriteByte('\n')
	}
	return b.String()
}
