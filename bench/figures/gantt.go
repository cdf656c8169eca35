// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strconv"

	"github.com/gvw-project/gvw/bench/internal/setup"
	"github.com/gvw-project/gvw/internal/timeline"
)

// ganttWays are the trainings whose timelines are drawn, with the number of the first round and of the rounds.
var ganttWays = []struct {
	name, title   string
	options       []string
	first, rounds int
}{
	{"gantt-gradient", "SendGradient: batches of 0.1", []string{"--aggregate", "gradient", "--batch", "0.1", "-l", "10", "--power_t", "0"}, 12, 4},
	{"gantt-tree", "SendModel: averages along a tree", []string{"--sgd", "--schedule", "tree", "-l", "0.5"}, 2, 4},
	{"gantt-scatter", "SendModel: averages by reduce-scatter and all-gather", []string{"--aggregate", "model", "--sgd", "-l", "0.5"}, 2, 4},
}

// gantts draws when ranks compute, communicate and wait (Guo et al., Fig. 2).
func gantts(ctx context.Context, _ string) (figures []figure, err error) {
	j, end, err := newJobs(ctx)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, end()) }()
	p := urlProblem(20_000, 1_000_000)
	if err := p.write(j.path(p.Name + ".vw")); err != nil {
		return nil, err
	}
	rate, network := gigabit, "links of "+gigabit+"/s"
	if why := linksWork(ctx); why != nil {
		fmt.Printf("gantt: on the loopback, since there are no network links: %v\n", why)
		rate, network = "", "loopback"
	}
	for _, way := range ganttWays {
		_, err := j.run(ctx, rate, p.args(j, append(way.options, "--l2", number64(p.Lambda), "--passes", "7", "--timeline", j.path("timeline.{rank}"))...)...)
		if err != nil {
			return nil, err
		}
		all, err := readTimelines(j.path("timeline."))
		if err != nil {
			return nil, err
		}
		f := figure{Name: way.name, Title: way.title, X: "ms", Kind: "spans"}
		for rank := range ranks {
			f.Rows = append(f.Rows, "rank "+strconv.Itoa(rank))
		}
		shares := gantt(&f, all, way.first, way.rounds)
		f.Notes = fmt.Sprintf("%v; a vector of %d floats; %d rounds of %d ranks, %s, %s; %s", &p, 1<<p.bits(), way.rounds, ranks, network, setup.Machine(), shares)
		figures = append(figures, f)
	}
	return figures, nil
}

// readTimelines reads the timelines of all ranks.
func readTimelines(prefix string) (all [ranks][]timeline.Span, err error) {
	for rank := range all {
		f, err := os.Open(prefix + strconv.Itoa(rank))
		if err != nil {
			return all, err
		}
		all[rank], err = timeline.Read(f)
		if err = errors.Join(err, f.Close()); err != nil {
			return all, err
		}
	}
	return all, nil
}

// gantt adds what the ranks do from the begin of one round of rank 0 to that of a later one. It returns the shares of
// the time of all ranks.
func gantt(f *figure, all [ranks][]timeline.Span, first, rounds int) string {
	var begins []int64
	for _, s := range all[0] {
		if s.Row == timeline.Steps && s.Name == timeline.Work {
			begins = append(begins, s.Began)
		}
	}
	first = min(first, len(begins)-1)
	from, to := begins[first], begins[min(first+rounds, len(begins)-1)]
	var sums [timeline.Parts]int64
	for rank, spans := range all {
		for part, in := range timeline.Split(spans, from, to) {
			name := timeline.PartNames[part]
			f.Add(name) // in this order, also if the first rank has none
			for _, s := range in {
				f.Add(name, point{X: float64(s.Lo-from) / 1e3, Y: float64(rank)}, point{X: float64(s.Hi-from) / 1e3, Y: float64(rank)})
			}
			sums[part] += in.Sum()
		}
	}
	text := "of the ranks' time"
	for i, name := range timeline.PartNames {
		text += fmt.Sprintf(", %s %.0f %%", name, 100*float64(sums[i])/float64(ranks*(to-from)))
	}
	f.Lines = slices.DeleteFunc(f.Lines, func(l line) bool { return len(l.Points) == 0 })
	return fmt.Sprintf("%.1f ms a round; %s", float64(to-from)/1e3/float64(rounds), text)
}
