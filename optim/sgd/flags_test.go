// SPDX-License-Identifier: Apache-2.0

package sgd

import (
	"math"
	"strings"
	"testing"

	"github.com/gvw-project/gvw/loss"
	"github.com/gvw-project/gvw/option"
)

// The recorded settings are those that vw 9.11.9 prints for these options.
func TestFlagsResolveVWsDefaults(t *testing.T) {
	const (
		a = 1 << iota
		n
		i
	)
	left := option.Option[float32]{Value: 7}
	for _, c := range []struct {
		options               string
		flags                 Flags
		rule                  int
		rate, powerT, initial float32
		stride                int
	}{
		{"", Flags{}, a | n | i, 0.5, 0.5, 0, 4},
		{"-l 0.3", Flags{LearningRate: option.Some[float32](0.3)}, a | n | i, 0.3, 0.5, 0, 4},
		{"--power_t 0", Flags{PowerT: option.Some[float32](0)}, a | n | i, 0.5, 0, 0, 4},
		{"--initial_t 5", Flags{InitialT: option.Some[float32](5)}, a | n | i, 0.5, 0.5, 5, 4},
		{"--sgd", Flags{SGD: true}, 0, 10, 0.5, 1, 1},
		{"--sgd -l 0.1", Flags{SGD: true, LearningRate: option.Some[float32](0.1)}, 0, 0.1, 0.5, 1, 1},
		{"--sgd -l 0.5 --initial_t 10", Flags{SGD: true, LearningRate: option.Some[float32](0.5), InitialT: option.Some[float32](10)}, 0, 1.58114, 0.5, 10, 1},
		{"--sgd --initial_t 0", Flags{SGD: true, InitialT: option.Some[float32](0)}, 0, 0, 0.5, 0, 1},
		{"--sgd --power_t 0 --initial_t 4", Flags{SGD: true, PowerT: option.Some[float32](0), InitialT: option.Some[float32](4)}, 0, 10, 0, 4, 1},
		{"--invariant", Flags{Invariant: true}, i, 10, 0.5, 1, 1},
		{"--adaptive", Flags{Adaptive: true}, a, 10, 0.5, 0, 4},
		{"--normalized", Flags{Normalized: true}, n, 10, 0.5, 0, 4},
		{"--adaptive --invariant", Flags{Adaptive: true, Invariant: true}, a | i, 10, 0.5, 0, 4},
		{"--normalized --invariant", Flags{Normalized: true, Invariant: true}, n | i, 10, 0.5, 0, 4},
		{"--adaptive --normalized", Flags{Adaptive: true, Normalized: true}, a | n, 0.5, 0.5, 0, 4},
		{"--adaptive --normalized --invariant", Flags{Adaptive: true, Normalized: true, Invariant: true}, a | n | i, 0.5, 0.5, 0, 4},
		{"--sgd --adaptive", Flags{SGD: true, Adaptive: true}, a, 10, 0.5, 0, 4},
		{"--adaptive --initial_t 3", Flags{Adaptive: true, InitialT: option.Some[float32](3)}, a, 10, 0.5, 3, 4},
		{"values that are not set are ignored", Flags{LearningRate: left, PowerT: left, InitialT: left}, a | n | i, 0.5, 0.5, 0, 4},
	} {
		got := c.flags.Config()
		rule := 0
		for k, on := range [...]bool{got.Adaptive, got.Normalized, got.Invariant} {
			if on {
				rule |= 1 << k
			}
		}
		if rule != c.rule {
			t.Errorf("%s: adaptive %v, normalized %v, invariant %v", c.options, got.Adaptive, got.Normalized, got.Invariant)
		}
		if math.Abs(float64(got.LearningRate-c.rate)) > 1e-5 || got.PowerT != c.powerT || got.InitialT != c.initial {
			t.Errorf("%s: learning rate %v, power_t %v, initial_t %v, want %v, %v, %v", c.options,
				got.LearningRate, got.PowerT, got.InitialT, c.rate, c.powerT, c.initial)
		}
		if got.Bits != 18 || got.DecayLearningRate != 1 || got.Stride() != c.stride {
			t.Errorf("%s: bits %d, decay %v, stride %d, want 18, 1, %d", c.options, got.Bits, got.DecayLearningRate, got.Stride(), c.stride)
		}
		if err := got.Validate(); err != nil {
			t.Errorf("%s: %v", c.options, err)
		}
	}
}

