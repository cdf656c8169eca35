// SPDX-License-Identifier: Apache-2.0

// Package featuretest has helpers for the tests of all formats: batches in the
// form of the files that were recorded from the real vw
// (feature/testdata/vw_cache.py), and checks that every batch must pass.
package featuretest

import (
	"encoding/hex"
	"fmt"
	"math"
	"os"
	"strings"
	"testing"

	"github.com/gvw-project/gvw/feature"
)

// Recorded returns the examples of a recorded file, one a line.
func Recorded(t testing.TB, name string) []string {
	t.Helper()
	text, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	return strings.Split(strings.TrimSpace(string(text)), "\n")[1:] // the first line is the options
}

// InVWsWords formats the one example of b like the recorded files.
func InVWsWords(b *feature.Batch) string {
	ex := &b.Examples[0]
	weight := fmt.Sprintf("%08x", math.Float32bits(ex.Weight))
	for _, w := range b.Warnings {
		var negative float32 // vw keeps it and does not learn, here it is 0
		if _, err := fmt.Sscanf(w.Text, "invalid importance weight (%g)", &negative); err == nil {
			weight = fmt.Sprintf("%08x", math.Float32bits(negative))
		}
	}
	tag := hex.EncodeToString(b.TagOf(ex))
	if tag == "" {
		tag = "-"
	}
	var s strings.Builder
	fmt.Fprintf(&s, "%08x %s %08x %s 0", math.Float32bits(ex.Label), weight, math.Float32bits(ex.Initial), tag)
	for _, span := range b.SpansOf(ex) {
		fmt.Fprintf(&s, " | %02x", span.NS)
		for _, f := range b.Features[span.Lo:span.Hi] {
			fmt.Fprintf(&s, " %x:%08x", f.Index, math.Float32bits(f.Value))
		}
	}
	return s.String()
}

// HoldsTogether checks that the arrays of b are divided among its examples
// without gaps, hidden features before the others, and that indices are below 2^Bits.
func HoldsTogether(t testing.TB, b *feature.Batch, cfg feature.Config) {
	t.Helper()
	var tag, span, feat uint32
	for i := range b.Examples {
		ex := &b.Examples[i]
		if ex.TagLo != tag || ex.SpanLo != span || ex.FeatLo != feat+ex.Hidden || ex.TagHi < tag || ex.SpanHi < span || ex.FeatHi < feat {
			t.Fatalf("example %d: %+v, after tags to %d, spans to %d, features to %d", i, ex, tag, span, feat)
		}
		tag, span, feat = ex.TagHi, ex.SpanHi, ex.FeatHi
		hidden, at := ex.FeatLo-ex.Hidden, ex.FeatLo
		for _, s := range b.SpansOf(ex) {
			next := &at
			if s.Lo < ex.FeatLo {
				next = &hidden
			}
			if s.Lo != *next || s.Hi <= s.Lo || s.Hi > ex.FeatHi {
				t.Fatalf("example %d: span %+v, after features to %d", i, s, *next)
			}
			*next = s.Hi
		}
		if hidden != ex.FeatLo {
			t.Fatalf("example %d: hidden features to %d, spans to %d", i, ex.FeatLo, hidden)
		}
		if len(cfg.Interactions) == 0 && at != ex.FeatHi {
			t.Fatalf("example %d: features to %d, spans to %d", i, ex.FeatHi, at)
		}
	}
	if int(tag) != len(b.Tags) || int(span) != len(b.Spans) || int(feat) != len(b.Features) {
		t.Fatalf("examples end at %d, %d, %d of %d, %d, %d", tag, span, feat, len(b.Tags), len(b.Spans), len(b.Features))
	}
	for _, f := range b.Features {
		if f.Index&^cfg.Mask() != 0 || cfg.Mask() == 0 {
			t.Fatalf("index %d of %d bits", f.Index, cfg.Bits)
		}
	}
}
