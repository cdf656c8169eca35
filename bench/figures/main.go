// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"regexp"
	"time"

	fig "github.com/gvw-project/gvw/bench/internal/figure"
	"github.com/gvw-project/gvw/bench/internal/vectors"
)

// experiment measures the figures of one row.
type experiment struct {
	name    string
	data    bool // needs -data
	measure func(ctx context.Context, data string) ([]figure, error)
}

// skipped is the reason why an experiment is not measured.
type skipped string

func (s skipped) Error() string { return string(s) }

var experiments = []experiment{
	{"malt-bytes", false, vectors.GraphBytes},
	{"malt-passes", true, vectors.Passes},
	{"malt-straggler", true, vectors.SlowRank},
	{"malt-stalls", true, vectors.Stalls},
	{"malt-traffic", true, vectors.Traffic},
	{"malt-loss", true, vectors.LostRank},
	{"averaging-a9a", true, averagesOf("a9a")},
	{"averaging-kdd99", true, averagesOf("kdd99")},
	{"averaging-cocoa-text", true, averagesOf("cocoa-text")},
	{"averaging-rcv1-mini", true, averagesOf("rcv1-mini")},
	{"averaging-url-like", false, averagesOf("url-like")},
	{"averaging-spark", true, besideSpark},
	{"averaging-gantt", false, gantts},
	{"averaging-topics", true, topicAverages},
	{"search-a9a", true, searches},
	{"simulated-allreduce", false, simulatedAllReduce},
	{"prc-splice", true, precisionOf(spliceWindows)},
	{"prc-generated", false, precisionOf(drawnWindows)},
	{"speedup", false, speedUps},
	{"quantiles", false, slowHosts},
}

func main() {
	out := flag.String("out", "docs/figures", "the `directory` of the CSV files")
	data := flag.String("data", "", "the `directory` of the data sets; without it, figures that need none")
	only := flag.String("only", "", "measure experiments whose name matches the `regexp`")
	flag.StringVar(&sparkPython, "spark", "", "a `Python` with pyspark and numpy; without it, MLlib is not measured")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := run(ctx, *out, *data, *only, os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "figures:", err)
		os.Exit(1)
	}
}

// run measures the experiments that match and writes their files.
func run(ctx context.Context, out, data, only string, w io.Writer) error {
	wanted, err := regexp.Compile(only)
	if err != nil {
		return err
	}
	if err := os.MkdirAll(out, 0o755); err != nil {
		return err
	}
	ran := 0
	for _, e := range experiments {
		if !wanted.MatchString(e.name) {
			continue
		}
		ran++
		if e.data && data == "" {
			fmt.Fprintf(w, "%s: not measured: it needs -data\n", e.name)
			continue
		}
		start := time.Now()
		figures, err := e.measure(ctx, data)
		if why, ok := errors.AsType[skipped](err); ok {
			fmt.Fprintf(w, "%s: not measured: %v\n", e.name, why)
			continue
		}
		if err != nil {
			return fmt.Errorf("%s: %w", e.name, err)
		}
		command := "go run ./bench/figures -only " + e.name
		if e.data {
			command += " -data DIR"
		}
		if e.name == "averaging-spark" {
			command += " -spark PYTHON"
		}
		for _, f := range figures {
			f.Origin = fig.OriginOf(ctx, start)
			if err := f.Write(out, command); err != nil {
				return err
			}
			fmt.Fprintf(w, "%s: %s\n", f.Name, f.Notes)
		}
		fmt.Fprintf(w, "%s took %.1f s\n", e.name, time.Since(start).Seconds())
	}
	if ran == 0 {
		return errors.New("no experiment matches -only " + only)
	}
	if err := roundsTable(out); err != nil {
		return err
	}
	return fig.Index(out)
}
