// SPDX-License-Identifier: Apache-2.0

// Command picks makes the table of allreduce/schedule/measured.go, from which auto chooses
// where few ranks may share a host, of what gvw bench allreduce has measured there.
//
//	for i in 1 2 3; do for n in 2 3 4 5 6 7 8; do
//		gvw bench allreduce -n $n --checksum off --schedule all --sizes … --json
//		echo
//	done; done | go run ./bench/picks -within 1.08
//
// An empty line ends a run. Within a run and size, times count by their ratio to the
// geometric mean of all schedules, so that a run on a slow afternoon weighs as much as any
// other; a schedule's time is the mean over the runs.
package main

import (
	"bufio"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"maps"
	"math"
	"os"
	"slices"
	"strings"

	"github.com/gvw-project/gvw/allreduce/schedule"
	"github.com/gvw-project/gvw/bench/collective"
)

func main() {
	within := flag.Float64("within", 1.08, "a schedule is good up to so many times the time of the best")
	flag.Parse()
	if err := run(os.Stdin, os.Stdout, *within); err != nil {
		fmt.Fprintln(os.Stderr, "picks:", err)
		os.Exit(1)
	}
}

// place is the key of the choice: a size and a number of ranks.
type place struct{ bytes, ranks int }

// times are those of all schedules for one key, in any unit.
type times map[schedule.Name]float64

func run(in io.Reader, out io.Writer, within float64) error {
	sums, counts := map[place]times{}, map[place]map[schedule.Name]int{}
	one := map[place]times{}
	end := func() {
		for at, ts := range one {
			if sums[at] == nil {
				sums[at], counts[at] = times{}, map[schedule.Name]int{}
			}
			mean := 0.0
			for _, t := range ts {
				mean += math.Log(t) / float64(len(ts))
			}
			for name, t := range ts {
				sums[at][name] += math.Log(t) - mean
				counts[at][name]++
			}
		}
		clear(one)
	}
	lines := bufio.NewScanner(in)
	for lines.Scan() {
		if strings.TrimSpace(lines.Text()) == "" {
			end()
			continue
		}
		var f collective.Figure
		if err := json.Unmarshal(lines.Bytes(), &f); err != nil {
			return fmt.Errorf("%w in %s", err, lines.Text())
		}
		name, err := schedule.ParseName(f.Schedule)
		if err != nil || name == schedule.Auto || name == schedule.VWTree || f.System != "gvw" {
			continue // auto only selects another schedule, and vw's tree is only for comparison
		}
		at := place{f.Bytes, f.N}
		if one[at] == nil {
			one[at] = times{}
		}
		one[at][name] = f.MedianUS
	}
	end()
	if err := lines.Err(); err != nil {
		return err
	}
	for at, ts := range sums {
		for name := range ts {
			ts[name] = math.Exp(ts[name] / float64(counts[at][name]))
		}
	}
	return write(out, sums, within)
}

// write writes a table row for each size, followed by its ratios to the best.
func write(out io.Writer, all map[place]times, within float64) error {
	bySize := map[int][]place{}
	for at := range all {
		bySize[at.bytes] = append(bySize[at.bytes], at)
	}
	for _, bytes := range slices.Sorted(maps.Keys(bySize)) {
		places := bySize[bytes]
		slices.SortFunc(places, func(a, b place) int { return a.ranks - b.ranks })
		var good, ratios []string
		for _, at := range places {
			ts := all[at]
			best := slices.Min(slices.Collect(maps.Values(ts)))
			letters, text := "", fmt.Sprint(at.ranks, " ranks:")
			for _, name := range schedule.Names {
				t, ok := ts[name]
				if !ok {
					continue
				}
				if t <= within*best {
					letters += string(name.Letter())
				}
				text += fmt.Sprintf(" %v %.2f", name, t/best)
			}
			good, ratios = append(good, fmt.Sprintf("%q", letters)), append(ratios, text)
		}
		if _, err := fmt.Fprintf(out, "{%d, [...]string{%s}},\n\t// %s\n", bytes, strings.Join(good, ", "), strings.Join(ratios, "\n\t// ")); err != nil {
			return err
		}
	}
	return nil
}
