// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bufio"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/gvw-project/gvw/feature"
)

// text returns the uncompressed train.vw of a data set in the folder of this run.
func (s *session) text(set string) (path string, err error) {
	if s.data == "" {
		return "", missing("it needs -data with " + set)
	}
	path = filepath.Join(s.dir, set+".vw")
	if _, err := os.Stat(path); err == nil {
		return path, nil
	}
	in, err := os.Open(filepath.Join(s.data, set, "train.vw.gz"))
	if err != nil {
		return "", missing(err.Error())
	}
	defer in.Close()
	z, err := gzip.NewReader(in)
	if err != nil {
		return "", err
	}
	out, err := os.Create(path)
	if err != nil {
		return "", err
	}
	_, err = io.Copy(out, z)
	return path, errors.Join(err, out.Close())
}

// split writes the first nine tenths of the lines of a file and the rest to two files.
func (s *session) split(path string) (train, test string, err error) {
	train, test = filepath.Join(s.dir, "train.vw"), filepath.Join(s.dir, "test.vw")
	if _, err := os.Stat(test); err == nil {
		return train, test, nil
	}
	in, err := os.Open(path)
	if err != nil {
		return "", "", err
	}
	defer in.Close()
	first, err := os.Create(train)
	if err != nil {
		return "", "", err
	}
	rest, err := os.Create(test)
	if err != nil {
		return "", "", err
	}
	a, b := bufio.NewWriterSize(first, 1<<20), bufio.NewWriterSize(rest, 1<<20)
	lines := bufio.NewScanner(in)
	lines.Buffer(nil, 1<<24)
	for n := 1; lines.Scan(); n++ {
		w := a
		if n%10 == 0 { // the order of files may mean something
			w = b
		}
		if _, err := fmt.Fprintf(w, "%s\n", lines.Bytes()); err != nil {
			return "", "", err
		}
	}
	return train, test, errors.Join(lines.Err(), a.Flush(), b.Flush(), first.Close(), rest.Close())
}

// touched counts the weights of a table of 2^bits that the examples of a file have.
func touched(path string, bits uint) (n int, err error) {
	in, err := os.Open(path)
	if err != nil {
		return 0, err
	}
	defer in.Close()
	p, err := feature.NewParser(feature.Config{Bits: bits})
	if err != nil {
		return 0, err
	}
	seen := make([]uint64, (1<<bits+63)/64)
	var b feature.Batch
	lines := bufio.NewScanner(in)
	lines.Buffer(nil, 1<<24)
	for number := int64(1); lines.Scan(); number++ {
		b.Reset()
		if err := p.AppendLine(&b, lines.Bytes(), number); err != nil {
			return 0, err
		}
		for i := range b.Examples {
			for _, x := range b.FeaturesOf(&b.Examples[i]) {
				word, bit := x.Index/64, uint64(1)<<(x.Index%64)
				if seen[word]&bit == 0 {
					seen[word] |= bit
					n++
				}
			}
		}
	}
	return n, lines.Err()
}
