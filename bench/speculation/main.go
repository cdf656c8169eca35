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
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	var err error
	if order, ok := isAttempt(os.Args[1:]); ok {
		err = attemptProcess(ctx, order, os.Stdin, os.Stdout)
	} else {
		err = bench(ctx, os.Args[1:], os.Stdout, os.Stderr)
	}
	stop()
	switch {
	case errors.Is(err, flag.ErrHelp):
	case err != nil:
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// bench runs the experiment that the arguments describe, and prints its table.
func bench(ctx context.Context, args []string, stdout, stderr io.Writer) error {
	cfg := Config{}.withDefaults()
	flags := flag.NewFlagSet("speculation", flag.ContinueOnError)
	flags.SetOutput(stderr)
	flags.IntVar(&cfg.Ranks, "ranks", cfg.Ranks, "ranks of the job")
	flags.IntVar(&cfg.Passes, "passes", cfg.Passes, "passes of each of the two runs")
	flags.DurationVar(&cfg.Pass, "pass", cfg.Pass, "time of a healthy rank's pass")
	flags.Float64Var(&cfg.Slow, "slow", cfg.Slow, "share of slow ranks, up to a third")
	flags.Float64Var(&cfg.Factor, "factor", cfg.Factor, "factor by which they are slower")
	flags.DurationVar(&cfg.Within, "within", cfg.Within, "refuse runs that may take longer")
	flags.BoolVar(&cfg.Processes, "processes", false, "each attempt is a process, and GVW_FAULT slows the slow ranks")
	flags.Uint64Var(&cfg.Seed, "seed", cfg.Seed, "draws the slow ranks")
	if err := flags.Parse(args); err != nil {
		return err
	}
	if flags.NArg() > 0 {
		return fmt.Errorf("speculation: got the argument %q, want only options", flags.Arg(0))
	}
	r, err := Run(ctx, cfg)
	if err != nil {
		return err
	}
	return r.WriteTable(stdout)
}
