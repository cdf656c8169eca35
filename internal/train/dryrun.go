// SPDX-License-Identifier: Apache-2.0

package train

import (
	"context"
	"fmt"
	"net"
	"os"
	"slices"
	"strings"

	"github.com/gvw-project/gvw/hdfsio"
	"github.com/gvw-project/gvw/internal/cli"
	"github.com/gvw-project/gvw/internal/files"
	"github.com/gvw-project/gvw/learn"
)

// dryRun prints the data that a run would read, allocate and send. checkpoint is the path of its
// checkpoints; "": it writes none. Files are not opened: only their sizes are requested.
func dryRun(ctx context.Context, p *cli.Process, fsys hdfsio.FS, data []string, cfg *learn.Config, checkpoint string) error {
	// Plan reads only the headers of a loaded model and of regularisers, so a dry run is quick with any size of data.
	plan, err := cfg.Plan()
	if err != nil {
		return err
	}
	text := fmt.Appendf(nil, "would %s", plan.Method)
	if plan.Passes > 1 {
		text = fmt.Appendf(text, ", in up to %d passes", plan.Passes)
	}
	if plan.Ranks > 1 {
		text = fmt.Appendf(text, ", as one of %d ranks", plan.Ranks)
	}
	text = append(text, "\n\nto read:\n"...)
	files, err := dataSizes(ctx, fsys, data)
	if err != nil {
		return err
	}
	text = appendAmounts(text, files)
	text = append(append(text, plan.Reads...), '\n')
	text = append(text, "\nmemory of each rank, about:\n"...)
	text = appendAmounts(text, plan.Memory)
	switch {
	case plan.Recovers:
		text = append(text, "another process can replace a lost rank\n"...)
	case plan.Ranks > 1:
		text = append(text, "the loss of a rank ends the job\n"...)
	}
	if c := cfg.Cluster.Join; c != nil && c.Elastic {
		text = append(text, "it starts without ranks that have not joined after --start_timeout\n"...)
	}
	if checkpoint != "" {
		text = fmt.Appendf(text, "\nrank 0 keeps its state in %s.r*, the two newest; one is about:\n", checkpoint)
		text = appendAmounts(text, plan.State)
	}
	if plan.Ranks > 1 {
		text = append(text, "\nadded to the other ranks' in each pass (a rank sends and receives about twice that):\n"...)
		text = appendAmounts(text, plan.Wire)
	}
	text = append(text, "\nnothing was read, allocated or written\n"...)
	return p.Print(string(text))
}

// dataSizes returns the sizes of the files as they are stored, compressed or not. stdin is left
// out.
func dataSizes(ctx context.Context, fsys hdfsio.FS, data []string) ([]learn.Amount, error) {
	var sizes []learn.Amount
	for _, name := range data {
		if slices.Contains(files.StdinNames, name) {
			continue
		}
		names, err := hdfsio.Expand(ctx, fsys, []string{name})
		if err != nil {
			return nil, err
		}
		for _, n := range names {
			info, err := fsys.Stat(ctx, n)
			if err != nil {
				return nil, err
			}
			sizes = append(sizes, learn.Amount{What: n + blocksHere(ctx, fsys, n), Bytes: uint64(info.Size)})
		}
	}
	return sizes, nil
}

// blocksHere returns the number of blocks of a remote file that this machine stores, as text,
// or "" if it is not known. Reading a local block takes no network.
func blocksHere(ctx context.Context, fsys hdfsio.FS, name string) string {
	l, ok := fsys.(hdfsio.Locator)
	if !ok || !hdfsio.Remote(name) {
		return ""
	}
	blocks, err := l.Blocks(ctx, name)
	host, herr := os.Hostname()
	if err != nil || herr != nil || len(blocks) == 0 {
		return "" // the number is information only
	}
	here := 0
	for _, b := range blocks {
		if slices.ContainsFunc(b.Hosts, func(h string) bool { return h == "localhost" || sameHost(h, host) }) {
			here++
		}
	}
	return fmt.Sprintf(", %d of %d blocks on this machine", here, len(blocks))
}

// sameHost reports whether two names of hosts, with a domain or without, are equal.
func sameHost(a, b string) bool {
	// The dots of an address do not separate a domain.
	if net.ParseIP(a) != nil || net.ParseIP(b) != nil {
		return a == b
	}
	a, _, _ = strings.Cut(strings.ToLower(a), ".")
	b, _, _ = strings.Cut(strings.ToLower(b), ".")
	return a == b
}

// appendAmounts appends a line for each amount, and their sum.
func appendAmounts(dst []byte, amounts []learn.Amount) []byte {
	for _, a := range amounts {
		dst = fmt.Appendf(dst, "%12s  %s\n", cli.FormatBytes(a.Bytes), a.What)
	}
	if len(amounts) > 1 {
		dst = fmt.Appendf(dst, "%12s  together\n", cli.FormatBytes(learn.Total(amounts)))
	}
	return dst
}
