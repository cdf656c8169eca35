// SPDX-License-Identifier: Apache-2.0

package sgd

import (
	"math"
	"strings"
	"testing"

	"github.com/gvw-project/gvw/loss"
)

// The recorded settings are those that vw 9.11.9 prints for these options.
func TestFlagsResolveVWsDefaults(t *testing.T) {
	const (
		a = 1 << iota
		n
		i
	)
	for _, c := range []struct {
		options               string
		flags                 Flags
		rule                  int
		rate, powerT, initial float32
		stride                int
	}{
		{"", Flags{}, a | n | i, 0.5, 0.5, 0, 4},
		{"-l 0.3", Flags{LearningRate: 0.3, LearningRateSet: true}, a | n | i, 0.3, 0.5, 0, 4},
		{"--power_t 0", Flags{PowerTSet: true}, a | n | i, 0.5, 0, 0, 4},
		{"--initial_t 5", Flags{InitialT: 5, InitialTSet: true}, a | n | i, 0.5, 0.5, 5, 4},
		{"--sgd", Flags{SGD: true}, 0, 10, 0.5, 1, 1},
		{"--sgd -l 0.1", Flags{SGD: true, LearningRate: 0.1, LearningRateSet: true}, 0, 0.1, 0.5, 1, 1},
		{"--sgd -l 0.5 --initial_t 10", Flags{SGD: true, LearningRate: 0.5, LearningRateSet: true, InitialT: 10, InitialTSet: true}, 0, 1.58114, 0.5, 10, 1},
		{"--sgd --initial_t 0", Flags{SGD: true, InitialTSet: true}, 0, 0, 0.5, 0, 1},
		{"--sgd --power_t 0 --initial_t 4", Flags{SGD: true, PowerTSet: true, InitialT: 4, InitialTSet: true}, 0, 10, 0, 4, 1},
		{"--invariant", Flags{Invariant: true}, i, 10, 0.5, 1, 1},
		{"--adaptive", Flags{Adaptive: true}, a, 10, 0.5, 0, 4},
		{"--normalized", Flags{Normalized: true}, n, 10, 0.5, 0, 4},
		{"--adaptive --invariant", Flags{Adaptive: true, Invariant: true}, a | i, 10, 0.5, 0, 4},
		{"--normalized --invariant", Flags{Normalized: true, Invariant: true}, n | i, 10, 0.5, 0, 4},
		{"--adaptive --normalized", Flags{Adaptive: true, Normalized: true}, a | n, 0.5, 0.5, 0, 4},
		{"--adaptive --normalized --invariant", Flags{Adaptive: true, Normalized: true, Invariant: true}, a | n | i, 0.5, 0.5, 0, 4},
		{"--sgd --adaptive", Flags{SGD: true, Adaptive: true}, a, 10, 0.5, 0, 4},
		{"--adaptive --initial_t 3", Flags{Adaptive: true, InitialT: 3, InitialTSet: true}, a, 10, 0.5, 3, 4},
		{"values without their Set are ignored", Flags{LearningRate: 7, PowerT: 7, InitialT: 7}, a | n | i, 0.5, 0.5, 0, 4},
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
	for _, want := range []string{"33 bits", "learning rate -1", "power_t NaN", "initial_t -2", "decay_learning_rate NaN", "l1 -1", "l2 NaN"} {
		if !strings.Contains(err.Error(), want) {
			t.Errorf("%q does not mention %q", err, want)
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
		{"default, 5", Flags{InitialT: 5, InitialTSet: true}, Scalars{Nsx: 5, TotalWeight: 5, T: 5}, 5},
		{"sgd", Flags{SGD: true}, Scalars{T: 1}, 0},
		{"sgd, 3", Flags{SGD: true, InitialT: 3, InitialTSet: true}, Scalars{Nsx: 3, TotalWeight: 3, T: 3}, 0},
		{"normalized, 3", Flags{Normalized: true, InitialT: 3, InitialTSet: true}, Scalars{Nsx: 3, TotalWeight: 3, T: 3}, 0},
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
