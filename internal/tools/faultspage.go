// SPDX-License-Identifier: Apache-2.0

package tools

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/gvw-project/gvw/internal/cli"
	"github.com/gvw-project/gvw/internal/fault"
)

// Faults runs gvw faults.
func Faults(_ context.Context, p *cli.Process, _ *cli.Command, args []string) error {
	if len(args) > 0 && args[0] != "--help" && args[0] != "-h" {
		return cli.Usagef("gvw faults takes nothing, but got %q", args[0])
	}
	var b strings.Builder
	b.WriteString("GVW_FAULT injects faults into a process, to test how the other processes react:\n\n" +
		"  GVW_FAULT=rank:2,op:17,kind:kill gvw run -n 4 -- -d train.vw -f model\n\n" +
		"Faults are separated by semicolons. Each has a rank, a place and a kind:\n\n" +
		"  rank:R        the rank; all ranks if left out\n" +
		"  attempt:K     the attempt of the rank, or any (1: only the first attempt fails)\n" +
		"  generation:K  the start of the whole job, one more than --generation, or any (1)\n")
	err := errors.Join(
		describe(&b, "\nPlaces, one of:\n", ":N", fault.Points),
		describe(&b, "\nKinds, as kind:K, one of:\n", "", fault.Kinds[fault.Exit:]),
	)
	if err != nil {
		return err
	}
	b.WriteString("\nExamples:\n\n" +
		"  rank:0,delivery:1,kind:exit,code:9    rank 0 exits when the model is to be written\n" +
		"  rank:3,work:2,slow:10                 from step 2 on, rank 3 takes ten times as long\n" +
		"  rank:1,op:5,kind:garble               needs --shm off where all are on one machine\n" +
		"  rank:1,work:1,kind:kill;rank:2,work:3,kind:stop\n" +
		"  op:100,delay:20ms                     every rank, from its 100th collective on\n")
	return p.Print(b.String())
}

// describe writes a list of places or kinds of faults under a heading.
func describe(b io.Writer, head, suffix string, all []fault.Description) error {
	if _, err := io.WriteString(b, head); err != nil {
		return err
	}
	for _, d := range all {
		if _, err := fmt.Fprintf(b, "  %-12s%s\n", d.Name+suffix, d.Does); err != nil {
			return err
		}
	}
	return nil
}
