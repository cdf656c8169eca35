// SPDX-License-Identifier: Apache-2.0

package optim

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestRows compares the text of each kind of row with lines of vw.
func TestRows(t *testing.T) {
	first := Row{Pass: 1, Kind: First, Loss: 0.693147, Slope: 0.01249, Conditioned: 8.554212}
	for _, tc := range []struct {
		name string
		rows []Row
		want string
	}{
		{
			"the curvature pass ends the line of the first pass",
			[]Row{first, {Pass: 2, Kind: Curvature, Move: Advance, Curvature: 83.55013, Length: 6425.94873, Step: 0.10238}},
			" 1 0.69315   \t0.01249   \t8.55421   \t          \t          \t          \t83.55013  \t6425.94873\t0.10238\n",
		},
		{
			"a new direction",
			[]Row{{Pass: 10, Kind: Gradient, Move: Advance, Loss: 0.14379, Conditioned: 0.00074, Wolfe1: 0.178441, Wolfe2: -0.64098, Length: 0.08139, Step: 1}},
			"10 0.14379   \t0.00000   \t0.00074   \t 0.178441  \t-0.640980 \t          \t          \t0.08139   \t1.00000\n",
		},
		{
			"a step back",
			[]Row{{Pass: 4, Kind: Gradient, Move: Revise, Loss: 0.25039, Slope: 0.03067, Conditioned: 30.67303, Wolfe1: -0.563179, Wolfe2: -1.742184, Factor: 0.5, Step: 0.5}},
			" 4 0.25039   \t0.03067   \t30.67303  \t -0.563179 \t-1.742184 \t          \t          \t(revise x 0.5)\t0.50000\n",
		},
		{
			"held-out examples take the loss's column",
			[]Row{{Pass: 3, Kind: Gradient, Move: Advance, HeldOut: true, HoldoutKnown: true, Holdout: 0.6955, Slope: 0.00083, Conditioned: 0.46913, Wolfe1: 0.558555, Wolfe2: 0.209746, Length: 6.38912, Step: 1}},
			" 3 h0.69550   \t0.00083   \t0.46913   \t 0.558555  \t0.209746  \t          \t          \t6.38912   \t1.00000\n",
		},
		{
			"none held out",
			[]Row{{Pass: 3, Kind: Gradient, Move: Advance, HeldOut: true, Step: 1}},
			" 3 h unknown    0.00000   \t0.00000   \t 0.000000  \t0.000000  \t          \t          \t0.00000   \t1.00000\n",
		},
		{
			"conjugate gradients await a curvature pass",
			[]Row{
				{Pass: 3, Kind: Gradient, Mixes: true, Loss: 0.20401, Slope: 0.00077, Conditioned: 0.46343, Wolfe1: 0.558489, Wolfe2: 0.209507},
				{Pass: 4, Kind: Curvature, Move: Advance, Curvature: 2.33229, Length: 343.42618, Step: 0.1987},
			},
			" 3 0.20401   \t0.00077   \t0.46343   \t 0.558489  \t0.209507  \t0.000000\t2.33229   \t343.42618 \t0.19870\n",
		},
	} {
		t.Run(tc.name, func(t *testing.T) {
			var got []byte
			for _, r := range tc.rows {
				got = AppendRow(got, r)
			}
			if d := cmp.Diff(tc.want, string(got)); d != "" {
				t.Errorf("(-want +got)\n%s", d)
			}
		})
	}
}

func TestVerdicts(t *testing.T) {
	row := Row{Pass: 11, Kind: Gradient}
	for s, want := range map[Status]string{
		Running:        "",
		Converged:      "\nTermination condition reached in pass 11: decrease in loss less than 0.100%.\nIf you want to optimize further, decrease termination threshold.\n",
		PassLimit:      "Maximum number of passes reached. If you want to optimize further, increase the number of passes\n",
		ZeroDerivative: "\nDerivative 0 detected.\n",
	} {
		if d := cmp.Diff(want, string(AppendVerdict(nil, s, row, 0.001, VW7))); d != "" {
			t.Errorf("%v (-want +got)\n%s", s, d)
		}
	}
	if got := string(AppendVerdict(nil, NoCurvature, row, 0, VW7)); !strings.HasPrefix(got, "\nZero or negative curvature detected.\n") || !strings.HasSuffix(got, "\n") {
		t.Errorf("NoCurvature says %q", got)
	}
}

func TestNames(t *testing.T) {
	for got, want := range map[string]string{
		First.String(): "first gradient", Gradient.String(): "gradient", Curvature.String(): "curvature", Kind(7).String(): "Kind(7)",
		Running.String(): "running", PassLimit.String(): "pass limit", Status(99).String(): "Status(99)",
	} {
		if got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}

// scripted is a solver that requests a fixed number of passes.
type scripted struct{ pass, passes int }

func (s *scripted) Request() (Request, bool) {
	return Request{Kind: Gradient, X: []float32{0}}, s.pass < s.passes
}
func (s *scripted) Prepare(*Sums)  {}
func (s *scripted) InPlace() *Sums { return &Sums{Gradient: []float32{0}} }
func (s *scripted) Row() Row       { return Row{Pass: s.pass, Kind: Gradient, Loss: 1 / float64(s.pass)} }

func (s *scripted) Accept(*Sums) error {
	if s.pass++; s.pass == 3 {
		return errors.New("third time unlucky")
	}
	return nil
}

func (s *scripted) Status() Status {
	if s.pass < s.passes {
		return Running
	}
	return PassLimit
}

func TestMinimizeCountsPasses(t *testing.T) {
	none := ObjectiveFunc(func(context.Context, Request, *Sums) error { return nil })
	var seen []int
	rec := RecorderFunc(func(r Row) { seen = append(seen, r.Pass) })
	got, err := Minimize(context.Background(), none, &scripted{passes: 2}, rec)
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(Result{Status: PassLimit, Passes: 2, Loss: 0.5}, got); d != "" {
		t.Errorf("(-want +got)\n%s", d)
	}
	if d := cmp.Diff([]int{1, 2}, seen); d != "" {
		t.Errorf("recorded (-want +got)\n%s", d)
	}
	got, err = Minimize(context.Background(), none, &scripted{passes: 9}, nil)
	if err == nil || !strings.Contains(err.Error(), "pass 3 (gradient): third time unlucky") || got.Passes != 2 {
		t.Errorf("got %+v, %v", got, err)
	}
}
