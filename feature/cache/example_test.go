// SPDX-License-Identifier: Apache-2.0

package cache_test

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/gvw-project/gvw/feature"
	"github.com/gvw-project/gvw/feature/cache"
)

// Parse text once, and read the examples from the cache in a later pass.
func Example() {
	dir, err := os.MkdirTemp("", "cache-example")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer os.RemoveAll(dir)
	path := filepath.Join(dir, "train.cache")
	key := cache.Key{Features: feature.Config{Bits: 18}, Input: "train.vw, version 1"}
	if err := writeCache(path, key, "1 | sun", "-1 | rain wind"); err != nil {
		fmt.Println(err)
		return
	}
	if err := printCache(path, key); err != nil {
		fmt.Println(err)
		return
	}

	// The text has changed since.
	key.Input = "train.vw, version 2"
	var stale *cache.StaleError
	_, err = cache.Open(path, key, nil)
	fmt.Println("stale:", errors.As(err, &stale))
	// Output:
	// 1 cached block, 2 examples
	// label 1, 2 features
	// label -1, 3 features
	// stale: true
}

func writeCache(path string, key cache.Key, lines ...string) error {
	p, err := feature.NewParser(key.Features)
	if err != nil {
		return err
	}
	var b feature.Batch
	for i, line := range lines {
		if err := p.AppendLine(&b, []byte(line), int64(i+1)); err != nil {
			return err
		}
	}
	w, err := cache.Create(path, key, nil)
	if err != nil {
		return err
	}
	block, err := cache.NewEncoder(key.Features.Bits).Append(nil, &b)
	if err == nil {
		err = w.Append(block)
	}
	if err != nil {
		return errors.Join(err, w.Abort())
	}
	return w.Commit(cache.Text{})
}

func printCache(path string, key cache.Key) error {
	r, err := cache.Open(path, key, nil)
	if err != nil {
		return err
	}
	defer r.Close()
	fmt.Printf("%d cached block, %d examples\n", r.Totals().Blocks, r.Totals().Examples)
	dec := cache.NewDecoder(key.Features.Bits)
	var b feature.Batch
	for {
		block, err := r.Next(nil)
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return err
		}
		if err := dec.Decode(&b, block); err != nil {
			return err
		}
	}
	for i := range b.Examples {
		ex := &b.Examples[i]
		fmt.Printf("label %v, %d features\n", ex.Label, len(b.FeaturesOf(ex)))
	}
	return nil
}
