// SPDX-License-Identifier: Apache-2.0

package harness

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"io"
	"os"
	"path/filepath"
)

// Data locates the examples.
type Data struct {
	// Root is the folder of the repository. Required.
	Root string
	// Sets is the folder of the data sets, the value of GVW_SHARED; "": shared, beside the
	// repository.
	Sets string
}

// Shared returns a path in the folder of data sets. The file may be missing.
func (d Data) Shared(elem ...string) (string, error) {
	base := d.Sets
	if base == "" {
		base = filepath.Join(d.Root, "..", "shared")
	}
	path, err := filepath.Abs(filepath.Join(append([]string{base}, elem...)...))
	if err == nil {
		_, err = os.Stat(path)
	}
	return path, err
}

// Gunzip returns the content of a compressed file.
func Gunzip(name string) ([]byte, error) {
	f, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	z, err := gzip.NewReader(f)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	text, err := io.ReadAll(z)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	return text, nil
}

// Real returns the first n real examples: news of RCV1 if the data sets exist, else the
// quickstart's e-mails.
func (d Data) Real(n int) ([]byte, error) {
	name, err := d.Shared("data", "rcv1-mini", "train.vw.gz")
	if err != nil {
		name = filepath.Join(d.Root, "quickstart", "train.vw.gz")
	}
	text, err := Gunzip(name)
	if err != nil {
		return nil, err
	}
	lines := bytes.SplitAfter(text, []byte("\n"))
	return bytes.Join(lines[:min(n, len(lines))], nil), nil
}
