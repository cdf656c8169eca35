// SPDX-License-Identifier: Apache-2.0

package stream

import (
	"context"
	"errors"
	"fmt"
	"io"
	"sync"
	"time"

	"github.com/gvw-project/gvw/feature"
	"github.com/gvw-project/gvw/feature/cache"
)

// Pass is one pass over the examples.
type Pass struct {
	// Idle is called by Next before it waits for input. An error of Idle ends the
	// pass. nil: nothing is called.
	Idle func() error

	data   *Dataset
	ctx    context.Context
	cancel context.CancelCauseFunc
	wg     sync.WaitGroup // workers and writer
	read   chan struct{}  // closed when the reader is done

	order chan *job // to Next, in the order of the data
	work  chan *job // the same jobs, for the workers
	*pool

	input    input            // the open input, for Close
	text     *textReader      // nil: a cache is read
	writer   *writer          // nil: no cache is made
	keep     *kept            // collects the examples for later passes; nil: they are not kept
	recalls  bool             // the examples are in memory
	left     []*feature.Batch // of these, those that Next has not returned
	now      *job             // the job whose batches Next delivers
	received int              // jobs, by Next
	totals   cache.Totals     // of the cache that is read
	shard    shard            // the data read so far; the reader updates it for text
	err      error            // result of Next from now on
	ending   sync.Mutex       // held while the cache gets its name or is removed
	closed   sync.Once
	result   error // of Close
}

// job is a chunk in progress: text or a block of the cache, then its batches, and then the
// encoded block of a new cache.
type job struct {
	// From the reader.
	source string
	line   int64       // number of the first line
	empty  int         // empty lines in front of that, in no job
	header *header     // of the file; nil: the format has none
	first  bool        // of the source's jobs
	text   []byte      // whole lines
	block  cache.Block // instead of text
	err    error       // instead of both: the pass ends here

	// From the worker: batches, then the end, when encoded and err are set.
	out     chan *feature.Batch
	encoded []byte
}

var errClosed = errors.New("stream: the pass is closed")

// MakesCache reports whether the pass writes the cache, which is complete only after the last
// example.
func (p *Pass) MakesCache() bool { return p.writer != nil }

func (d *Dataset) start(ctx context.Context) (*Pass, error) {
	if d.kept != nil {
		return d.recall(ctx), nil
	}
	workers := d.cfg.workers()
	queue := 2*workers + 2
	p := &Pass{
		data:  d,
		order: make(chan *job, queue),
		work:  make(chan *job, queue),
		read:  make(chan struct{}),
		pool:  d.pooled(2 * queue),
	}
	p.ctx, p.cancel = context.WithCancelCause(ctx)
	read, err := p.open(queue)
	if err != nil {
		p.cancel(err)
		return nil, err
	}
	p.keep = d.keeps(p)
	if p.writer != nil {
		p.wg.Go(func() { p.writer.run(p) })
	}
	go func() { // Close waits for it through p.read
		defer close(p.read)
		defer close(p.order)
		defer close(p.work)
		err := read()
		if p.text != nil {
			p.text.end()
		}
		if err != nil {
			p.send(&job{err: err})
		}
	}()
	for range workers {
		w := newWorker(p)
		p.wg.Go(w.run)
	}
	return p, nil
}

// open opens the cache that is to be read or made, and returns the reader's work.
func (p *Pass) open(queue int) (read func() error, err error) {
	d := p.data
	if d.origin == fromCache || d.origin == cacheOnly {
		r, err := cache.Open(d.cfg.Cache, d.cfg.key(), d.cfg.calls(p.ctx))
		if err != nil {
			return nil, err
		}
		p.input.set(r)
		p.shard.text, p.totals = r.Totals().Text, r.Totals()
		return func() error { return p.readCache(r) }, nil
	}
	p.text = &textReader{p: p, cfg: &d.cfg, buf: p.pool.text}
	p.pool.text = nil
	if d.origin == makeCache {
		w, err := cache.Create(d.cfg.Cache, d.cfg.key(), d.cfg.calls(p.ctx))
		if err != nil {
			return nil, err
		}
		if mode := d.cfg.Mode; mode != 0 {
			if err := w.Chmod(mode); err != nil {
				return nil, errors.Join(err, w.Abort())
			}
		}
		p.writer = newWriter(w, queue)
	}
	return p.text.run, nil
}

// send passes a job from the reader to Next and to the workers. It reports false if the
// pass has ended.
func (p *Pass) send(j *job) bool {
	j.out = make(chan *feature.Batch, 1)
	if j.err != nil {
		close(j.out)
	}
	select {
	case p.order <- j:
	case <-p.ctx.Done():
		return false
	}
	if j.err != nil {
		return false
	}
	select {
	case p.work <- j:
		return true
	case <-p.ctx.Done():
		return false
	}
}

