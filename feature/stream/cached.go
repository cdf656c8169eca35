// SPDX-License-Identifier: Apache-2.0

package stream

import (
	"context"
	"io"

	"github.com/gvw-project/gvw/feature/cache"
)

// readCache reads the blocks of the cache for a pass.
func (p *Pass) readCache(r *cache.Reader) error {
	for {
		j, ok := p.jobs.take()
		if !ok {
			j = new(job)
		}
		buf := j.block.Data
		if buf == nil {
			buf = j.text
		}
		block, err := r.Next(buf)
		if err == io.EOF {
			return p.input.done()
		}
		if err != nil {
			return err
		}
		*j = job{block: block}
		if !p.send(j) {
			return nil
		}
	}
}

// writer writes the blocks of the jobs that Next has completed, in order.
type writer struct {
	file *cache.Writer
	jobs chan *job
	done chan struct{}
	err  error // valid when done
}

func newWriter(file *cache.Writer, queue int) *writer {
	file.Join = 64 << 10 // a job from a pipe may have only one example
	return &writer{file: file, jobs: make(chan *job, queue), done: make(chan struct{})}
}

// run writes until the jobs or the pass end. An error ends the pass.
func (w *writer) run(p *Pass) {
	defer close(w.done)
	for {
		select {
		case j, ok := <-w.jobs:
			if !ok {
				return
			}
			if len(j.encoded) > 0 {
				if w.err = w.file.Append(j.encoded); w.err != nil {
					p.cancel(w.err)
					return
				}
			}
			p.jobs.put(j)
		case <-p.ctx.Done():
			w.err = context.Cause(p.ctx)
			return
		}
	}
}

// commit ends the cache after the last job.
func (w *writer) commit(text cache.Text) error {
	close(w.jobs)
	<-w.done
	if w.err != nil {
		return w.err
	}
	return w.file.Commit(text)
}
