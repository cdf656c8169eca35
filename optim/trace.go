// SPDX-License-Identifier: Apache-2.0

package optim

import (
	"fmt"
	"strconv"
)

// Status is Running, or the reason why a solver stopped.
type Status uint8

const (
	// Running: there is another request.
	Running Status = iota
	// Converged: the loss fell by less than the termination threshold in one
	// iteration. The direction found last was still followed.
	Converged
	// ZeroDerivative: the gradient has no part along the direction.
	ZeroDerivative
	// NoCurvature: the curvature along the step was not positive, which a
	// convex loss shows only at the limit of numerical accuracy.
	NoCurvature
	// PassLimit: the passes that the configuration allows are used up.
	PassLimit
)

var statusNames = [...]string{"running", "converged", "derivative zero", "no curvature", "pass limit"}

// String returns the name that messages use.
func (s Status) String() string {
	if int(s) < len(statusNames) {
		return statusNames[s]
	}
	return fmt.Sprintf("Status(%d)", uint8(s))
}

// Move is the reaction of a solver to the sums of a pass.
type Move uint8

const (
	// Await: a direction is set; a curvature pass along it follows.
	Await Move = iota
	// Advance: the weights moved by Row.Step along the direction.
	Advance
	// Revise: the last step was too long; the weights moved back, to Row.Step.
	Revise
)

// Row is one pass in the trace. Kind and Move determine which fields are valid.
type Row struct {
	Pass int // from 1; curvature passes count
	Kind Kind
	Move Move

	// First and Gradient.
	Loss         float64 // mean loss, the regulariser included
	Slope        float64 // ‖g‖² / W², W the sum of importance weights
	Conditioned  float64 // g'Cg / W, C the preconditioner
	HeldOut      bool    // print Holdout in the place of Loss; set by the training loop
	HoldoutKnown bool    // some example was held out
	Holdout      float64 // mean loss of the held-out examples

	// Gradient: the effect of the previous step.
	Wolfe1 float64 // (f − f_before) / (step · g_before'd)
	Wolfe2 float64 // g'd / g_before'd
	Mixes  bool    // the solver mixes directions (conjugate gradients)
	Mix    float64 // share of the direction before
	Factor float64 // Revise: factor on the step

	Curvature float64 // Curvature: d'Hd / W, the regulariser included
	Length    float64 // Advance: ‖d‖²
	Step      float64 // Advance, Revise: the step
}

// AppendHeader appends the heading of vw's trace, a whole line.
func AppendHeader(dst []byte) []byte {
	return fmt.Appendf(dst, "%2s %-10s\t%-10s\t%-10s\t %-10s\t%-10s\t%-10s\t%-10s\t%-10s\t%s\n",
		"##", "avg. loss", "der. mag.", "d. m. cond.", "wolfe1", "wolfe2", "mix fraction", "curvature", "dir. magnitude", "step size")
}

// AppendRow appends the row in vw's format. A pass that a curvature pass follows (Move Await)
// leaves its line open, and the curvature pass ends that line, so the rows of vw's trace have
// the numbers of gradient passes. The passes between a gradient and its step print nothing.
func AppendRow(dst []byte, r Row) []byte {
	switch {
	case r.Kind == Curvature:
		dst = cell(dst, r.Curvature)
		return appendStep(dst, r)
	case r.Kind > Curvature && r.Move == Await: // further passes follow before the step
		return dst
	case r.Kind == Product:
		return appendStep(cell(dst, r.Curvature), r)
	case r.Kind > Curvature:
		return appendStep(blank(dst), r)
	}
	dst = fmt.Appendf(dst, "%2d ", r.Pass)
	switch {
	case r.HeldOut && r.HoldoutKnown:
		dst = cell(append(dst, 'h'), r.Holdout)
	case r.HeldOut:
		dst = append(dst, "h unknown    "...)
	default:
		dst = cell(dst, r.Loss)
	}
	dst = cell(dst, r.Slope)
	dst = cell(dst, r.Conditioned)
	if r.Kind == First {
		dst = blank(blank(blank(dst)))
		if r.Move == Advance { // only a solver that stops in its first pass
			return appendStep(blank(dst), r)
		}
		return dst
	}
	dst = fmt.Appendf(dst, " %-10f\t%-10f\t", r.Wolfe1, r.Wolfe2)
	switch {
	case r.Move == Revise:
		dst = blank(blank(dst))
		return fmt.Appendf(dst, "(revise x %.1f)\t%.5f\n", r.Factor, r.Step)
	case r.Mixes:
		dst = fmt.Appendf(dst, "%f\t", r.Mix)
	default:
		dst = blank(dst)
	}
	if r.Move == Await {
		return dst
	}
	return appendStep(blank(dst), r)
}

func appendStep(dst []byte, r Row) []byte {
	return fmt.Appendf(dst, "%-10.5f\t%.5f\n", r.Length, r.Step)
}

func cell(dst []byte, v float64) []byte { return fmt.Appendf(dst, "%-10.5f\t", v) }

func blank(dst []byte) []byte { return append(dst, "          \t"...) }

// AppendVerdict appends vw's text for the end of a run, in whole lines, and nothing for a
// running solver. last is the row of the last pass, termination the threshold of Converged. vw
// 9 has another text for the end of the passes.
func AppendVerdict(dst []byte, s Status, last Row, termination float64, semantics Semantics) []byte {
	open := last.Kind == Gradient && last.Move == Await // the row awaits its curvature
	switch s {
	case Converged:
		dst = append(dst, "\nTermination condition reached in pass "...)
		dst = strconv.AppendInt(dst, int64(last.Pass), 10)
		dst = fmt.Appendf(dst, ": decrease in loss less than %.3f%%.\n", termination*100)
		dst = append(dst, "If you want to optimize further, decrease termination threshold.\n"...)
	case ZeroDerivative:
		if open {
			dst = append(dst, '\n')
		}
		dst = append(dst, "Derivative 0 detected.\n"...)
	case NoCurvature:
		if open {
			dst = append(dst, '\n')
		}
		dst = append(dst, "Zero or negative curvature detected.\n"+
			"To increase curvature you can increase regularization or rescale features.\n"+
			"It is also possible that you have reached numerical accuracy\n"+
			"and further decrease in the objective cannot be reliably detected.\n"...)
	case PassLimit:
		dst = append(dst, "Maximum number of passes reached. "...)
		if semantics == VW9 {
			return append(dst, "To optimize further, increase the number of passes\n"...)
		}
		dst = append(dst, "If you want to optimize further, increase the number of passes\n"...)
	}
	return dst
}
