// SPDX-License-Identifier: Apache-2.0

package lda

import (
	"errors"
	"fmt"
	"math"
)

// Config configures a Learner.
type Config struct {
	Topics int // number of topics K; at least 1
	Words  int // number of rows of λ, words with an index below it are known; at least 1

	Alpha      float64   // prior of a document's share of each topic; 0: 0.1
	Alphas     []float64 // priors by topic, above 0; nil: Alpha for each
	LearnAlpha bool      // learn the priors from the documents, beginning with these
	Eta        float64   // prior of a topic's share of each word (vw's --lda_rho); 0: 0.1
	Documents  float64   // documents of the whole collection, a pass or the stream; 0: 10000

	Epsilon    float64 // relative change of γ at which a document is done; 0: 0.001
	Iterations int     // most iterations over a document; 0: 1000

	LearningRate float64 // factor on ρ_t = LearningRate·(InitialT + t)^-PowerT for batch t = 1, 2, …, at most 1; 0: 0.5
	PowerT       float64 // exponent of the decay of ρ_t; 0: no decay
	InitialT     float64 // batches before the first one, for the decay; 0: none

	// Precise computes expectations in float64, by a digamma with cut 49. Otherwise float32 is
	// used, which is several times as fast and accurate to 1e-5.
	Precise bool
}

// Defaults of Config.
const (
	defaultAlpha, defaultEta = 0.1, 0.1
	defaultDocuments         = 10000
	defaultEpsilon           = 0.001
	defaultIterations        = 1000
	defaultRate              = 0.5
)

// MaxTopics is the largest number of topics.
const MaxTopics = 1 << 16

// withDefaults returns c with defaults for the fields at zero.
func (c Config) withDefaults() Config {
	for _, f := range []struct {
		field *float64
		value float64
	}{
		{&c.Alpha, defaultAlpha}, {&c.Eta, defaultEta}, {&c.Documents, defaultDocuments}, {&c.Epsilon, defaultEpsilon}, {&c.LearningRate, defaultRate},
	} {
		if *f.field == 0 {
			*f.field = f.value
		}
	}
	if c.Iterations == 0 {
		c.Iterations = defaultIterations
	}
	return c
}

// Validate reports every fault of the configuration.
func (c Config) Validate() error {
	var errs []error
	if c.Topics < 1 || c.Topics > MaxTopics {
		errs = append(errs, fmt.Errorf("lda: Topics is %d, want 1 to %d", c.Topics, MaxTopics))
	}
	if c.Words < 1 || c.Words > math.MaxUint32 {
		errs = append(errs, fmt.Errorf("lda: Words is %d, want 1 to %d", c.Words, uint32(math.MaxUint32)))
	}
	if n := len(c.Alphas); n != 0 && n != c.Topics {
		errs = append(errs, fmt.Errorf("lda: Alphas has %d numbers, want one for each of %d topics", n, c.Topics))
	}
	for k, a := range c.Alphas {
		if !(a > 0 && a <= math.MaxFloat32) {
			errs = append(errs, fmt.Errorf("lda: Alphas[%d] is %v, want a number above 0", k, a))
			break
		}
	}
	if c.Iterations < 0 {
		errs = append(errs, fmt.Errorf("lda: Iterations is %d, want 0 or more", c.Iterations))
	}
	for _, f := range []struct {
		name  string
		value float64
		most  float64
	}{
		{"Alpha", c.Alpha, math.MaxFloat32},
		{"Eta", c.Eta, math.MaxFloat32},
		{"Documents", c.Documents, math.MaxFloat32},
		{"Epsilon", c.Epsilon, math.MaxFloat32},
		{"LearningRate", c.LearningRate, 1},
		{"PowerT", c.PowerT, math.MaxFloat32},
		{"InitialT", c.InitialT, math.MaxFloat32},
	} {
		if !(f.value >= 0 && f.value <= f.most) {
			errs = append(errs, fmt.Errorf("lda: %s is %v, want 0 to %v", f.name, f.value, f.most))
		}
	}
	return errors.Join(errs...)
}