// Next returns the next examples, at least one, with their interactions; io.EOF
// after the last ones. They are the caller's until it gives them to Recycle.
func (p *Pass) Next() (*feature.Batch, error) {
	for p.err == nil {
		if p.ctx.Err() != nil {
			p.err = context.Cause(p.ctx)
			continue
		}
		if p.recalls {
			var b *feature.Batch
			if b, p.err = p.recalled(); p.err == nil {
				return b, nil
			}
			continue
		}
		if p.now == nil {
			if p.err = p.needJob(); p.err != nil {
				continue
			}
			select {
			case j, ok := <-p.order:
				if !ok {
					p.err = p.finish()
					continue
				}
				p.now = j
				p.received++
			case <-p.ctx.Done():
				p.err = context.Cause(p.ctx)
				continue
			}
		}
		select {
		case b, ok := <-p.now.out:
			if ok {
				p.shard.examples += uint64(len(b.Examples))
				if p.keep != nil && !p.keep.add(b) {
					if p.keep = nil; p.data.cfg.Keep {
						p.err = p.data.overflow()
						continue
					}
				}
				return b, nil
			}
			p.err = p.retire(p.now)
			p.now = nil
		case <-p.ctx.Done():
			p.err = context.Cause(p.ctx)
		}
	}
	return nil, p.err
}

// needJob is called when Next needs another job. If there is none, it makes one of the
// lines that have been read; without such lines it calls Idle.
func (p *Pass) needJob() error {
	if len(p.order) > 0 {
		return nil
	}
	if p.text != nil {
		if given, err := p.text.give(p.received); given || err != nil {
			return err
		}
	}
	if p.Idle != nil {
		return p.Idle()
	}
	return nil
}

// retire completes a job whose batches have been delivered.
func (p *Pass) retire(j *job) error {
	if j.err != nil {
		return j.err
	}
	if p.writer == nil {
		p.jobs.put(j)
		return nil
	}
	select {
	case p.writer.jobs <- j:
		return nil
	case <-p.ctx.Done():
		return context.Cause(p.ctx)
	}
}

// finish ends a pass that was read to its end.
func (p *Pass) finish() error {
	p.ending.Lock()
	defer p.ending.Unlock()
	if p.ctx.Err() != nil { // the reader ended because of ctx
		return context.Cause(p.ctx)
	}
	if p.writer != nil {
		if err := p.writer.commit(p.shard.text); err != nil {
			return err
		}
	}
	if err := p.data.complete(p.shard); err != nil {
		return err
	}
	if p.keep != nil {
		p.data.kept, p.data.pool = p.keep, nil
	}
	return io.EOF
}

// Recycle returns a batch for reuse. The examples must not have been changed.
func (p *Pass) Recycle(b *feature.Batch) {
	if p.recalls {
		return // later passes need it
	}
	b.Reset()
	p.spare.put(b)
}

// Close ends the pass, also in its middle, and waits for its goroutines. It may
// be called more than once, and from another goroutine than Next, which then
// returns.
//
// Close ends the context of Source.Open, which ends a read that waits for data. An input
// that ignores the context has a second; then Close closes it. If the reader does not end
// within another second, Close returns an error and leaves its goroutine behind.
func (p *Pass) Close() error {
	p.closed.Do(func() {
		p.cancel(errClosed)
		p.wg.Wait()
		errIn := p.join()
		p.ending.Lock()
		defer p.ending.Unlock()
		var errOut error
		if p.writer != nil {
			if err := p.writer.file.Abort(); err != nil {
				errOut = fmt.Errorf("cannot remove the unfinished cache: %w", err)
			}
		}
		p.result = errors.Join(errIn, errOut)
		p.data.active.Store(false)
	})
	return p.result
}

// patience is how long Close waits for the reader before it closes the input,
// and again after it has.
const patience = time.Second

// join waits for the reader and closes the input.
func (p *Pass) join() error {
	gone := p.gone()
	err := p.input.end()
	if !gone && !p.gone() {
		return errors.Join(err, fmt.Errorf("the input still waits for data, and cannot be interrupted; %v after the end of the pass its reader is left behind", 2*patience))
	}
	if p.text != nil && cap(p.text.buf) <= p.data.cfg.chunk() { // no longer one, which had to hold a long line
		p.pool.text = p.text.buf
	}
	return err
}

func (p *Pass) gone() bool {
	select {
	case <-p.read:
		return true
	case <-time.After(patience):
		return false
	}
}
