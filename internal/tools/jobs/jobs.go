// SPDX-License-Identifier: Apache-2.0

package jobs

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math"
	"net"
	"os"
	"slices"
	"strconv"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/gvw-project/gvw/allreduce/auth"
	"github.com/gvw-project/gvw/internal/cli"
	"github.com/gvw-project/gvw/internal/files"
	"github.com/gvw-project/gvw/internal/flags"
	"github.com/gvw-project/gvw/internal/joinflags"
	"github.com/gvw-project/gvw/internal/plain"
	"github.com/gvw-project/gvw/internal/spantree/client"
	"github.com/gvw-project/gvw/internal/spantree/protocol"
)

// server returns the address of the server that the options name, and the credentials for it.
func server(p *cli.Process, s *cli.Settings) (address string, creds *auth.Credentials, err error) {
	host := cmp.Or(s.Get("span_server"), "127.0.0.1")
	if strings.Contains(host, ":") && net.ParseIP(host) == nil {
		return "", nil, cli.Usagef("--span_server %s: give only the host, and its port by --span_server_port", host)
	}
	if err := errors.Join(joinflags.CheckCredentials(s)...); err != nil {
		return "", nil, err
	}
	creds, err = joinflags.Credentials(p, s.Get, s.Has("encrypt"), false)
	return net.JoinHostPort(host, cmp.Or(s.Get("span_server_port"), strconv.Itoa(joinflags.DefaultServerPort))), creds, err
}

// Jobs runs gvw jobs. The server's answer has text of other users, so all of it is escaped.
func Jobs(ctx context.Context, p *cli.Process, c *cli.Command, args []string) error {
	s, err := c.Sets[0].Read(p, args)
	if s == nil {
		return err
	}
	address, creds, err := server(p, s)
	if err != nil {
		return err
	}
	if err := checkLogs(s); err != nil {
		return err
	}
	listing := func() (string, error) {
		if s.Has("logs") {
			return logsListing(ctx, s, address, creds)
		}
		st, err := client.Status(ctx, nil, address, creds)
		if err != nil {
			return "", err
		}
		if s.Has("json") {
			// Text of other users could control the terminal: JSON keeps it readable by programs, but
			// without control characters.
			text, err := json.MarshalIndent(st, "", "  ")
			return plain.JSON(string(text)) + "\n", err
		}
		st = withVectors(st)
		b := appendJobs(nil, st)
		if s.Has("all") {
			b = appendEnded(b, st)
		}
		return string(b), nil
	}
	if s.Has("watch") {
		return watch(ctx, p, watchEvery, listing)
	}
	text, err := listing()
	if err != nil {
		return err
	}
	return p.Print(text)
}

// watchEvery is the interval of the requests of --watch.
const watchEvery = 2 * time.Second

