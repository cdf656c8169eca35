// SPDX-License-Identifier: Apache-2.0

// Command start measures how long a process of gvw takes from its start to its end, beside a Go
// program that prints one word.
//
//	go run ./bench/start -rounds 50
//
// The programs take turns. For each the median and the quartiles of the wall time are printed,
// the median of the processor time, and the ratios to the other program.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"slices"
	"time"

	"github.com/gvw-project/gvw/bench/internal/cost"
	"github.com/gvw-project/gvw/bench/internal/setup"
)

func main() {
	rounds := flag.Int("rounds", 50, "how often each program is started, after one start that does not count; at least 1")
	other := flag.String("other", "", "another gvw to measure, such as that of an earlier commit; empty: none")
	lines := flag.Bool("json", false, "print a JSON object for each start instead of the table")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := bench(ctx, max(*rounds, 1), *other, *lines, os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "start:", err)
		os.Exit(1)
	}
}

// hello is the program that the others are compared with.
const hello = "package main\n\nimport \"fmt\"\n\nfunc main() { fmt.Println(\"hello\") }\n"

// contender is a command line that is measured.
type contender struct {
	name      string
	args      []string
	wall, cpu []time.Duration // of each round
}

func bench(ctx context.Context, rounds int, other string, lines bool, w io.Writer) (err error) {
	dir, err := os.MkdirTemp("", "gvw-bench-")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	all, err := contenders(ctx, dir, other)
	if err != nil {
		return err
	}
	before := setup.Machine()
	for round := range rounds + 1 {
		for _, c := range all {
			if err := c.start(ctx, dir, round > 0); err != nil {
				return err
			}
		}
	}
	if lines {
		for _, c := range all {
			for i := range c.wall {
				one := cost.Sample{Wall: c.wall[i].Seconds(), CPU: c.cpu[i].Seconds()}
				if err := cost.WriteLines(w, "start", c.name, 0, one); err != nil {
					return err
				}
			}
		}
		return nil
	}
	fmt.Fprintf(w, "%d starts each, %s before and %s after\n", rounds, before, setup.Machine())
	fmt.Fprintf(w, "%-34s %8s %17s %8s %7s %7s\n", "", "wall ms", "quartiles", "CPU ms", "× wall", "× CPU")
	for _, c := range all {
		slices.Sort(c.wall)
		slices.Sort(c.cpu)
		wall, cpu := middle(c.wall, 2), middle(c.cpu, 2)
		fmt.Fprintf(w, "%-34s %8.2f %8.2f-%8.2f %8.2f %7.1f %7.1f\n", c.name, wall, middle(c.wall, 1), middle(c.wall, 3), cpu,
			wall/middle(all[0].wall, 2), cpu/middle(all[0].cpu, 2))
	}
	return nil
}

// contenders builds the programs and returns what is measured, hello first.
func contenders(ctx context.Context, dir, other string) ([]*contender, error) {
	source, data, greeter := filepath.Join(dir, "hello.go"), filepath.Join(dir, "one.vw"), filepath.Join(dir, "hello")
	err := errors.Join(os.WriteFile(source, []byte(hello), 0o600), os.WriteFile(data, []byte("1 | a b\n"), 0o600))
	if err != nil {
		return nil, err
	}
	if err := setup.BuildTo(ctx, greeter, source); err != nil {
		return nil, err
	}
	bin, err := setup.Build(ctx, dir, "gvw")
	if err != nil {
		return nil, err
	}
	all := []*contender{{name: "hello", args: []string{greeter}}}
	for _, program := range []struct{ name, bin string }{{"gvw", bin}, {"other gvw", other}} {
		if program.bin == "" {
			continue
		}
		// The difference between four ranks and two is the cost of two further ranks.
		for _, args := range [][]string{
			{"--version"},
			{"-d", data, "--quiet"},
			{"run", "-n", "2", "--", program.bin, "-d", data, "--quiet"},
			{"run", "-n", "4", "--", program.bin, "-d", data, "--quiet"},
		} {
			name := program.name + " " + args[0]
			switch args[0] {
			case "-d":
				name = program.name + ", one example"
			case "run":
				name += " -n " + args[2] + ", one example"
			}
			all = append(all, &contender{name: name, args: append([]string{program.bin}, args...)})
		}
	}
	return all, nil
}

// start runs the program once, and keeps its times if it counts.
func (c *contender) start(ctx context.Context, dir string, counts bool) error {
	cmd := exec.CommandContext(ctx, c.args[0], c.args[1:]...)
	cmd.Dir = dir
	begun := time.Now()
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("%s: %w\n%s", c.name, err, out)
	}
	if counts {
		c.wall = append(c.wall, time.Since(begun))
		c.cpu = append(c.cpu, cmd.ProcessState.UserTime()+cmd.ProcessState.SystemTime())
	}
	return nil
}

// middle returns quartile q of sorted times, in milliseconds; the second is the median.
func middle(sorted []time.Duration, q int) float64 {
	return float64(sorted[(len(sorted)-1)*q/4]) / float64(time.Millisecond)
}
