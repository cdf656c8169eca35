// SPDX-License-Identifier: Apache-2.0

package stream

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"runtime"
	"strconv"
	"strings"

	"github.com/gvw-project/gvw/feature"
	"github.com/gvw-project/gvw/feature/cache"
)

// DefaultChunk is the bytes of text that a worker gets at a time unless ChunkSize
// says otherwise.
const DefaultChunk = 256 << 10

// Source is one input of text.
type Source struct {
	// Name is what messages call it: a path, or "stdin".
	Name string
	// Identity changes with the text: a cache of another identity is built again. Empty:
	// unknown, and the source can be read only once.
	Identity string
	// Open begins to read at the first line. The context is that of the pass: when it
	// ends, Open returns, and so does a read that waits for data.
	Open func(context.Context) (io.ReadCloser, error)
	// Header returns the header of the file that the source is a part of, at
	// most limit bytes and a line end, for formats that have headers; own, and no line: the
	// source itself begins with it. nil: it does.
	Header func(limit int) (line []byte, own bool, err error)
}

// Config describes the input and how to read it.
type Config struct {
	// Feature is how text becomes features.
	Feature feature.Config
	// Format describes how lines become examples. The zero value: vw's text.
	Format Format
	// Sources are read one after the other. Empty: only the cache.
	Sources []Source
	// Cache is the cache's path. Empty: none, each pass reads the text.
	Cache string
	// Mode is the mode of a new cache; 0: 0600, access only for its owner.
	Mode fs.FileMode
	// Calls makes the calls to the file system that concern the cache, whose name it is given,
	// until ctx ends. nil: they are made directly.
	Calls func(ctx context.Context, name string) cache.Calls
	// KillCache builds the cache again even if there is a valid one.
	KillCache bool
	// Memory is the greatest number of bytes of examples that are kept in memory, so that passes after the one that
	// makes or first reads the cache decode nothing. Examples that take more are decoded in each pass. 0: none are
	// kept.
	Memory int
	// Keep keeps the examples of the first pass in memory for all others, instead of a cache. More than Memory bytes
	// of them are an error. A source is then read only once.
	Keep bool
	// Passes is the greatest number of passes. 0: 1.
	Passes int
	// Workers is how many goroutines parse. 0: GOMAXPROCS. More than the
	// machine has cores does not help; the results are the same.
	Workers int
	// ChunkSize is the bytes of text that a worker gets at a time. 0: 256 KiB,
	// which fits a core's own cache with the features it becomes. Memory is
	// some ten chunks a worker.
	ChunkSize int
}

// Validate reports every fault of c at once.
func (c *Config) Validate() error {
	errs := []error{c.Feature.Validate()}
	fault := func(format string, args ...any) {
		errs = append(errs, &UsageError{Reason: fmt.Sprintf(format, args...)})
	}
	if len(c.Sources) == 0 && c.Cache == "" {
		fault("no data: give a file, stdin or a cache")
	}
	if len(c.Sources) == 0 && c.Cache != "" && c.KillCache {
		fault("cache %s cannot be rebuilt (stream.Config.KillCache) without data to make it from", c.Cache)
	}
	for _, s := range c.Sources {
		if s.Open == nil {
			panic("BUG: stream: source " + s.Name + " has no Open")
		}
		if s.Identity == "" && c.Passes > 1 && c.Cache == "" && !c.Keep {
			fault("%s can be read only once: %d passes need a cache (stream.Config.Cache)", s.Name, c.Passes)
		}
	}
	if c.Format.New == nil && (c.Format.Name != "" || c.Format.Header) {
		panic("BUG: stream: format " + c.Format.Name + " has no New")
	}
	if c.Memory < 0 {
		fault("%d bytes of examples in memory: want 0 (none) or more", c.Memory)
	}
	if c.Keep && c.Cache != "" {
		fault("examples are kept in memory (stream.Config.Keep) or in a cache (stream.Config.Cache), not in both")
	}
	if c.Passes < 0 {
		fault("%d passes: want 0 (one pass) or more", c.Passes)
	}
	if c.Workers < 0 {
		fault("%d workers: want 0 (as many as cores) or more", c.Workers)
	}
	if c.ChunkSize < 0 {
		fault("chunks of %d bytes: want 0 (%d) or more", c.ChunkSize, DefaultChunk)
	}
	return errors.Join(errs...)
}

func (c *Config) workers() int {
	if c.Workers == 0 {
		return runtime.GOMAXPROCS(0)
	}
	return c.Workers
}

func (c *Config) chunk() int {
	if c.ChunkSize == 0 {
		return DefaultChunk
	}
	return c.ChunkSize
}

// calls returns what makes the calls for the cache; nil: no watch does.
func (c *Config) calls(ctx context.Context) cache.Calls {
	if c.Calls == nil {
		return nil
	}
	return c.Calls(ctx, c.Cache)
}

// key returns the key that the cache must have.
func (c *Config) key() cache.Key {
	key := cache.Key{Features: c.Feature, Format: c.Format.Name}
	if c.anonymous() {
		return key
	}
	var b strings.Builder
	for _, s := range c.Sources {
		b.WriteString(strconv.Itoa(len(s.Identity)))
		b.WriteByte(' ')
		b.WriteString(s.Identity)
	}
	key.Input = b.String()
	return key
}

// anonymous reports whether a source has no identity.
func (c *Config) anonymous() bool {
	for _, s := range c.Sources {
		if s.Identity == "" {
			return true
		}
	}
	return len(c.Sources) == 0
}

// A UsageError is a request that cannot be fulfilled.
type UsageError struct{ Reason string }

func (e *UsageError) Error() string { return e.Reason }

// A DataError is invalid input text.
type DataError struct {
	Source string
	Line   int64 // 1-based within the source; 0: not known
	Err    error
}

func (e *DataError) Error() string {
	if e.Line == 0 {
		return fmt.Sprintf("%s: %v", e.Source, e.Err)
	}
	return fmt.Sprintf("%s, line %d: %v", e.Source, e.Line, e.Err)
}

func (e *DataError) Unwrap() error { return e.Err }