// watch prints the listing repeatedly until ctx ends. A terminal shows only the newest one. If
// the server cannot be reached, watch prints the error and tries again; a refusal ends it.
func watch(ctx context.Context, p *cli.Process, every time.Duration, listing func() (string, error)) error {
	erase, between := "", "\n"
	if f, ok := p.Stdout.(*os.File); ok && files.Terminal(f) {
		erase, between = "\x1b[H\x1b[J", "" // clears the screen
	}
	ticker := time.NewTicker(every)
	defer ticker.Stop()
	for before := ""; ; before = between {
		text, err := listing()
		_, refused := errors.AsType[*protocol.RefusedError](err)
		switch {
		case ctx.Err() != nil:
			return context.Cause(ctx)
		case refused:
			return err
		case err != nil:
			// A server that restarts is back after some seconds, so the error is shown as a listing.
			text = flags.ErrorLines(err)[0] + "\n"
		}
		if err := p.Print(before + erase + text); err != nil {
			return err
		}
		select {
		case <-ticker.C:
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
}

// Cancel runs gvw cancel. A job with a token (--job_token) can be cancelled only with it.
func Cancel(ctx context.Context, p *cli.Process, c *cli.Command, args []string) error {
	s, err := c.Sets[0].Read(p, args)
	if s == nil {
		return err
	}
	words := append(s.Words, s.Rest...)
	if len(words) != 1 {
		return cli.Usagef("gvw cancel: got %d jobs, want one, as in: gvw cancel --span_server gateway 17 (gvw jobs lists them)", len(words))
	}
	job, err := parseJob("gvw cancel", words[0])
	if err != nil {
		return err
	}
	address, creds, err := server(p, s)
	if err != nil {
		return err
	}
	owner, err := joinflags.JobToken(s.Get("job_token"))
	if err != nil {
		return err
	}
	return cancelBoth(job, func(job protocol.Job) error {
		return client.Cancel(ctx, nil, address, creds, client.Cancellation{Job: job, Reason: s.Get("reason"), Owner: owner})
	})
}

// parseJob reads a job as gvw jobs shows it.
func parseJob(command, text string) (protocol.Job, error) {
	id, key, _ := strings.Cut(text, "/")
	n, err := strconv.ParseUint(id, 10, 64)
	if err != nil {
		return protocol.Job{}, cli.Usagef("%s: %q is no job: it is UNIQUE_ID or UNIQUE_ID/RUN_ID, as gvw jobs shows it", command, text)
	}
	return protocol.Job{UniqueID: n, RunKey: key}, nil
}

// appendJobs appends the jobs as a table, and below it what their ranks wait for.
func appendJobs(dst []byte, st *protocol.ServerStatus) []byte {
	if st.Journal != "" {
		dst = fmt.Appendf(dst, "the server's journal has failed, restart the server: %s\n", plain.Text(st.Journal))
	}
	if len(st.Jobs) == 0 {
		return append(dst, "no jobs\n"...)
	}
	var b bytes.Buffer
	w := tabwriter.NewWriter(&b, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, strings.Join(jobColumns, "\t"))
	for i := range st.Jobs {
		fmt.Fprintln(w, strings.Join(jobCells(&st.Jobs[i]), "\t"))
	}
	w.Flush() // to memory
	dst = append(dst, b.Bytes()...)
	for i := range st.Jobs {
		dst = appendWaits(dst, &st.Jobs[i])
	}
	return dst
}

// jobColumns are the headings of the table of jobs.
var jobColumns = []string{"JOB", "STATE", "RANKS", "PASS", "LOSS", "SINCE", "MISSING"}

// jobCells returns the row of a job in that table.
func jobCells(j *protocol.JobStatus) []string {
	return []string{
		protocol.Job{UniqueID: j.UniqueID, RunKey: j.RunKey}.String(), plain.Text(j.State), fmt.Sprintf("%d/%d", j.Joined, j.Total),
		passes(j), loss(j), time.Duration(j.Seconds * float64(time.Second)).Round(time.Second).String(), absent(j),
	}
}

// appendEnded appends the jobs that have ended as a table, the newest first.
func appendEnded(dst []byte, st *protocol.ServerStatus) []byte {
	if len(st.Ended) == 0 {
		return append(dst, "no jobs have ended\n"...)
	}
	var b bytes.Buffer
	w := tabwriter.NewWriter(&b, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "\nENDED JOB\tOUTCOME\tRANKS\tTOOK\tENDED\tCAUSE")
	for _, e := range slices.Backward(st.Ended) {
		took := "-"
		if e.Seconds > 0 {
			took = time.Duration(e.Seconds * float64(time.Second)).Round(time.Second).String()
		}
		fmt.Fprintf(w, "%s\t%s\t%d\t%s\t%s\t%s\n", protocol.Job{UniqueID: e.UniqueID, RunKey: e.RunKey}, plain.Text(e.Outcome), e.Total,
			took, e.Ended.Local().Format(time.DateTime), endedBy(e))
	}
	w.Flush() // to memory
	return append(dst, b.Bytes()...)
}

// endedBy returns the cause of the end of a job, or the model of one that has finished.
func endedBy(e protocol.EndedJob) string {
	switch {
	case e.Model != "":
		return "model " + plain.Text(e.Model[:min(12, len(e.Model))])
	case e.Found != nil:
		return plain.Text(e.Found.Line)
	case e.Rank >= 0 && e.Cause != "":
		return plain.Text(fmt.Sprintf("rank %d (%s): %s", e.Rank, e.Host, e.Cause))
	}
	return plain.Text(e.Cause)
}

// isHolder reports whether an attempt is the holder of its rank, and not a standby or a spare.
func isHolder(r protocol.RankStatus) bool { return r.State != "standby" && r.State != "spare" }

// passes returns the passes that the ranks have reached: "3", or "2-3" if they differ.
func passes(j *protocol.JobStatus) string {
	if len(j.Ranks) == 0 {
		return "-"
	}
	lo, hi := uint32(math.MaxUint32), uint32(0)
	for _, r := range j.Ranks {
		if isHolder(r) {
			lo, hi = min(lo, r.Pass), max(hi, r.Pass)
		}
	}
	// Without holders lo is still the largest number.
	if lo >= hi {
		return strconv.FormatUint(uint64(hi), 10)
	}
	return fmt.Sprintf("%d-%d", lo, hi)
}

// loss returns the average loss over all examples that the ranks have seen, weighted by their
// numbers of examples, or "-" if there are none.
func loss(j *protocol.JobStatus) string {
	var sum, n float64
	for _, r := range j.Ranks {
		if !isHolder(r) {
			continue
		}
		// Loss is the average over the examples of the rank.
		sum += float64(r.Loss * float64(r.Examples))
		n += float64(r.Examples)
	}
	if n == 0 {
		return "-"
	}
	return strconv.FormatFloat(sum/n, 'f', 6, 64)
}

// absent returns the ranks that the server does not have, at most 8 by number. vw workers close
// their control connections once the job is wired, so they are not absent.
func absent(j *protocol.JobStatus) string {
	if len(j.Ranks) == 0 && j.Joined > 0 || j.VW && j.State != "filling" {
		return ""
	}
	here := map[int]bool{}
	for _, r := range j.Ranks {
		here[r.Rank] = here[r.Rank] || isHolder(r)
	}
	// A rank with only a standby or a spare is absent: these do not work.
	maps.DeleteFunc(here, func(_ int, is bool) bool { return !is })
	var missing []string
	for rank := range j.Total {
		if here[rank] {
			continue
		}
		if len(missing) == 8 {
			return strings.Join(missing, ",") + fmt.Sprintf(" and %d more", j.Total-len(here)-8)
		}
		missing = append(missing, strconv.Itoa(rank))
	}
	return strings.Join(missing, ",")
}

// numbered returns a text like "rank 3" or "ranks 3, 5 and 7 more".
func numbered(list []int) string {
	if len(list) == 1 {
		return fmt.Sprintf("rank %d", list[0])
	}
	const most = 64
	var b strings.Builder
	for i, r := range list {
		switch {
		case i == most:
			fmt.Fprintf(&b, " and %d more", len(list)-most)
			return b.String()
		case i == 0:
			fmt.Fprintf(&b, "ranks %d", r)
		default:
			fmt.Fprintf(&b, ", %d", r)
		}
	}
	return b.String()
}

// appendWaits appends the lost and refused ranks of a job, and what its ranks wait for.
func appendWaits(dst []byte, j *protocol.JobStatus) []byte {
	const most = 8
	if j.State == "recovering" || j.State == "ending" && j.Report != "ending" {
		dst = fmt.Appendf(dst, "%v: %s\n", protocol.Job{UniqueID: j.UniqueID, RunKey: j.RunKey}, plain.Text(j.Report))
	}
	waiting := slices.DeleteFunc(slices.Clone(j.Ranks), func(r protocol.RankStatus) bool { return r.Waits == "" })
	name := protocol.Job{UniqueID: j.UniqueID, RunKey: j.RunKey}
	if n := len(j.Removed); n > 0 {
		dst = fmt.Appendf(dst, "%v: runs without %s\n", name, numbered(j.Removed))
	}
	if j.Refused > 0 {
		dst = fmt.Appendf(dst, "%v: has refused attempts (%d), the last one since %s\n", name, j.Refused, plain.Text(j.Refusal))
	}
	if j.Found != nil {
		dst = fmt.Appendf(dst, "%v: the newest fault: %s\n", name, plain.Text(j.Found.Line))
	}
	for i, r := range waiting {
		if i == most {
			return fmt.Appendf(dst, "%v: and %d more ranks wait\n", name, len(waiting)-most)
		}
		dst = fmt.Appendf(dst, "%v: %s\n", name, plain.Text(r.Waits))
	}
	return dst
}
