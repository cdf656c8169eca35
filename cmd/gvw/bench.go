// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"strconv"
	"strings"

	"github.com/gvw-project/gvw/internal/cli"

	"github.com/gvw-project/gvw/bench/collective"
)

// catBench is the category of what gvw bench takes.
const catBench = "What to measure"

// benchFlags are the options of `gvw bench allreduce`.
var benchFlags = []*spec{
	{name: "ranks", short: "n", kind: integer, positive: true, max: 4096, category: catBench, arg: "N", def: "4", help: "processes that take part"},
	{name: "transport", kind: text, category: catBench, arg: "HOW", choices: collective.Transports, def: "tcp", help: "loopback sockets, shared memory, channels in one process, or an RDMA device"},
	{name: "sizes", kind: text, category: catBench, arg: "A,B,...", def: "4,65536,1048576,16777216", help: "bytes of a vector, multiples of 4"},
	{name: "schedule", kind: text, category: catBench, arg: "NAME", choices: append([]string{"all"}, collective.Schedules()...), def: "auto", help: "who sends what to whom; all: each in turn"},
	{name: "checksum", kind: text, category: catBench, arg: "on|off", choices: []string{"on", "off"}, def: "on", help: "CRC-32C of each chunk, as in training"},
	{name: "alloc", kind: boolean, category: catBench, help: "with --transport shm or verbs: vectors from allreduce.Alloc too"},
	{name: "secret", kind: boolean, category: catBench, help: "with a secret too, that is drawn for it"},
	{name: "tls", kind: boolean, category: catBench, help: "over TLS too, with certificates that are made for it"},
	{name: "rounds", kind: integer, positive: true, max: 1000, category: catBench, arg: "R", def: "3", help: "turns of each system"},
	{name: "per_size", kind: duration, category: catBench, arg: "T", def: "0.3s", help: "time for one size in one round"},
	{name: "peers", kind: boolean, category: catBench, help: "Open MPI, MPICH, XGBoost and vw beside ours"},
	{name: "python", kind: text, category: catBench, arg: "PROGRAM", def: "python3", help: "an interpreter with xgboost and vowpalwabbit"},
	{name: "netns", kind: boolean, category: catBench, help: "in a fresh network namespace (Linux)"},
	{name: "trace_dir", kind: text, category: catBench, arg: "DIR", help: "for execution traces of our ranks that wait for long"},
	{name: "json", kind: boolean, category: catBench, help: "one JSON object a line for each figure"},
	{name: "quiet", kind: boolean, category: catBench, help: "do not say whose turn it is"},
	{name: "help", short: "h", kind: boolean, category: catOther, help: "this page"},
}

// benchHelp is the help of gvw bench.
func benchHelp() string {
	var b strings.Builder
	b.WriteString("gvw bench allreduce measures sums of float32 over several processes of this\n" +
		"machine. Results are compared with the exact answer before and after.\n\n" +
		"  gvw bench allreduce -n 4 --sizes 4,65536\n" +
		"  gvw bench allreduce -n 4 --transport shm --schedule all\n" +
		"  gvw bench allreduce -n 4 --transport shm --alloc --peers\n" +
		"  gvw bench allreduce -n 4 --checksum off --peers --python .venv/bin/python\n")
	writeOptions(&b, benchFlags, true)
	return b.String()
}

