// SPDX-License-Identifier: Apache-2.0

package schedule

import (
	"math"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"
)

// The expected times are computed by hand from the formulas, for the network: alpha + 2 o = 34 µs a hop.
func TestPredictionsAreThoseOfTheFormulas(t *testing.T) {
	for _, c := range []struct {
		name        Name
		size, bytes int
		want        time.Duration
	}{
		{Doubling, 8, 4, 102 * time.Microsecond},                 // 3 hops
		{Halving, 8, 4, 204 * time.Microsecond},                  // 6 hops
		{Ring, 8, 4, 476 * time.Microsecond},                     // 14 hops
		{BinaryTree, 8, 4, 204 * time.Microsecond},               // 3 hops up, 3 down
		{Ring, 8, 16 << 20, 24_226 * time.Microsecond},           // + 2·7/8·n β + n/8 γ
		{Doubling, 8, 16 << 20, 46_659 * time.Microsecond},       // + 3 n β + 3 n γ
		{Halving, 8, 16 << 20, 25_527 * time.Microsecond},        // + 2·7/8·n β + 7/8·n γ
		{Doubling, 10, 4, 170 * time.Microsecond},                // 2 ranks fold: 2 hops more
		{BinaryTree, 1000, 64 << 20, 163_563 * time.Microsecond}, // + 3 n β, and 18 chunks twice
	} {
		got := Network.Predict(Spec{Schedule: c.name, Size: c.size, Bytes: c.bytes})
		if d := (got - c.want).Abs(); d > c.want/1000 {
			t.Errorf("%v of %d bytes among %d ranks takes %v, want %v", c.name, c.bytes, c.size, got, c.want)
		}
	}
	if got := Network.Predict(Spec{Schedule: Ring, Size: 1, Bytes: 4}); got != 0 {
		t.Errorf("one rank takes %v", got)
	}
}

// The messages and bytes of the model are those of the programs.
func TestLoadsAreThoseOfThePrograms(t *testing.T) {
	for n := 2; n <= 70; n++ {
		for _, name := range Names {
			s := Spec{Schedule: name, Size: n, Bytes: 64 * n, Chunk: 64 * n}
			if name == Direct && n%2 == 0 {
				s.Bytes = n / 2 * directSegment
			}
			messages, moved := 0, 0
			for _, p := range programs(n, s.AllReduce) {
				for _, step := range p.Steps {
					if step.Act == Give {
						messages++
						moved += step.Hi - step.Lo
					}
				}
			}
			l := loadOf(name, n, s.Bytes)
			if float64(messages) != l.messages || math.Abs(float64(moved)-l.moved*float64(s.Bytes)) > 1e-6*float64(moved) {
				t.Errorf("%v of %d ranks: %d messages, %.3f vectors; the model says %.0f and %.3f",
					name, n, messages, float64(moved)/float64(s.Bytes), l.messages, l.moved)
			}
		}
	}
}

// The choice of Auto depends only on ranks, bytes and Ordered, keeps the order if
// required, and is never much slower than the best.
func TestPick(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(1, 1024).Draw(t, "ranks")
		bytes := 8 * rapid.IntRange(0, 1<<27).Draw(t, "words")
		ordered := rapid.Bool().Draw(t, "ordered")
		s := Spec{Size: n, Bytes: bytes, Ordered: ordered}
		name := s.Pick()
		if name == Auto || ordered && !name.Ordered() {
			t.Fatalf("%+v picks %v", s, name)
		}
		s.Elem, s.Chunk = 8, 64
		if again := s.Pick(); again != name {
			t.Fatalf("%+v picks %v or %v", s, name, again)
		}
		if n == 1 {
			return
		}
		best, good := math.Inf(1), false
		for _, other := range candidates {
			if s.allows(other) {
				best = min(best, Network.predict(other, n, bytes))
				good = good || strings.IndexByte(s.goodOnHost(), other.Letter()) >= 0
			}
		}
		if good != (strings.IndexByte(s.goodOnHost(), name.Letter()) >= 0) {
			t.Fatalf("%+v: %v is not one of %s, which are good on one host", s, name, s.goodOnHost())
		}
		limit := worstRatio
		if n > maxHostRanks {
			limit = 1 / margin
		}
		if network := Network.predict(name, n, bytes) / best; network > limit {
			t.Fatalf("%d ranks, %d bytes: %v takes %.2f times as long as the best on a network", n, bytes, name, network)
		}
	})
}

// The table has a schedule for each number of ranks, its sizes rise, and the nearest size is used.
func TestMeasured(t *testing.T) {
	for i, row := range measured {
		if i > 0 && row.bytes <= measured[i-1].bytes {
			t.Errorf("%d bytes come after %d", row.bytes, measured[i-1].bytes)
		}
		for k, good := range row.good {
			if good == "" || strings.Trim(good, letters[1:]) != "" {
				t.Errorf("%d bytes, %d ranks: %q", row.bytes, k+2, good)
			}
			for _, bytes := range []int{row.bytes, row.bytes + row.bytes/5} {
				if got := (Spec{Size: k + 2, Bytes: bytes}).goodOnHost(); got != good {
					t.Errorf("%d bytes, %d ranks: %q, want %q", bytes, k+2, got, good)
				}
			}
		}
	}
	if got, want := (Spec{Size: 4, Bytes: 1 << 40}).goodOnHost(), measured[len(measured)-1].good[2]; got != want {
		t.Errorf("beyond the table: %q, want %q", got, want)
	}
	if got := (Spec{Size: maxHostRanks + 1, Bytes: 4}).goodOnHost(); got != letters {
		t.Errorf("ranks that share no host: %q", got)
	}
}

// worstRatio is where the two places differ most: docs/schedules.md names it.
const worstRatio = 3.3

func TestNamesAreParsed(t *testing.T) {
	for _, name := range append([]Name{Auto}, Names...) {
		if got, err := ParseName(name.String()); err != nil || got != name || !name.Valid() {
			t.Errorf("%v is parsed as %v, %v", name, got, err)
		}
	}
	if got, err := ParseName("double-tree"); err != nil || got != DoubleTree {
		t.Errorf("double-tree is parsed as %v, %v", got, err)
	}
	if _, err := ParseName("star"); err == nil {
		t.Error("ParseName accepts \"star\"")
	}
	if Name(99).Valid() {
		t.Error("schedule 99 is valid")
	}
}
