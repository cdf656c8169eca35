// SPDX-License-Identifier: Apache-2.0

package offset

import (
	"errors"
	"slices"
	"testing"

	"pgregory.net/rapid"
)

// drifting draws the true offset at increasing times of the own clock. Its rate is at most MaxRate.
func drifting(t *rapid.T) (at, ahead []int64) {
	now := rapid.Int64Range(0, 2e18).Draw(t, "begin")
	off := rapid.Int64Range(-1e18, 1e18).Draw(t, "offset")
	for range rapid.IntRange(1, 40).Draw(t, "readings") {
		at, ahead = append(at, now), append(ahead, off)
		step := rapid.Int64Range(0, 20e9).Draw(t, "step")
		limit := int64(MaxRate * float64(step))
		now += step
		off += rapid.Int64Range(-limit, limit).Draw(t, "drift")
	}
	return at, ahead
}

// The true offset is within the bound, for any delays there and back, and any drift up to MaxRate.
func TestTheTrueOffsetIsWithinTheBound(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		at, ahead := drifting(t)
		delay := func(name string) int64 {
			return rapid.OneOf(rapid.Int64Range(0, 1e5), rapid.Int64Range(0, 10e9)).Draw(t, name)
		}
		var samples []Sample
		for i := range at {
			if i == 0 || rapid.Bool().Draw(t, "exchange") {
				samples = append(samples, Sample{Sent: at[i] - delay("there"), Received: at[i] + delay("back"), Remote: at[i] + ahead[i]})
			}
		}
		c, err := Fit(rapid.Permutation(samples).Draw(t, "order"))
		if err != nil {
			t.Fatal(err)
		}
		if c.Rate != MaxRate {
			t.Fatalf("the rate is %g, want %g", c.Rate, MaxRate)
		}
		for i := range at {
			if got, bound := c.At(at[i]); got-bound > ahead[i] || got+bound < ahead[i] {
				t.Fatalf("at %d: %d ± %d, want %d", at[i], got, bound, ahead[i])
			}
			if i == 0 {
				continue
			}
			// Between two readings the offset changes evenly.
			mid := at[i-1] + (at[i]-at[i-1])/2
			want := ahead[i-1] + (ahead[i]-ahead[i-1])/2
			if got, bound := c.At(mid); got-bound > want+1 || got+bound < want-1 {
				t.Fatalf("at %d: %d ± %d, want %d", mid, got, bound, want)
			}
		}
	})
}

// The bound is at most half of the shortest round trip, and what the clocks drift in the time since then.
func TestTheBoundIsThatOfTheBestRoundTrip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		at, ahead := drifting(t)
		var samples []Sample
		for i := range at {
			there, back := rapid.Int64Range(0, 1e9).Draw(t, "there"), rapid.Int64Range(0, 1e9).Draw(t, "back")
			samples = append(samples, Sample{Sent: at[i] - there, Received: at[i] + back, Remote: at[i] + ahead[i]})
		}
		c, err := Fit(samples)
		if err != nil {
			t.Fatal(err)
		}
		for _, local := range at {
			_, bound := c.At(local)
			for _, s := range samples {
				half := (s.Received - s.Sent + 1) / 2
				apart := max(local-(s.Sent+half), s.Sent+half-local)
				hops := int64(len(samples)) // the drift from one exchange to the next is rounded up to a nanosecond
				if limit := half + c.drift(half) + c.drift(apart) + hops + 2; bound > limit {
					t.Fatalf("at %d: ± %d, and the exchange %+v allows %d", local, bound, s, limit)
				}
			}
		}
	})
}

// Times that are corrected keep their order.
func TestCorrectedTimesKeepTheirOrder(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		at, ahead := drifting(t)
		var samples []Sample
		for i := range at {
			samples = append(samples, Sample{Sent: at[i] - rapid.Int64Range(0, 1e9).Draw(t, "there"), Received: at[i] + 5, Remote: at[i] + ahead[i]})
		}
		c, err := Fit(samples)
		if err != nil {
			t.Fatal(err)
		}
		times := rapid.SliceOfN(rapid.Int64Range(at[0]-1e9, at[len(at)-1]+1e9), 2, 20).Draw(t, "times")
		slices.Sort(times)
		for i := 1; i < len(times); i++ {
			a, _ := c.At(times[i-1])
			b, _ := c.At(times[i])
			if times[i-1]+a > times[i]+b+1 { // a nanosecond by rounding
				t.Fatalf("%d and %d become %d and %d", times[i-1], times[i], times[i-1]+a, times[i]+b)
			}
		}
	})
}

// An exchange with a short round trip decides, and a slow one does not spoil it.
func TestFit(t *testing.T) {
	c, err := Fit([]Sample{{Sent: 0, Received: 1_000_000, Remote: 5_900_000}, {Sent: 2_000_000, Received: 2_000_100, Remote: 7_000_050}})
	if err != nil {
		t.Fatal(err)
	}
	if ahead, bound := c.At(2_000_050); ahead != 5_000_000 || bound > 52 {
		t.Errorf("got %d ± %d, want 5000000 ± 51", ahead, bound)
	}
}

// Clocks whose rates differ by more are still followed, and the rate is stated. A clock that jumps is not.
func TestFitOfBadClocks(t *testing.T) {
	second := int64(1e9)
	for name, c := range map[string]struct {
		samples []Sample
		rate    float64 // 0: an error
	}{
		"ten times the rate":  {[]Sample{{0, 10, 5}, {second, second + 10, second + second/100}}, 16 * MaxRate},
		"a jump of a minute":  {[]Sample{{0, 10, 5}, {second, second + 10, 61 * second}}, 0},
		"back in an exchange": {[]Sample{{10, 0, 5}}, 0},
		"none":                {nil, 0},
	} {
		got, err := Fit(c.samples)
		if c.rate == 0 != (err != nil) || err == nil && got.Rate != c.rate {
			t.Errorf("%s: %+v, %v; want rate %g", name, got, err, c.rate)
		}
		if name == "none" && !errors.Is(err, ErrNoSample) {
			t.Errorf("got %v, want ErrNoSample", err)
		}
	}
}
