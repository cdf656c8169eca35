// SPDX-License-Identifier: Apache-2.0

package programs

import (
	"context"
	"fmt"
	"math"
	"math/bits"
	"strings"

	"github.com/gvw-project/gvw/feature"
	"github.com/gvw-project/gvw/internal/cli"
	"github.com/gvw-project/gvw/learn/metric"
	"github.com/gvw-project/gvw/learn/svm"
)

// SVM runs gvw svm.
func SVM(ctx context.Context, p *cli.Process, c *cli.Command, args []string) error {
	return command(ctx, p, c, args, func(c *cli.Context) program {
		return &svmProgram{config: svm.Config{
			Size: 1 << number(c, "bit_precision", 18), Lambda: c.Float64("lambda"), T0: c.Float64("t0"), Average: c.Bool("average"),
		}, passes: passes(c)}
	})
}

// svmProgram is a support-vector machine as a command.
type svmProgram struct {
	svmShared
	config svm.Config
	passes int
	start  []float32 // weights of the model from which training continues; nil: none
	model  *svm.Model
	loss   float64
	sums   *metric.Sums
}

func (s *svmProgram) check() error { return s.config.Validate() }

// bits returns log2 of the number of weights.
func (s *svmProgram) bits() uint { return uint(bits.Len(uint(s.config.Size)) - 1) }

func (s *svmProgram) features() feature.Config { return feature.Config{Bits: s.bits()} }

func (s *svmProgram) modelOptions() []modelOption {
	c := s.config
	return []modelOption{{"bit_precision", s.bits()}, {"lambda", c.Lambda}, {"t0", c.T0}, {"average", c.Average}}
}

func (s *svmProgram) restore(data []byte) error {
	s.model = &svm.Model{}
	if err := s.model.UnmarshalBinary(data); err != nil {
		return err
	}
	s.config, s.start = s.model.Config(), s.model.Config().Weights
	return nil
}

func (s *svmProgram) observe(example) error { return nil }

// prepare finds the learning rate of a new model on a sample.
func (s *svmProgram) prepare(examples []example, mine int) error {
	if s.config.T0 == 0 {
		sample := make([]svm.Example, len(examples))
		for i := range sample {
			sample[i] = svmExample(examples[i])
		}
		var err error
		if s.config.T0, err = svm.Tune(s.config, sample); err != nil {
			return err
		}
	}
	if s.config.Average && s.passes > 1 {
		s.config.AverageFrom = s.config.Steps + mine // the first pass goes far
	}
	return nil
}

func (s *svmProgram) create() (err error) {
	if s.config.Weights == nil {
		s.config.Weights = make([]float32, s.config.Size)
	}
	copy(s.config.Weights, s.start)
	s.model, err = svm.New(s.config)
	return err
}

// svmExample returns an example as the learner takes it.
func svmExample(ex example) svm.Example {
	return svm.Example{Label: ex.Label, Weight: ex.Weight, Features: ex.features()}
}

func (s *svmProgram) update(ex example, _ int) float64 {
	e := svmExample(ex)
	margin := s.model.Update(e)
	if e.Label <= 0 {
		margin = -margin
	}
	return max(0, 1-margin)
}

func (s *svmProgram) finish() { s.model.Finish() }

func (s *svmProgram) encode(dst []byte) ([]byte, error) { return s.model.AppendBinary(dst) }

func (s *svmProgram) predict(ex example) float64 {
	margin := s.model.Predict(ex.features())
	if ex.Labeled() {
		if s.sums == nil {
			s.sums = metric.NewSums(metric.Set{metric.Accuracy, metric.AUC})
		}
		y := 1.0
		if ex.Label <= 0 {
			y = -1
		}
		s.loss += float64(float64(ex.Weight) * max(0, 1-y*margin))
		s.sums.Add(metric.Case{Label: ex.Label, Weight: ex.Weight, Score: float32(margin), Probability: float32(math.NaN())})
	}
	return margin
}

func (s *svmProgram) report() string {
	if s.sums == nil {
		return measures(nil)
	}
	return fmt.Sprintf("loss %.6f, %s", s.loss/s.sums.Weight(), measures(s.sums))
}

// measures returns the values of all measures; nil has no examples with labels.
func measures(s *metric.Sums) string {
	if s == nil {
		return "no labels"
	}
	var b strings.Builder
	for i, v := range s.Values() {
		if i > 0 {
			b.WriteString(", ")
		}
		fmt.Fprintf(&b, "%s %.6f", v.Name, v.Value)
	}
	return b.String()
}