// benchCommand is gvw bench: "allreduce", or "rank" in the processes which that
// one starts.
func (p *program) benchCommand(ctx context.Context, args []string) error {
	if len(args) == 2 && args[0] == "rank" {
		return collective.Serve(ctx, args[1], p.Stdout)
	}
	if len(args) == 0 || args[0] != "allreduce" {
		if len(args) > 0 && (args[0] == "--help" || args[0] == "-h") {
			return p.Print(benchHelp())
		}
		return cli.Usagef("gvw bench: what is to be measured? As in: gvw bench allreduce -n 4")
	}
	s, err := normalise(benchFlags, args[1:], p.Env, os.ReadFile)
	switch {
	case err != nil:
		return err
	case s.has("help"):
		return p.Print(benchHelp())
	case len(s.words)+len(s.rest) > 0:
		return cli.Usagef("gvw bench allreduce takes options only, but got %q", append(s.words, s.rest...)[0])
	case s.has("python") && !s.has("peers"):
		return cli.Usagef("--python would be ignored without --peers: only they are run by it")
	case s.get("transport") == "mem" && s.has("peers"):
		return cli.Usagef("--peers cannot go with --transport mem: no other system runs inside one process")
	case s.has("alloc") && s.get("transport") != "shm" && s.get("transport") != "verbs":
		return cli.Usagef("--alloc goes with --transport shm or verbs: it is about vectors in shared or registered memory")
	case hasAny(s, []string{"tls", "secret"}) && s.has("transport") && s.get("transport") != "tcp":
		return cli.Usagef("--tls and --secret go with --transport tcp: they are about what crosses a network")
	case s.has("secret") && s.get("checksum") == "off":
		return cli.Usagef("--secret does not go with --checksum off: its tags are in the place of the checksums")
	case s.get("transport") == "mem" && s.has("netns"):
		return cli.Usagef("--netns would be ignored with --transport mem: no socket is used")
	}
	if s.has("netns") {
		if !insideNamespace(p.Env) {
			return p.inNamespace(ctx)
		}
		if err := loopbackUp(); err != nil {
			return err
		}
	}
	return p.dispatch(ctx, s.args(), benchFlags, p.bench)
}

// bench measures and writes the figures to stdout.
func (p *program) bench(c *cli.Context) error {
	self, err := os.Executable()
	if err != nil {
		return fmt.Errorf("cannot find this program to start ranks: %w", err)
	}
	cfg := collective.Config{
		Ranks: 4, Transport: c.String("transport"), NoChecksum: c.String("checksum") == "off",
		Rounds: int(c.Uint64("rounds")), PerSize: c.Duration("per_size"),
		Self: []string{self, "bench", "rank"}, Peers: c.Bool("peers"), Alloc: c.Bool("alloc"), TLS: c.Bool("tls"), Secret: c.Bool("secret"), Python: c.String("python"),
		TraceDir: c.String("trace_dir"), Log: slog.New(slog.DiscardHandler),
	}
	if c.IsSet("ranks") {
		cfg.Ranks = int(c.Uint64("ranks"))
	}
	if cfg.Ranks < 2 {
		return cli.Usagef("-n %d: a single rank has nothing to send: give 2 or more", cfg.Ranks)
	}
	if cfg.Sizes, err = parseSizes(c.String("sizes")); err != nil {
		return err
	}
	switch name := c.String("schedule"); name {
	case "":
	case "all":
		cfg.Schedules = collective.Schedules()
	default:
		cfg.Schedules = []string{name}
	}
	if !c.Bool("quiet") {
		cfg.Log = p.Logger(slog.LevelInfo, false)
	}
	r, err := collective.Run(c.Context, cfg)
	if err != nil {
		return err
	}
	if c.Bool("json") {
		for _, a := range r.Absent {
			fmt.Fprintf(p.Stderr, "gvw bench: not measured: %s: %s\n", a.System, a.Why)
		}
		return r.WriteJSON(p.Stdout)
	}
	return r.WriteTable(p.Stdout)
}

// parseSizes reads 4,65536; nothing is the default.
func parseSizes(text string) ([]int, error) {
	if text == "" {
		return nil, nil
	}
	var sizes []int
	var errs []error
	for word := range strings.SplitSeq(text, ",") {
		n, err := strconv.Atoi(strings.TrimSpace(word))
		if err != nil || n < 4 || n%4 != 0 || n > 1<<30 {
			errs = append(errs, cli.Usagef("--sizes: %q is no multiple of 4 from 4 to %d", word, 1<<30))
			continue
		}
		sizes = append(sizes, n)
	}
	return sizes, errors.Join(errs...)
}