func TestFlagsPassTheRestThrough(t *testing.T) {
	got := Flags{Bits: 9, DecayLearningRate: 0.5, L1: 1, L2: 2, FixedRange: true}.Config()
	if got.Bits != 9 || got.DecayLearningRate != 0.5 || got.L1 != 1 || got.L2 != 2 || !got.FixedRange {
		t.Errorf("got %+v", got)
	}
}

func TestValidateReportsAllFaults(t *testing.T) {
	nan := float32(math.NaN())
	cfg := Config{Bits: 33, LearningRate: -1, PowerT: nan, InitialT: -2, DecayLearningRate: nan, L1: -1, L2: math.NaN()}
	l, _ := loss.New("squared")
	_, err := New(cfg, l)
	if err == nil {
		t.Fatal("no error")
	}
	for _, want := range []string{"Bits: got 33", "LearningRate: got -1", "PowerT: got NaN", "InitialT: got -2", "DecayLearningRate: got NaN", "L1: got -1", "L2: got NaN"} {
		if !strings.Contains(err.Error(), want) {
			t.Errorf("%q does not mention %q", err, want)
		}
	}
}

// A fault of one option is reported once, even if the learning rate is computed from it. A
// combination that overflows is reported only if each option is in its range.
func TestFlagsValidate(t *testing.T) {
	for name, c := range map[string]struct {
		flags Flags
		want  string
	}{
		"defaults":             {Flags{}, ""},
		"one option":           {Flags{SGD: true, PowerT: option.Some(float32(math.NaN()))}, "sgd: PowerT: got NaN, want a finite number"},
		"negative initial":     {Flags{SGD: true, InitialT: option.Some[float32](-1)}, "sgd: InitialT: got -1, want a finite number, 0 or more"},
		"two options":          {Flags{L1: -1, L2: -2}, "sgd: L1: got -1, want 0 or more\nsgd: L2: got -2, want 0 or more"},
		"the rate overflows":   {Flags{SGD: true, InitialT: option.Some[float32](1e38), PowerT: option.Some[float32](3)}, "sgd: LearningRate: got +Inf, want a finite number, 0 or more"},
		"no scaling, no fault": {Flags{InitialT: option.Some[float32](1e38), PowerT: option.Some[float32](3)}, ""},
	} {
		got := ""
		if err := c.flags.Validate(); err != nil {
			got = err.Error()
		}
		if got != c.want {
			t.Errorf("%s: got %q, want %q", name, got, c.want)
		}
	}
}

// The initial state of the learner, recorded from vw 9.11.9's resume state.
func TestInitialT(t *testing.T) {
	l, err := loss.New("squared")
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		name  string
		flags Flags
		want  Scalars
		g     float32
	}{
		{"default", Flags{}, Scalars{}, 0},
		{"default, 5", Flags{InitialT: option.Some[float32](5)}, Scalars{Nsx: 5, TotalWeight: 5, T: 5}, 5},
		{"sgd", Flags{SGD: true}, Scalars{T: 1}, 0},
		{"sgd, 3", Flags{SGD: true, InitialT: option.Some[float32](3)}, Scalars{Nsx: 3, TotalWeight: 3, T: 3}, 0},
		{"normalized, 3", Flags{Normalized: true, InitialT: option.Some[float32](3)}, Scalars{Nsx: 3, TotalWeight: 3, T: 3}, 0},
	} {
		c.flags.Bits = 3
		cfg := c.flags.Config()
		lr, err := New(cfg, l)
		if err != nil {
			t.Fatal(err)
		}
		c.want.Contraction, c.want.Mult, c.want.LearningRate = 1, 1, cfg.LearningRate
		if got := lr.Scalars(); got != c.want {
			t.Errorf("%s: %+v, want %+v", c.name, got, c.want)
		}
		for i, w := range lr.Weights() {
			want := float32(0)
			if i%lr.Stride() == 1 {
				want = c.g
			}
			if w != want {
				t.Fatalf("%s: float %d is %v, want %v", c.name, i, w, want)
			}
		}
	}
}
