// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bufio"
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"os/exec"
	"regexp"
	"strconv"
	"strings"
	"time"
)

// train trains and measures the loss of the model on the test set.
func (b *bench) train(ctx context.Context, t trial) (o outcome, err error) {
	args := []string{
		"-d", b.path("train.vw"), "-c", "-b", "18", "--loss_function", "logistic", "--holdout_off", "-f", b.path("model"),
		"--passes", strconv.Itoa(t.passes), "-l", strconv.FormatFloat(t.rate, 'g', -1, 64),
	}
	args = append(args, strings.Fields(t.options)...)
	if t.ranks > 1 {
		args = append([]string{"run", "-n", strconv.Itoa(t.ranks), "--log_dir", b.path("logs"), "--"}, args...)
	}
	c := exec.CommandContext(ctx, b.gvw, args...)
	began := time.Now()
	if out, err := c.CombinedOutput(); err != nil {
		return o, fmt.Errorf("gvw %s: %w\n%s", strings.Join(args, " "), err, out)
	}
	o.wall, o.cpu = time.Since(began), c.ProcessState.UserTime()+c.ProcessState.SystemTime()
	text, err := b.output(ctx, "-d", b.path("test.vw"), "-c", "-t", "-i", b.path("model"), "--loss_function", "logistic")
	if err != nil {
		return o, err
	}
	m := averageLoss.FindStringSubmatch(text)
	if m == nil {
		return o, fmt.Errorf("no loss in\n%s", text)
	}
	o.loss, err = strconv.ParseFloat(m[1], 64)
	return o, err
}

// averageLoss is the loss in vw's summary.
var averageLoss = regexp.MustCompile(`(?m)^average loss = (\S+)$`)

// output returns what gvw writes.
func (b *bench) output(ctx context.Context, args ...string) (string, error) {
	out, err := exec.CommandContext(ctx, b.gvw, args...).CombinedOutput()
	if err != nil {
		return "", fmt.Errorf("gvw %s: %w\n%s", strings.Join(args, " "), err, out)
	}
	return string(out), nil
}

// dataset is a drawn data set of two classes: words with the skewed frequencies of texts, and labels by a logistic
// model.
type dataset struct {
	examples, features, names int
	seed                      uint64
}

// write writes the data set and a test set of a fifth of its size.
func (d *dataset) write(train, test string) error {
	rng := rand.New(rand.NewPCG(d.seed, 0))
	truth := make([]float64, d.names)
	for i := range truth {
		truth[i] = rng.NormFloat64()
	}
	if err := d.draw(train, d.examples, truth, rng); err != nil {
		return err
	}
	return d.draw(test, d.examples/5, truth, rng)
}

// draw writes n examples.
func (d *dataset) draw(name string, n int, truth []float64, rng *rand.Rand) error {
	f, err := os.Create(name)
	if err != nil {
		return err
	}
	w := bufio.NewWriter(f)
	indices := make([]int, d.features)
	for range n {
		score := 0.0
		for i := range indices {
			indices[i] = int(float64(d.names) * math.Pow(rng.Float64(), 3))
			score += truth[indices[i]]
		}
		label := -1
		if rng.Float64() < 1/(1+math.Exp(-2*score/math.Sqrt(float64(d.features)))) {
			label = 1
		}
		fmt.Fprintf(w, "%d |", label)
		for _, i := range indices {
			fmt.Fprintf(w, " f%d", i)
		}
		fmt.Fprintln(w)
	}
	if err := w.Flush(); err != nil {
		return err
	}
	return f.Close()
}
