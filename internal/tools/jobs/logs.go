// SPDX-License-Identifier: Apache-2.0

package jobs

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/gvw-project/gvw/allreduce/auth"
	"github.com/gvw-project/gvw/internal/cli"
	"github.com/gvw-project/gvw/internal/monitor/ranklog"
	"github.com/gvw-project/gvw/internal/plain"
	"github.com/gvw-project/gvw/internal/spantree/client"
)

// checkLogs checks that the options about logs are not ignored.
func checkLogs(s *cli.Settings) error {
	if !s.Has("logs") {
		for _, name := range []string{"rank", "lines"} {
			if s.Has(name) {
				return cli.Usagef("gvw jobs: --%s would be ignored without --logs JOB", name)
			}
		}
		return nil
	}
	if s.Has("all") {
		return cli.Usagef("gvw jobs: --all would be ignored with --logs: logs of ended jobs are included")
	}
	_, err := parseJob("gvw jobs --logs", s.Get("logs"))
	return err
}

// logsListing requests and prints the last log lines of a job's ranks. Each line is escaped, since the server has them from
// other users.
func logsListing(ctx context.Context, s *cli.Settings, server string, creds *auth.Credentials) (string, error) {
	job, err := parseJob("gvw jobs --logs", s.Get("logs"))
	if err != nil {
		return "", err
	}
	r := client.LogRequest{Job: job, Rank: -1, Lines: 100}
	if s.Has("rank") {
		r.Rank = int(s.Number("rank"))
	}
	if s.Has("lines") {
		r.Lines = int(s.Number("lines"))
	}
	logs, err := client.Logs(ctx, nil, server, creds, r)
	if err != nil {
		return "", err
	}
	if s.Has("json") {
		text, err := json.MarshalIndent(logs, "", "  ")
		return plain.JSON(string(text)) + "\n", err
	}
	if len(logs) == 0 {
		return fmt.Sprintf("the server has no lines of job %v: its ranks send them with --log_to_server\n", job), nil
	}
	return string(appendLogs(nil, logs, r.Rank < 0)), nil
}

// appendLogs appends the lines of ranks, with a heading for each if there are several.
func appendLogs(dst []byte, logs []ranklog.RankLog, headings bool) []byte {
	for i, l := range logs {
		if headings {
			if i > 0 {
				dst = append(dst, '\n')
			}
			dst = fmt.Appendf(dst, "rank %d\n", l.Rank)
		}
		if l.Older > 0 {
			dst = fmt.Appendf(dst, "(%d older lines)\n", l.Older)
		}
		for _, line := range l.Lines {
			dst = append(append(dst, plain.Text(line)...), '\n')
		}
	}
	return dst
}
