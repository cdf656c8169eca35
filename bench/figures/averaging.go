// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"errors"
	"fmt"
	"math"
	"sort"
	"strconv"
	"strings"

	"github.com/gvw-project/gvw/bench/internal/setup"
)

const (
	// near is the distance from the optimum at which rounds are counted.
	near = 0.01
	// averagedPasses is the number of passes of SendModel, batchPasses that of the batch solvers.
	averagedPasses, batchPasses = 60, 40
	// mostPasses limits the passes of SendGradient, and mostRounds its rounds in the search of its settings.
	mostPasses, mostRounds = 300, 540
)

// curve is the objective of one system.
type curve struct {
	name   string
	about  string // its settings and what it has taken
	points []moment
}

// moment is the state of a training after some rounds.
type moment struct {
	rounds  int
	seconds float64
	value   float64 // objective
}

// averagesOf returns the experiment that compares model averaging on a data set with sums of gradients and with batch
// solvers (Guo et al., Fig. 4 to 6).
func averagesOf(name string) func(ctx context.Context, data string) ([]figure, error) {
	return func(ctx context.Context, data string) (figures []figure, err error) {
		j, end, err := newJobs(ctx)
		if err != nil {
			return nil, err
		}
		defer func() { err = errors.Join(err, end()) }()
		p, err := newProblem(data, name)
		if err != nil {
			return nil, err
		}
		curves, optimum, rate, err := p.measure(ctx, j)
		if err != nil {
			return nil, err
		}
		return p.draw(curves, optimum, rate), nil
	}
}

// measure trains with all systems. rate is that of the network links of the jobs, "" for the loopback.
func (p *problem) measure(ctx context.Context, j *jobs) (curves []curve, optimum float64, rate string, err error) {
	if err := p.write(j.path(p.Name + ".vw")); err != nil {
		return nil, 0, "", err
	}
	if p.links {
		if why := linksWork(ctx); why != nil {
			fmt.Printf("%s: on the loopback, since there are no network links: %v\n", p.Name, why)
		} else {
			rate = gigabit
		}
	}
	o, err := j.run(ctx, "", p.args(j, "--bfgs", "--passes", "400", "--termination", "0", "--l2", p.sumL2())...)
	if err != nil {
		return nil, 0, rate, err
	}
	if optimum, err = p.objectiveOf(j.path("model")); err != nil {
		return nil, 0, rate, err
	}
	fmt.Printf("%v: optimum %.6f after %d passes of L-BFGS\n", p, optimum, len(o.seconds)-1)
	for _, share := range []float64{0.1, 1} {
		c, err := p.sendGradient(ctx, j, rate, share, optimum)
		if err != nil {
			return nil, 0, rate, err
		}
		curves = append(curves, c)
	}
	more, err := p.sendModels(ctx, j, rate, optimum)
	if err != nil {
		return nil, 0, rate, err
	}
	curves = append(curves, more...)
	for _, s := range []struct {
		name    string
		options []string
	}{
		{"L-BFGS", []string{"--bfgs", "--passes", strconv.Itoa(batchPasses)}},
		{"hybrid", []string{"--hybrid", fmt.Sprintf("1:%d", batchPasses), "--sgd_l2", number64(p.Lambda)}},
		{"GIANT", []string{"--hybrid", fmt.Sprintf("1:%d", 3*batchPasses/2), "--sgd_l2", number64(p.Lambda), "--solver", "giant"}},
	} {
		o, err := j.run(ctx, rate, p.args(j, append(s.options, "--termination", "0", "--l2", p.sumL2())...)...)
		if err != nil {
			return nil, 0, rate, err
		}
		curves = append(curves, p.batchCurve(s.name, o))
	}
	return curves, optimum, rate, nil
}

// args returns the options of a job with more of them.
func (p *problem) args(j *jobs, more ...string) []string {
	return append([]string{
		"-d", p.file, "--cache_file", j.path(p.Name + ".cache.{rank}"), "-b", strconv.Itoa(p.bits()), "--noconstant", "--loss_function", "logistic",
		"--holdout_off", "--shm", "off", "-f", j.path("model"),
	}, more...)
}

// sumL2 returns --l2 of a batch solver, which regularises the sum of the losses.
func (p *problem) sumL2() string { return number64(p.Lambda * float64(len(p.Examples))) }

func number64(x float64) string { return strconv.FormatFloat(x, 'g', -1, 64) }

// sendGradient searches the rate of SendGradient for a share of the examples in a batch, and trains with it.
func (p *problem) sendGradient(ctx context.Context, j *jobs, rate string, share, optimum float64) (curve, error) {
	best, err := p.search(optimum+near, []float64{1, 3, 10, 30, 100}, []float64{0, 0.5}, share, mostRounds)
	if err != nil {
		return curve{}, err
	}
	rounds := best.rounds
	if rounds == 0 {
		rounds = mostRounds
	}
	per := int(math.Round(1 / share))
	passes := min(mostPasses, 2*((rounds+per-1)/per)+5)
	o, err := j.run(ctx, rate, p.args(j, "--aggregate", "gradient", "--batch", batchOption(share), "-l", number64(best.rate), "--power_t", number64(best.power),
		"--l2", number64(p.Lambda), "--passes", strconv.Itoa(passes), "--save_per_pass")...)
	if err != nil {
		return curve{}, err
	}
	c := curve{
		name:  fmt.Sprintf("SendGradient, batches of %g", share),
		about: fmt.Sprintf("%v, best of %d settings, %.3g s CPU a rank for %d rounds", best.setting, best.tried, o.cpu, passes*per),
	}
	err = p.saved(j, &c, o, per, optimum+near)
	return c, err
}

