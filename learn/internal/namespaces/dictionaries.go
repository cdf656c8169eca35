// SPDX-License-Identifier: Apache-2.0

package namespaces

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path"
	"strings"

	"github.com/gvw-project/gvw/feature"
	"github.com/gvw-project/gvw/learn/internal/examples"
	"github.com/gvw-project/gvw/learn/internal/usage"
)

// maxDictionary is the length limit of a dictionary, in bytes. It is read into memory as a
// whole.
const maxDictionary = 1 << 30

// Files are the places in which dictionaries are found.
type Files struct {
	Path []string                                 // directories to search, in this order; none: names are paths
	Open func(name string) (io.ReadCloser, error) // opens a file; needed if there is a dictionary
}

// Load reads the files of Dictionary into Dictionaries and DictionaryLines. It must run after the
// options of the loaded model are merged: f, the parser's configuration, determines the hashes.
func (n *Options) Load(f feature.Config, files Files) error {
	if len(n.Dictionary) == 0 {
		return nil
	}
	var loaded []*feature.Dictionary
	var scanned []string
	hashes := map[uint64]bool{}
	for _, given := range n.Dictionary {
		ns, name := byte(' '), given
		// A dictionary without a namespace is for the default one.
		if len(given) > 2 && given[1] == ':' {
			ns, name = given[0], given[2:]
		}
		text, found, err := files.read(name)
		if err != nil {
			return fmt.Errorf("learn.Config.Features.Namespaces.Dictionary=%s: %w", given, err)
		}
		d, err := feature.NewDictionary(ns, text, &f)
		if err != nil {
			return &examples.DataError{Name: name, Text: strings.TrimPrefix(err.Error(), "feature: ")}
		}
		hash := hashContents(text)
		scanned = append(scanned, fmt.Sprintf("scanned dictionary '%s' from '%s', hash=%x", name, found, hash))
		// vw counts the items of a file only when it loads it the first time.
		if !hashes[hash] {
			items := "items"
			if d.Words() == 1 {
				items = "item"
			}
			scanned = append(scanned, fmt.Sprintf("dictionary %s contains %d %s", name, d.Words(), items))
			hashes[hash] = true
		}
		loaded = append(loaded, d)
	}
	n.Dictionaries, n.DictionaryLines = loaded, scanned
	return nil
}

// hashContents returns vw's hash of a file (parse_args.cc: hash_file_contents). vw loads files
// with equal hashes only once, and prints the hash.
func hashContents(text []byte) uint64 {
	h := uint64(5289374183516789128)
	for _, b := range text {
		h = h*341789041 + uint64(int8(b))
	}
	return h
}

// read reads the first file of that name in Path, and returns the path at which it was found. A
// name without a directory to search is a path itself.
func (d Files) read(name string) (text []byte, found string, err error) {
	if d.Open == nil {
		return nil, "", usage.New("Model.Open", "it is needed for dictionaries")
	}
	var f io.ReadCloser
	err = fs.ErrNotExist
	if path.IsAbs(name) || len(d.Path) == 0 {
		found = name
		f, err = d.Open(name)
	}
	for _, dir := range d.Path {
		if f == nil && errors.Is(err, fs.ErrNotExist) {
			found = strings.TrimSuffix(dir, "/") + "/" + name
			f, err = d.Open(found)
		}
	}
	if errors.Is(err, fs.ErrNotExist) {
		return nil, "", usage.New("Features.Namespaces.Dictionary", "%s was not found in %s: name its directory by learn.Config.Features.DictionaryPath", name, strings.Join(d.Path, ", "))
	}
	if err != nil {
		return nil, "", err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	text, err = io.ReadAll(io.LimitReader(f, maxDictionary+1))
	if err == nil && len(text) > maxDictionary {
		err = fmt.Errorf("the dictionary is longer than %d bytes", maxDictionary)
	}
	return text, found, err
}
