// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"

	"github.com/gvw-project/gvw/internal/cli"

	"github.com/gvw-project/gvw/allreduce"
	"github.com/gvw-project/gvw/allreduce/pipe"
	"github.com/gvw-project/gvw/internal/spantree/protocol"
)

// catReduce is the category of what gvw allreduce does.
const catReduce = "Reduction"

// allreduceFlags are the options of `gvw allreduce`.
var allreduceFlags = append([]*spec{
	{name: "op", kind: text, category: catReduce, arg: "OP", choices: pipe.Ops, help: "what becomes of the vectors"},
	{name: "type", kind: text, category: catReduce, arg: "TYPE", choices: pipe.Types, def: "f64", help: "of the elements; text is for gather"},
	{name: "frames", kind: boolean, category: catReduce, help: "length-prefixed binary vectors, not lines"},
	{name: "quiet", kind: boolean, category: catReduce, help: "no talk but errors"},
}, append(clusterFlags("shard", "run_dir", "on_loss", "replace_timeout", "slow_factor", "checkpoint", "checkpoint_every", "resume", "elastic"), &spec{name: "help", short: "h", kind: boolean, category: catOther, help: "this page"})...)

// clusterFlags are the learner's options of the cluster, but some.
func clusterFlags(but ...string) []*spec {
	var out []*spec
	for _, s := range learnFlags {
		leave := s.category != catCluster
		for _, name := range but {
			leave = leave || s.name == name
		}
		if !leave {
			out = append(out, s)
		}
	}
	return out
}

// allreduceHelp is the help of gvw allreduce.
func allreduceHelp() string {
	var b strings.Builder
	b.WriteString("gvw allreduce reads vectors from stdin, one a line, and writes for each the\n" +
		"reduction over all ranks of a job, the same on all of them.\n\n" +
		"  wc -l < part | gvw allreduce --op sum --type i64 \\\n" +
		"      --span_server gateway --unique_id 7 --total 4 --node 2\n")
	writeOptions(&b, allreduceFlags, true)
	b.WriteString("\nWithout cluster options it is a job of one rank. Frames are 8 bytes, the length in\n" +
		"bytes, then the elements, all little-endian. docs/allreduce.md has examples.\n")
	return b.String()
}

// allreduceCommand is gvw allreduce.
func (p *program) allreduceCommand(ctx context.Context, args []string) error {
	s, err := normalise(allreduceFlags, args, p.Env, os.ReadFile)
	switch {
	case err != nil:
		return err
	case s.has("help"):
		return p.Print(allreduceHelp())
	case len(s.words)+len(s.rest) > 0:
		return cli.Usagef("gvw allreduce reads stdin and takes no file, but got %q: write < FILE", append(s.words, s.rest...)[0])
	case !s.has("op"):
		return cli.Usagef("gvw allreduce: --op is missing: one of %s", strings.Join(pipe.Ops, ", "))
	}
	if err := errors.Join(checkCluster(s)...); err != nil {
		return err
	}
	return p.dispatch(ctx, s.args(), allreduceFlags, p.allreduce)
}

// allreduce joins the job and reduces stdin to stdout.
func (p *program) allreduce(c *cli.Context) (err error) {
	ctx := c.Context
	cfg := pipe.Config{Op: c.String("op"), Type: c.String("type"), Frames: c.Bool("frames")}
	if err := cfg.Validate(); err != nil {
		return cli.Usagef("%s", strings.ReplaceAll(err.Error(), "pipe: Type:", "--type:"))
	}
	g, err := p.joinGroup(c, fmt.Sprintf("allreduce --op %s --type %s --frames=%v", cfg.Op, cfg.Type, cfg.Frames))
	if err != nil {
		return err
	}
	defer func() {
		if cerr := g.Close(); err == nil {
			err = cerr
		}
	}()
	if err := g.Ready(ctx, protocol.Shard{}); err != nil {
		return err
	}
	digest, err := pipe.Run(ctx, g, cfg, p.Stdin, p.Stdout)
	if err != nil {
		g.Fail(context.WithoutCancel(ctx), err)
		return err
	}
	return g.Finish(ctx, digest, nil, nil)
}

// joinGroup joins the job that the cluster options name, or makes one of a single
// rank. options is what all ranks must agree on.
func (p *program) joinGroup(c *cli.Context, options string) (*allreduce.Group, error) {
	at, isRank, err := place(c)
	if err != nil {
		return nil, err
	}
	if err := p.armFaults(at, c.Uint64("generation"), isRank && c.String("shm") != "off"); err != nil {
		return nil, err
	}
	if !isRank {
		return allreduce.Local(), nil
	}
	cfg, err := clusterConfig(c, at)
	if err != nil {
		return nil, err
	}
	if err := p.guard(c, cfg); err != nil {
		return nil, err
	}
	cfg.Options, cfg.Log = options, p.Logger(logLevel(c.Bool("quiet"), ""), true)
	return allreduce.Join(c.Context, *cfg)
}