// batchOption returns --batch for a share of the examples. 1 would be one example.
func batchOption(share float64) string {
	if share == 1 {
		return "all"
	}
	return number64(share)
}

// saved adds the models after each pass, or after some of many passes, and the first one at the goal. per is the number
// of rounds of a pass.
func (p *problem) saved(j *jobs, c *curve, o outcome, per int, goal float64) (err error) {
	value := func(pass int) float64 {
		v, verr := p.objectiveOf(j.path("model." + strconv.Itoa(pass)))
		err = errors.Join(err, verr)
		return v
	}
	passes := len(o.seconds) - 1
	first := 1 + sort.Search(passes, func(i int) bool { return value(i+1) <= goal })
	for pass, next := 1, 1; pass <= passes && err == nil; pass++ {
		if pass == next || pass == first {
			c.points = append(c.points, moment{pass * per, o.seconds[pass], value(pass)})
		}
		if pass == next {
			next += max(1, pass/15)
		}
	}
	return err
}

// sendModels searches the rate of SendModel, and trains with both ways of averaging.
func (p *problem) sendModels(ctx context.Context, j *jobs, rate string, optimum float64) (curves []curve, err error) {
	best, err := p.search(optimum+near, []float64{0.3, 1, 3, 10, 30}, []float64{0, 0.25, 0.5}, 0, averagedPasses)
	if err != nil {
		return nil, err
	}
	for _, way := range []struct {
		name    string
		options []string
	}{
		{"SendModel, tree", []string{"--aggregate", "model", "--schedule", "tree"}},
		{"SendModel, reduce-scatter", []string{"--aggregate", "model"}},
	} {
		o, err := j.run(ctx, rate, p.args(j, append(way.options, "--sgd", "-l", number64(best.rate), "--power_t", number64(best.power),
			"--l2", number64(p.Lambda), "--passes", strconv.Itoa(averagedPasses), "--save_per_pass")...)...)
		if err != nil {
			return nil, err
		}
		c := curve{name: way.name, about: fmt.Sprintf("%v, best of %d settings, %.3g s CPU a rank for %d rounds", best.setting, best.tried, o.cpu, averagedPasses)}
		if err := p.saved(j, &c, o, 1, optimum+near); err != nil {
			return nil, err
		}
		curves = append(curves, c)
	}
	return curves, nil
}

// batchCurve returns the objective of a batch solver by its trace. The objective in a row is that of the weights that
// the vectors before have made. A row of GIANT is every third request, of which two exchange a vector, and the third
// one exchanges nine numbers.
func (p *problem) batchCurve(name string, o outcome) curve {
	c := curve{name: name, about: fmt.Sprintf("%.3g s CPU a rank", o.cpu)}
	requests, values := o.trace()
	online := 0 // rounds and passes of SGD
	if name != "L-BFGS" {
		online = 1
	}
	for i, request := range requests {
		vectors, pass := request-1, request-1
		if name == "GIANT" {
			vectors, pass = 2*i, i
		}
		if pass += online; pass < len(o.seconds) {
			c.points = append(c.points, moment{vectors + online, o.seconds[pass], values[i]})
		}
	}
	return c
}

// reach returns the first moment at which the objective is at most a goal.
func (c *curve) reach(goal float64) (moment, bool) {
	for _, m := range c.points {
		if m.value <= goal {
			return m, true
		}
	}
	return moment{}, false
}

// draw returns the figures of a problem: objective by rounds and by seconds.
func (p *problem) draw(curves []curve, optimum float64, rate string) []figure {
	network := "loopback"
	if rate != "" {
		network = "links of " + rate + "/s"
	}
	notes := fmt.Sprintf("%v; %d ranks, %s, %s; optimum %.6f", p, ranks, network, setup.Machine(), optimum)
	rounds := figure{
		Name: "averaging-rounds-" + p.Name, Title: "Objective by rounds, " + p.Name, X: "rounds", Y: "objective above the optimum", LogX: true, LogY: true,
		Notes: notes,
	}
	seconds := rounds
	seconds.Name, seconds.Title, seconds.X = "averaging-seconds-"+p.Name, "Objective by seconds, "+p.Name, "seconds since the start of rank 0"
	var texts []string
	for _, c := range curves {
		byRounds, bySeconds := line{Name: c.name}, line{Name: c.name}
		best := math.Inf(1)
		for _, m := range c.points {
			if above := m.value - optimum; m.value < best && above > 1e-5 && m.rounds > 0 {
				best = m.value
				byRounds.Points = append(byRounds.Points, point{X: float64(m.rounds), Y: above})
				bySeconds.Points = append(bySeconds.Points, point{X: m.seconds, Y: above})
			}
		}
		if len(byRounds.Points) > 0 {
			rounds.Lines, seconds.Lines = append(rounds.Lines, byRounds), append(seconds.Lines, bySeconds)
		}
		text := "not reached"
		if m, ok := c.reach(optimum + near); ok {
			text = fmt.Sprintf("%.3g s", m.seconds)
		}
		texts = append(texts, fmt.Sprintf("%s: %s (%s)", c.name, text, c.about))
	}
	seconds.Notes += fmt.Sprintf("; to %g above the optimum: %s", near, strings.Join(texts, "; "))
	return []figure{rounds, seconds}
}
