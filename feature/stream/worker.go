// SPDX-License-Identifier: Apache-2.0

package stream

import (
	"bytes"
	"slices"

	"github.com/gvw-project/gvw/feature"
	"github.com/gvw-project/gvw/feature/cache"
)

// batchFeatures ends a batch early when interactions make it large: 256 KiB, which
// the learner finds in its cache.
const batchFeatures = 1 << 15

// worker turns chunks into batches.
type worker struct {
	p       *Pass
	format  Lines
	header  *header             // which format knows
	inter   *feature.Interactor // nil: no interactions
	encoder *cache.Encoder      // nil: no cache is made
	decoder *cache.Decoder
	limit   int
	silent  bool    // the warnings of this text were given in an earlier pass
	lines   []int64 // of the examples of the chunk; only where there are interactions
}

func newWorker(p *Pass) *worker {
	cfg := p.data.cfg.Feature
	w := &worker{p: p, limit: cfg.LineLimit(), decoder: cache.NewDecoder(cfg.Bits), silent: p.data.passes > 0}
	var err error
	if cfg.Expands() {
		if w.inter, err = feature.NewInteractor(cfg); err != nil {
			panic("BUG: stream: " + err.Error()) // NewDataset validates it
		}
	}
	cfg.Interactions, cfg.IgnoreLinear = nil, nil // they come after the cache
	if w.format, err = p.data.cfg.Format.lines(cfg); err != nil {
		panic("BUG: stream: " + err.Error())
	}
	if p.writer != nil {
		w.encoder = cache.NewEncoder(cfg.Bits)
	}
	return w
}

func (w *worker) run() {
	for {
		select {
		case j, ok := <-w.p.work:
			if !ok {
				return
			}
			j.err = w.job(j)
			close(j.out)
		case <-w.p.ctx.Done():
			return
		}
	}
}

// job does what there is to do with a chunk, and sends the batches to j.out.
func (w *worker) job(j *job) error {
	b := w.batch()
	if len(j.text) == 0 {
		if err := w.decoder.Decode(b, j.block); err != nil {
			return err
		}
	} else {
		if err := w.parse(b, j); err != nil {
			return err
		}
		j.encoded = j.encoded[:0]
		if w.encoder != nil && len(b.Examples) > 0 {
			var err error
			j.encoded = slices.Grow(j.encoded, len(j.text)) // a block is shorter than its text, as a rule
			if j.encoded, err = w.encoder.Append(j.encoded, b); err != nil {
				return &DataError{Source: j.source, Line: j.line, Err: err}
			}
		}
	}
	if w.inter == nil {
		w.send(j, b)
		return nil
	}
	return w.expand(j, b)
}

func (w *worker) batch() *feature.Batch {
	if b, ok := w.p.spare.take(); ok {
		return b
	}
	return new(feature.Batch)
}

// send hands a batch to Next; false: the pass has ended.
func (w *worker) send(j *job, b *feature.Batch) bool {
	if len(b.Examples) == 0 {
		w.p.Recycle(b)
		return true
	}
	select {
	case j.out <- b:
		return true
	case <-w.p.ctx.Done():
		return false
	}
}

func (w *worker) parse(b *feature.Batch, j *job) error {
	w.lines = w.lines[:0]
	if err := w.takeHeader(b, j); err != nil {
		return err
	}
	line, empty := j.line, j.empty
	for rest := j.text; len(rest) > 0; line++ {
		n := bytes.IndexByte(rest, '\n') + 1
		if n == 0 {
			n = len(rest)
		}
		if tooLong(rest[:n], w.limit) {
			return &DataError{Source: j.source, Line: line, Err: lengthError(rest[:n], w.limit)}
		}
		before := len(b.Examples)
		if err := w.format.AppendLine(b, rest[:n], line); err != nil {
			return &DataError{Source: j.source, Line: line, Err: err}
		}
		rest = rest[n:]
		if len(b.Examples) > before {
			b.Examples[before].Before, empty = uint32(empty), 0
		} else {
			empty++
		}
		if w.inter != nil && len(w.lines) < len(b.Examples) {
			w.lines = append(w.lines, line)
		}
	}
	if w.silent {
		b.Warnings = b.Warnings[:0]
	}
	for i := range b.Warnings {
		b.Warnings[i].Source = j.source
	}
	return nil
}

// takeHeader tells the format the header of the file that j is of. What is to be
// said about it is said once a file.
func (w *worker) takeHeader(b *feature.Batch, j *job) error {
	if j.header == nil || j.header == w.header && !j.first {
		return nil
	}
	w.header = j.header
	if err := w.format.(HeaderLines).Header(b, j.header.line); err != nil {
		return &DataError{Source: j.source, Line: 1, Err: err}
	}
	if !j.first || !j.header.own {
		b.Warnings = b.Warnings[:0]
	}
	return nil
}

// expand sends the examples of b with their interactions, in batches that are
// not much larger than batchFeatures.
func (w *worker) expand(j *job, b *feature.Batch) error {
	out := w.batch()
	out.Warnings = append(out.Warnings, b.Warnings...)
	for i := range b.Examples {
		if err := w.inter.Append(out, b, i); err != nil {
			return w.tooMany(j, i, err)
		}
		if len(out.Features) >= batchFeatures {
			if !w.send(j, out) {
				return nil
			}
			out = w.batch()
		}
	}
	w.p.Recycle(b)
	w.send(j, out)
	return nil
}

// tooMany says where the example is whose interactions are too many.
func (w *worker) tooMany(j *job, i int, err error) error {
	if len(j.text) == 0 {
		return &DataError{Source: j.block.File, Err: err}
	}
	return &DataError{Source: j.source, Line: w.lines[i], Err: err}
}
