// SPDX-License-Identifier: Apache-2.0

package tools

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"strconv"
	"strings"

	"github.com/gvw-project/gvw/bench/collective"
	"github.com/gvw-project/gvw/internal/cli"
	"github.com/gvw-project/gvw/internal/files"
	"github.com/gvw-project/gvw/internal/joinflags"
)

// Bench runs gvw bench: "allreduce", or "rank" in the processes that "allreduce" starts, which
// users do not call.
func Bench(ctx context.Context, p *cli.Process, c *cli.Command, args []string) error {
	if len(args) == 2 && args[0] == "rank" {
		// args[1] is the task of the rank as JSON: see collective.Config.Self.
		return collective.Serve(ctx, args[1], p.Stdout)
	}
	if len(args) == 0 || args[0] != "allreduce" {
		if len(args) > 0 && (args[0] == "--help" || args[0] == "-h") {
			return p.Print(c.Sets[0].Page(true))
		}
		return cli.Usagef("gvw bench: the measurement is missing, as in: gvw bench allreduce -n 4")
	}
	s, err := c.Sets[0].Read(p, args[1:])
	if s == nil {
		return err
	}
	switch {
	// An option without effect would make the user read a figure as that of another setup.
	case s.Has("python") && !s.Has("peers"):
		return cli.Usagef("--python would be ignored without --peers: only peers run under it")
	case s.Get("transport") == "mem" && s.Has("peers"):
		return cli.Usagef("--peers cannot go with --transport mem: no other system runs inside one process")
	case s.Has("alloc") && s.Get("transport") != "shm" && s.Get("transport") != "verbs":
		return cli.Usagef("--alloc goes with --transport shm or verbs: it is about vectors in shared or registered memory")
	case joinflags.HasAny(s, []string{"tls", "secret"}) && s.Has("transport") && s.Get("transport") != "tcp":
		return cli.Usagef("--tls and --secret go with --transport tcp: they protect data on a network")
	case s.Has("secret") && s.Get("checksum") == "off":
		return cli.Usagef("--secret does not go with --checksum off: its tags replace the checksums")
	case s.Get("transport") == "mem" && s.Has("netns"):
		return cli.Usagef("--netns would be ignored with --transport mem: no socket is used")
	}
	if s.Has("netns") {
		// The command runs twice: this call starts the second one inside the namespace, where the
		// loopback interface is new and down.
		if !insideNamespace(p.Env) {
			return inNamespace(ctx, p)
		}
		if err := loopbackUp(); err != nil {
			return err
		}
	}
	return s.Dispatch(ctx, func(c *cli.Context) error { return bench(p, c) })
}

// bench measures and writes the figures to stdout.
func bench(p *cli.Process, c *cli.Context) error {
	self, err := os.Executable()
	if err != nil {
		return fmt.Errorf("cannot find this program to start ranks: %w", err)
	}
	cfg := collective.Config{
		Ranks: 4, Transport: c.String("transport"), NoChecksum: c.String("checksum") == "off",
		Rounds: int(c.Uint64("rounds")), PerSize: c.Duration("per_size"),
		Self: []string{self, "bench", "rank"}, Peers: c.Bool("peers"), Alloc: c.Bool("alloc"), TLS: c.Bool("tls"), Secret: c.Bool("secret"), Python: c.String("python"),
		TraceDir: files.LocalPath(c.String("trace_dir")), Log: slog.New(slog.DiscardHandler),
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
		// stdout has only figures. A peer that is missing must still be visible: the table lists it
		// by itself.
		for _, a := range r.Absent {
			fmt.Fprintf(p.Stderr, "gvw bench: not measured: %s: %s\n", a.System, a.Why)
		}
		return r.WriteJSON(p.Stdout)
	}
	return r.WriteTable(p.Stdout)
}

// parseSizes parses a list of sizes in bytes, such as 4,65536. It returns nil, which stands for
// the default, for an empty text. Elements are float32, so sizes are multiples of 4.
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
