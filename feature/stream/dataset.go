// SPDX-License-Identifier: Apache-2.0

package stream

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"sync/atomic"

	"github.com/gvw-project/gvw/feature"
	"github.com/gvw-project/gvw/feature/cache"
)

// Dataset is data that can be read in passes.
type Dataset struct {
	cfg    Config
	origin origin // of the next pass
	note   string // reason for building a cache although a file exists

	pool   *pool
	kept   *kept       // all examples, in memory; nil: passes read the origin
	active atomic.Bool // a pass is open
	passes int         // complete ones
	shard  shard       // valid when passes > 0
}

// pool is memory that a pass reuses from earlier ones.
type pool struct {
	jobs  free[*job]
	spare free[*feature.Batch]
	text  []byte // for the reader of text; nil while a pass has it
}

// pooled returns the memory of the passes so far, room for n jobs and as many batches.
func (d *Dataset) pooled(n int) *pool {
	if d.pool == nil {
		d.pool = &pool{jobs: make(free[*job], n), spare: make(free[*feature.Batch], n)}
	}
	return d.pool
}

// origin is the source of the examples of a pass.
type origin int

const (
	fromText  origin = iota // without a cache
	makeCache               // from the text, writing the cache
	fromCache               // from the cache
	cacheOnly               // from the cache, and there is no text
)

// shard identifies the data of a pass.
type shard struct {
	examples uint64
	text     cache.Text
}

// NewDataset checks the cache, and decides what the passes will read. It opens no
// source.
func NewDataset(cfg Config) (*Dataset, error) {
	if err := cfg.Validate(); err != nil {
		return nil, err
	}
	d := &Dataset{cfg: cfg}
	switch {
	case cfg.Cache == "":
		d.origin = fromText
	case len(cfg.Sources) == 0:
		d.origin = cacheOnly
	case cfg.KillCache:
		d.origin = makeCache
	case cfg.anonymous():
		d.origin = makeCache
		if exists, err := cache.Exists(cfg.Cache, cfg.calls(context.Background())); err != nil {
			return nil, err
		} else if exists {
			d.note = "whether the old one fits cannot be known of data that has no name"
		}
	default:
		d.origin = fromCache
	}
	if d.origin == fromCache || d.origin == cacheOnly {
		if err := d.probe(); err != nil {
			return nil, err
		}
	}
	return d, nil
}

// probe checks whether the cache exists and is valid. If it is not, and there is
// text, the next pass makes it. A damaged cache is an error, because the disk or the
// name is probably wrong.
func (d *Dataset) probe() error {
	r, err := cache.Open(d.cfg.Cache, d.cfg.key(), d.cfg.calls(context.Background()))
	if err == nil {
		return r.Close()
	}
	if d.origin == cacheOnly {
		return err
	}
	stale, ok := errors.AsType[*cache.StaleError](err)
	switch {
	case ok:
		d.note = "the old one does not fit: " + stale.Reason()
	case !errors.Is(err, fs.ErrNotExist):
		return err
	}
	d.origin = makeCache
	return nil
}

// Plan describes the next pass with vw's texts, in one or two lines.
func (d *Dataset) Plan() string {
	switch d.origin {
	case makeCache:
		plan := "creating cache_file = " + d.cfg.Cache
		if d.note != "" {
			plan += "\n" + d.note
		}
		return plan
	case fromCache:
		return "using cache_file = " + d.cfg.Cache + "\nignoring text input in favor of cache input"
	case cacheOnly:
		return "using cache_file = " + d.cfg.Cache
	}
	return "using no cache"
}

// ReadsText reports whether the next pass reads the sources, not a cache of them.
func (d *Dataset) ReadsText() bool { return d.origin == fromText || d.origin == makeCache }

// Shard identifies the data: how many examples, and length and CRC-32C of the
// text. Valid after a complete pass. It is the same whether the pass read the
// text or a cache of it.
func (d *Dataset) Shard() (examples, bytes uint64, crc uint32) {
	return d.shard.examples, d.shard.text.Bytes, d.shard.text.CRC
}

// Pass begins a pass over all examples. The previous pass must be closed. The end of
// ctx ends the pass.
func (d *Dataset) Pass(ctx context.Context) (*Pass, error) {
	if !d.active.CompareAndSwap(false, true) {
		panic("BUG: stream: Pass before the previous pass is closed")
	}
	p, err := d.start(ctx)
	if err != nil {
		d.active.Store(false)
		return nil, err
	}
	return p, nil
}

// complete records a pass that was read to its end. It returns an error if the text has
// changed since the previous pass, because the passes would have different examples.
func (d *Dataset) complete(s shard) error {
	if d.passes > 0 && s != d.shard {
		name := d.cfg.Cache
		if d.ReadsText() {
			name = d.cfg.Sources[0].Name
			if n := len(d.cfg.Sources); n > 1 {
				name = fmt.Sprintf("%s and %d more", name, n-1)
			}
		}
		return &DataError{Source: name, Err: fmt.Errorf("the data changed between two passes: %d examples in %d bytes, before %d in %d: do not change it while it is read, or use a cache",
			s.examples, s.text.Bytes, d.shard.examples, d.shard.text.Bytes)}
	}
	d.shard = s
	d.passes++
	if d.origin == makeCache {
		d.origin = fromCache
	}
	return nil
}
