// SPDX-License-Identifier: Apache-2.0

package main

import (
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"
)

// plan has the settings that are chosen for each system, on a part of the training documents.
type plan struct {
	batch   int     // documents of a batch; 0: all
	kappa   float64 // exponent of the decay of the rate
	epsilon float64 // of gvw and vw: change at which a document is done
}

func (p plan) String() string {
	batch := "one batch"
	if p.batch > 0 {
		batch = fmt.Sprintf("batches of %d", p.batch)
	}
	return fmt.Sprintf("%s, rate (τ+t)^-%g, epsilon %g", batch, p.kappa, p.epsilon)
}

// parsePlan reads the settings of -plan.
func parsePlan(text string) (*plan, error) {
	parts := strings.Split(text, ",")
	if len(parts) != 3 {
		return nil, fmt.Errorf("got %d values, want DOCUMENTS,KAPPA,EPSILON", len(parts))
	}
	var p plan
	var errs [3]error
	p.batch, errs[0] = strconv.Atoi(parts[0])
	p.kappa, errs[1] = strconv.ParseFloat(parts[1], 64)
	p.epsilon, errs[2] = strconv.ParseFloat(parts[2], 64)
	return &p, errors.Join(errs[:]...)
}

// documents returns the size of a batch in a collection of n.
func (p plan) documents(n int) int {
	if p.batch == 0 {
		return n
	}
	return p.batch
}

// plans returns the settings from which those of a system are chosen. A Gibbs sampler has none.
func plans(system string) (all []plan) {
	epsilons := []float64{0.001}
	switch system {
	case "tomotopy":
		return []plan{{}}
	case "gvw", "vw":
		epsilons = []float64{0.001, 0.03}
	}
	for _, p := range []plan{{batch: 256, kappa: 0.7}, {batch: 256, kappa: 0.5}, {batch: 1024, kappa: 0.5}, {batch: 4096, kappa: 0.5}, {}} {
		for _, p.epsilon = range epsilons {
			all = append(all, p)
		}
	}
	return all
}

// trials are the passes after which plans are compared.
var trials = []int{5, 10, 20, 40}

// choose returns the plan of a system that comes within 0.3 % of the best perplexity of all its plans in
// the least processor time, on a tenth of the training documents.
func (s *settings) choose(system string, fit *corpus, set set) (plan, error) {
	if system == "gvw" && s.own != nil {
		return *s.own, nil
	}
	candidates := plans(system)
	if len(candidates) == 1 {
		return candidates[0], nil
	}
	const near = 1.003
	best := math.Inf(1)
	var curves [][]*result
	for _, p := range candidates {
		curve, err := s.train(system, fit, set.topics, p, upTo(trials, s.most), 0)
		if err != nil {
			return plan{}, err
		}
		for _, r := range curve {
			best = min(best, r.perplexity)
		}
		curves = append(curves, curve)
	}
	chosen, least := plan{}, math.Inf(1)
	for i, curve := range curves {
		for _, r := range curve {
			if r.perplexity <= near*best && r.cpu < least {
				chosen, least = candidates[i], r.cpu
			}
		}
	}
	return chosen, nil
}

// upTo returns the numbers of passes that are at most most, or the first one.
func upTo(passes []int, most int) (few []int) {
	for i, n := range passes {
		if i == 0 || n <= most {
			few = append(few, n)
		}
	}
	return few
}
