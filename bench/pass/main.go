// SPDX-License-Identifier: Apache-2.0

// Command pass measures whole runs of a learner, gvw beside the real vw: interleaved runs,
// medians, ratios. A figure counts only if both programs report the same average loss.
//
//	go run ./bench/pass -vw "python -m vowpalwabbit" -runs 5 -data DIR
//	go run ./bench/pass -learners -vw "python -m vowpalwabbit" -runs 3
//	go run ./bench/pass -learners -vw "python -m vowpalwabbit" -runs 3 -data DIR
//
// The second command measures composed learners on data that it makes itself, and the third one also
// others, on pairs.vw (ratings with namespaces u and i) and dense.vw (labels -1 and 1) of DIR. For the
// first one DIR has sparse.vw and dense.vw; bench/README.md describes them. The vw of PyPI starts inside
// Python; what `--version` costs is measured in the same run and left out of the ratios marked net.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"strings"
	"text/tabwriter"

	"github.com/gvw-project/gvw/bench/internal/cost"
	"github.com/gvw-project/gvw/bench/internal/setup"
)

func main() {
	if err := bench(); err != nil {
		fmt.Fprintln(os.Stderr, "pass:", err)
		os.Exit(1)
	}
}

func bench() error {
	vw := flag.String("vw", "python3 -m vowpalwabbit", "command line that starts the real vw")
	gvw := flag.String("gvw", "", "gvw binary; empty: built from this tree")
	runs := flag.Int("runs", 5, "runs of each program per row")
	data := flag.String("data", "", "folder with sparse.vw and dense.vw")
	learners := flag.Bool("learners", false, "measure vw's composed learners, on data made for them, and with -data on pairs.vw and dense.vw")
	lines := flag.Bool("json", false, "print a JSON object for each run instead of the table")
	only := flag.String("only", "", "rows whose name has this in it")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if *data == "" && !*learners {
		return errors.New("-data: which folder has sparse.vw and dense.vw? See bench/README.md for how to make them")
	}
	dir, err := os.MkdirTemp("", "gvw-bench-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	if *gvw == "" {
		if *gvw, err = setup.Build(ctx, dir, "gvw"); err != nil {
			return err
		}
	}
	b := &comparison{
		dir: dir, runs: *runs,
		programs: [2]program{{"vw", strings.Fields(*vw)}, {"gvw", []string{*gvw}}},
	}
	if b.start, err = b.begin(ctx); err != nil {
		return err
	}
	rows := composed(*data, dir)
	if *learners {
		if err := made(dir); err != nil {
			return err
		}
	}
	if b.tolerance = 1e-3; !*learners { // rounding adds up in products of weights
		b.tolerance = 1e-4
		if rows, err = works(*data, dir); err != nil {
			return err
		}
	}
	var table io.Writer = os.Stdout
	if *lines {
		table = io.Discard
	}
	fmt.Fprintf(table, "%s, %d runs each, medians; starting vw takes %.2f s wall, %.2f s CPU\n",
		setup.Machine(), *runs, b.start.Wall, b.start.CPU)
	t := tabwriter.NewWriter(table, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(t, "work\tvw wall\tCPU\tMB\tgvw wall\tCPU\tMB\tgvw/vw wall\tnet\tCPU\tnet\tmemory\t")
	for _, w := range rows {
		if !strings.Contains(w.name, *only) {
			continue
		}
		ofVW, ofGVW, err := b.row(ctx, w)
		if err != nil {
			return errors.Join(t.Flush(), err)
		}
		if *lines {
			err := errors.Join(cost.WriteLines(os.Stdout, w.name, "vw", 0, ofVW...), cost.WriteLines(os.Stdout, w.name, "gvw", 0, ofGVW...))
			if err != nil {
				return err
			}
		}
		vw, gvw := cost.Median(ofVW), cost.Median(ofGVW)
		s := b.start
		fmt.Fprintf(t, "%s\t%.2f\t%.2f\t%.0f\t%.2f\t%.2f\t%.0f\t%.2f\t%.2f\t%.2f\t%.2f\t%.2f\t\n", w.name,
			vw.Wall, vw.CPU, vw.Memory, gvw.Wall, gvw.CPU, gvw.Memory,
			gvw.Wall/vw.Wall, gvw.Wall/(vw.Wall-s.Wall), gvw.CPU/vw.CPU, gvw.CPU/(vw.CPU-s.CPU), gvw.Memory/vw.Memory)
	}
	return t.Flush()
}
