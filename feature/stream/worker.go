// SPDX-License-Identifier: Apache-2.0

package stream

import (
	"slices"

	"github.com/gvw-project/gvw/feature"
	"github.com/gvw-project/gvw/feature/cache"
)

// batchFeatures ends a batch early when interactions make it large: at 256 KiB, so that the
// learner finds it in the processor's cache.
const batchFeatures = 1 << 15

// worker turns chunks into batches.
type worker struct {
	p       *Pass
	text    parser
	again   *parser             // parser for the contents of the cache; nil: text does
	inter   *feature.Interactor // nil: no interactions
	encoder *cache.Encoder      // nil: no cache is made
	decoder *cache.Decoder
	limit   int
	silent  bool    // the warnings of this text were given in an earlier pass
	lines   []int64 // of the examples of the chunk; only where there are interactions
}

// parser is what reads the lines of a worker.
type parser struct {
	format Lines
	header *header // which format knows
}

func newWorker(p *Pass) *worker {
	cfg := p.data.cfg.Feature
	cfg.Names = cfg.Names && p.text != nil // a cache has none
	w := &worker{p: p, limit: cfg.LineLimit(), decoder: cache.NewDecoder(cfg.Bits), silent: p.data.passes > 0}
	var err error
	if cfg.Expands() {
		if w.inter, err = feature.NewInteractor(cfg); err != nil {
			panic("BUG: stream: " + err.Error()) // NewDataset validates it
		}
	}
	cfg.Interactions, cfg.IgnoreLinear = nil, nil // they come after the cache
	lines := func() parser {
		format, err := p.data.cfg.Format.lines(cfg)
		if err != nil {
			panic("BUG: stream: " + err.Error())
		}
		return parser{format: format}
	}
	cfg.Cut = w.silent // as if it came from vw's cache
	w.text = lines()
	if p.writer == nil {
		return w
	}
	w.encoder = cache.NewEncoder(cfg.Bits)
	if len(cfg.Limits) > 0 && !cfg.Cut {
		cfg.Cut = true
		again := lines()
		w.again = &again
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

// job parses or decodes a chunk, and sends the batches to j.out.
func (w *worker) job(j *job) error {
	b := w.batch()
	if len(j.text) == 0 {
		if err := w.decoder.Decode(b, j.block); err != nil {
			return err
		}
	} else {
		if err := w.parse(&w.text, b, j); err != nil {
			return err
		}
		if err := w.encode(b, j); err != nil {
			return err
		}
	}
	if w.inter == nil {
		w.send(j, b)
		return nil
	}
	return w.expand(j, b)
}

// encode sets j.encoded to the block of the cache for j. b has the examples to learn from now.
func (w *worker) encode(b *feature.Batch, j *job) error {
	j.encoded = j.encoded[:0]
	if w.encoder == nil || len(b.Examples) == 0 {
		return nil
	}
	if w.again != nil {
		b = w.batch()
		defer w.p.Recycle(b)
		if err := w.parse(w.again, b, j); err != nil {
			return err
		}
	}
	var err error
	j.encoded = slices.Grow(j.encoded, len(j.text)) // a block is shorter than its text, as a rule
	if j.encoded, err = w.encoder.Append(j.encoded, b); err != nil {
		return &DataError{Source: j.source, Line: j.line, Err: err}
	}
	return nil
}

func (w *worker) batch() *feature.Batch {
	if b, ok := w.p.spare.take(); ok {
		return b
	}
	return new(feature.Batch)
}

// send sends a batch to Next. It returns false if the pass has ended.
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

func (w *worker) parse(p *parser, b *feature.Batch, j *job) error {
	w.lines = w.lines[:0]
	if err := p.takeHeader(b, j); err != nil {
		return err
	}
	framing := &w.p.data.cfg.Format
	line, empty := j.line, j.empty
	for rest := j.text; len(rest) > 0; line++ {
		n, err := framing.first(rest, w.limit)
		if err != nil {
			return frameError(j.source, line, err)
		}
		if framing.Frame == nil && tooLong(rest[:n], w.limit) {
			return &DataError{Source: j.source, Line: line, Err: lengthError(rest[:n], w.limit)}
		}
		before := len(b.Examples)
		if err := p.format.AppendLine(b, rest[:n], line); err != nil {
			if framing.Frame != nil {
				return &DataError{Source: j.source, Err: err} // it names the frame
			}
			return &DataError{Source: j.source, Line: line, Err: err}
		}
		rest = rest[n:]
		if len(b.Examples) > before {
			b.Examples[before].Before, empty = uint32(empty), 0
		} else if framing.Frame == nil {
			empty++
		}
		for w.inter != nil && len(w.lines) < len(b.Examples) {
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

// takeHeader passes the header of j's file to the format. Its warnings are given once per
// file.
func (p *parser) takeHeader(b *feature.Batch, j *job) error {
	if j.header == nil || j.header == p.header && !j.first {
		return nil
	}
	p.header = j.header
	if err := p.format.(HeaderLines).Header(b, j.header.line); err != nil {
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

// tooMany adds the position of the example that has too many interactions.
func (w *worker) tooMany(j *job, i int, err error) error {
	if len(j.text) == 0 {
		return &DataError{Source: j.block.File, Err: err}
	}
	return &DataError{Source: j.source, Line: w.lines[i], Err: err}
}
