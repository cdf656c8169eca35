// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"cmp"
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// index writes DIR/README.md, which shows each figure of the directory with its notes and its command.
func index(dir string) error {
	paths, err := filepath.Glob(filepath.Join(dir, "*.csv"))
	if err != nil {
		return err
	}
	var b bytes.Buffer
	b.WriteString("# Figures\n\n`make figures` measures these figures again. This page is made from the headers of the CSV files.\n")
	for _, path := range paths {
		text, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		h := header(string(text))
		table := ""
		if h["kind"] == "dots" {
			f := figure{Rows: strings.Split(h["rows"], "|")}
			if f.Lines, err = readLines(path); err != nil {
				return err
			}
			table = "\n" + f.markdown()
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

// header returns the comment lines of a file by their keys.
func header(text string) map[string]string {
	h := map[string]string{}
	for line := range strings.Lines(text) {
		if comment, ok := strings.CutPrefix(line, "# "); ok {
			key, value, _ := strings.Cut(strings.TrimSpace(comment), ": ")
			h[key] = value
		}
	}
	return h
}
