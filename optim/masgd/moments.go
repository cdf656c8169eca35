// SPDX-License-Identifier: Apache-2.0

package masgd

import (
	"errors"
	"fmt"
	"math"
	"math/bits"
	"math/rand/v2"
	"strconv"
	"strings"

	"github.com/gvw-project/gvw/internal/fmath"
)

// Amount is a number of examples of a rank: a number, or a share of its examples. The zero value is none.
type Amount struct {
	N     int     // examples; 0: by Share
	Share float64 // of the examples of a rank, above 0 and at most 1; 0: by N
}

// ParseAmount parses a whole number of examples, a fraction such as 0.01, or "all".
func ParseAmount(s string) (Amount, error) {
	if s == "all" {
		return Amount{Share: 1}, nil
	}
	if n, err := strconv.Atoi(s); err == nil && n > 0 {
		return Amount{N: n}, nil
	}
	if x, err := strconv.ParseFloat(s, 64); err == nil && x > 0 && x < 1 {
		return Amount{Share: x}, nil
	}
	return Amount{}, fmt.Errorf("%q is neither a number of examples, like 1000, nor a fraction between 0 and 1, like 0.1, nor all", s)
}

// Of returns the number of examples, at least 1, of a rank that has n.
func (a Amount) Of(n float64) float64 {
	if a.N > 0 {
		return float64(a.N)
	}
	return max(1, math.Round(a.Share*n))
}

// Every selects the moments at which ranks average their weights. The zero value is the end of each pass.
type Every struct {
	Amount Amount  // examples between two moments; zero: by Random, or one moment a pass
	Random float64 // probability of averaging after a local step, above 0 and less than 1; 0: by Amount
}

// ParseEvery parses "pass", an amount as ParseAmount does, or "random:P".
func ParseEvery(s string) (e Every, err error) {
	if s == "pass" {
		return e, nil
	}
	if p, ok := strings.CutPrefix(s, "random:"); ok {
		if e.Random, err = strconv.ParseFloat(p, 64); err != nil || !(e.Random > 0 && e.Random < 1) {
			return Every{}, fmt.Errorf("random:%s: a probability between 0 and 1 is needed, like random:0.001", p)
		}
		return e, nil
	}
	if e.Amount, err = ParseAmount(s); err != nil {
		return e, errors.New(err.Error() + ", nor pass, nor random:P")
	}
	return e, nil
}

// Pass reports whether the only moments are the ends of passes.
func (e Every) Pass() bool { return e == Every{} }

// Rounds are the rounds of a pass. All ranks have the same number of rounds, whatever the sizes of their shards.
type Rounds struct {
	steps uint64   // length of the pass
	ends  []uint64 // ends of the rounds, in steps
}

// Limits of a pass. The last of maxRandom random rounds lasts until the end of the pass.
const (
	maxSteps  = 1 << 40
	maxRandom = 1 << 20
)

// Rounds returns the rounds of a pass. examples is the mean number of examples of a rank, batch that of a local
// step. A random pass has a coin for each step, which depends only on seed and on the number of the pass: all ranks
// get the same rounds.
func (e Every) Rounds(examples, batch float64, seed uint64, pass int) Rounds {
	switch {
	case e.Random > 0:
		return e.random(min(max(1, math.Ceil(examples/batch)), maxSteps), seed, pass)
	case e.Pass():
		return Even(1)
	case e.Amount.N == 0:
		// The number of rounds depends on the share only: 0.1 is ten rounds, also where the mean is no whole number.
		// There are at most as many rounds as examples.
		return Even(uint64(min(math.Ceil(1/e.Amount.Share), max(1, math.Ceil(examples)), maxSteps)))
	}
	return Even(uint64(min(max(1, math.Ceil(examples/float64(e.Amount.N))), maxSteps)))
}

// Even returns n rounds of equal length.
func Even(n uint64) Rounds { return Rounds{steps: n} }

// random flips the coins of a pass. The last round ends with the pass.
func (e Every) random(steps float64, seed uint64, pass int) Rounds {
	r := Rounds{steps: uint64(steps)}
	coin := rand.New(rand.NewPCG(seed, uint64(pass)))
	tails := fmath.Log1p(-e.Random)
	for at := uint64(0); ; {
		// The number of steps to the next head has a geometric distribution.
		u := 1 - coin.Float64() // above 0
		run := 1 + math.Floor(fmath.Log(u)/tails)
		if run >= float64(r.steps-at) || len(r.ends) == maxRandom-1 {
			r.ends = append(r.ends, r.steps)
			return r
		}
		at += uint64(run)
		r.ends = append(r.ends, at)
	}
}

// N returns the number of rounds.
func (r Rounds) N() int {
	if r.ends == nil {
		return int(r.steps)
	}
	return len(r.ends)
}

// End returns the number of examples that a rank with n examples has processed at the end of round i, from 0. The
// rounds divide the examples of every rank in the same proportions.
func (r Rounds) End(i, n int) int {
	end := uint64(i + 1)
	if r.ends != nil {
		end = r.ends[i]
	}
	hi, lo := bits.Mul64(uint64(n), end)
	q, _ := bits.Div64(hi, lo, r.steps)
	return int(q)
}
