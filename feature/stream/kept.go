// SPDX-License-Identifier: Apache-2.0

package stream

import (
	"context"
	"fmt"
	"io"
	"slices"

	"github.com/gvw-project/gvw/feature"
)

// kept has the examples of a pass in memory, for later passes. Its batches have no room beyond their contents, and no
// warnings.
type kept struct {
	batches     []*feature.Batch
	used, limit int // bytes
}

// keeps returns what collects the examples of a pass, or nil if they are not kept. Those of a pass over text are kept
// only if Config.Keep is set, or if the pass makes a cache that has the same examples.
func (d *Dataset) keeps(p *Pass) *kept {
	k := &kept{limit: d.cfg.Memory}
	switch {
	case d.cfg.Keep && d.cfg.Passes > 1:
		return k
	case p.writer != nil:
		if d.cfg.Feature.Names || len(d.cfg.Feature.Limits) > 0 {
			return nil
		}
	case p.text != nil:
		return nil
	case p.totals.Examples > uint64(k.limit) || p.totals.Features > uint64(k.limit):
		return nil
	case size(int(p.totals.Examples), int(p.totals.Features), 0, 0, 0) > k.limit:
		return nil
	}
	if k.limit == 0 {
		return nil
	}
	return k
}

// size returns the bytes of examples with their features, spans, tags and the classes of their labels.
func size(examples, features, spans, tags, costs int) int {
	return 56*examples + 8*features + 16*spans + tags + 8*costs
}

// add adds a copy of the examples of b. It reports false if they exceed the limit.
func (k *kept) add(b *feature.Batch) bool {
	k.used += size(len(b.Examples), len(b.Features), len(b.Spans), len(b.Tags), len(b.Costs))
	if k.used > k.limit {
		return false
	}
	k.batches = append(k.batches, &feature.Batch{
		Examples: slices.Clone(b.Examples), Features: slices.Clone(b.Features), Spans: slices.Clone(b.Spans), Tags: slices.Clone(b.Tags), Costs: slices.Clone(b.Costs),
	})
	return true
}

// Join joins the batches in memory, so that each of them but the last has at least so many features. A
// consumer whose threads share a batch needs large ones, while others want a batch to fit into the cache of a processor. Join
// returns false, without an effect, if the examples are not in memory. No pass may be open.
func (d *Dataset) Join(features int) bool {
	if d.kept == nil {
		return false
	}
	parts := d.kept.batches
	joined := parts[:0:0]
	for len(parts) > 0 {
		n, have := 0, 0
		for n < len(parts) && have < features {
			have += len(parts[n].Features)
			n++
		}
		joined = append(joined, join(parts[:n]))
		clear(parts[:n]) // their memory is free before the next ones are joined
		parts = parts[n:]
	}
	d.kept.batches = joined
	return true
}

// join returns one batch with the examples of several.
func join(parts []*feature.Batch) *feature.Batch {
	if len(parts) == 1 {
		return parts[0]
	}
	var all feature.Batch
	var examples, spans, features, tags, costs int
	for _, b := range parts {
		examples += len(b.Examples)
		spans += len(b.Spans)
		features += len(b.Features)
		tags += len(b.Tags)
		costs += len(b.Costs)
	}
	all.Examples = make([]feature.Example, 0, examples)
	all.Spans = make([]feature.Span, 0, spans)
	all.Features = make([]feature.Feature, 0, features)
	all.Tags = make([]byte, 0, tags)
	all.Costs = make([]feature.Cost, 0, costs)
	for _, b := range parts {
		span, feat, tag, cost := uint32(len(all.Spans)), uint32(len(all.Features)), uint32(len(all.Tags)), uint32(len(all.Costs))
		for _, ex := range b.Examples {
			ex.SpanLo, ex.SpanHi = ex.SpanLo+span, ex.SpanHi+span
			ex.FeatLo, ex.FeatHi = ex.FeatLo+feat, ex.FeatHi+feat
			ex.TagLo, ex.TagHi = ex.TagLo+tag, ex.TagHi+tag
			ex.CostLo, ex.CostHi = ex.CostLo+cost, ex.CostHi+cost
			all.Examples = append(all.Examples, ex)
		}
		for _, s := range b.Spans {
			s.Lo, s.Hi = s.Lo+feat, s.Hi+feat
			all.Spans = append(all.Spans, s)
		}
		all.Features = append(all.Features, b.Features...)
		all.Tags = append(all.Tags, b.Tags...)
		all.Costs = append(all.Costs, b.Costs...)
	}
	return &all
}

// overflow returns the error for examples that exceed the memory where nothing else has them.
func (d *Dataset) overflow() error {
	return &UsageError{fmt.Sprintf("the examples take more than %d MiB of memory: raise the limit (stream.Config.Memory), or use a cache (stream.Config.Cache)", d.cfg.Memory>>20)}
}

// recall returns a pass over the examples in memory. It has no goroutines.
func (d *Dataset) recall(ctx context.Context) *Pass {
	p := &Pass{data: d, recalls: true, left: d.kept.batches, read: make(chan struct{})}
	close(p.read)
	p.ctx, p.cancel = context.WithCancelCause(ctx)
	return p
}

// recalled returns the next batch in memory.
func (p *Pass) recalled() (*feature.Batch, error) {
	if len(p.left) == 0 {
		p.data.passes++
		return nil, io.EOF
	}
	b := p.left[0]
	p.left = p.left[1:]
	return b, nil
}

// Renumber calls f for the features of each batch in memory. Later passes have the features as f has changed them.
// Renumber reports false, and calls nothing, if the examples are not in memory; then passes read them from their
// origin. No pass may be open.
func (d *Dataset) Renumber(f func(fs []feature.Feature)) bool {
	if d.kept == nil {
		return false
	}
	for _, b := range d.kept.batches {
		f(b.Features)
	}
	return true
}
