// SPDX-License-Identifier: Apache-2.0

package run

import (
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/gvw-project/gvw/internal/cli"
	"github.com/gvw-project/gvw/internal/launch"
	"github.com/gvw-project/gvw/internal/monitor/history"
	"github.com/gvw-project/gvw/internal/monitor/metrics"
	"github.com/gvw-project/gvw/internal/monitor/page"
	"github.com/gvw-project/gvw/internal/monitor/site"
	"github.com/gvw-project/gvw/internal/spantree/protocol"
	"github.com/gvw-project/gvw/internal/spantree/server"
)

// pageOptions are the values of the options for the page; address "": there is no page.
type pageOptions struct {
	address, tokenFile string
	control            bool
	cert, key          string
}

// tailLines is the number of lines that the page shows of a log.
const tailLines = 100

// pageFields replaces the fields that package site names in messages by options.
var pageFields = strings.NewReplacer("site: ", "", "Config.Address", "--http", "Config.Token", "--http_token_file", "Config.TLS", "--tls_cert")

// startPage serves the page of a job and prints its link; nil: there is none.
func (p *launcher) startPage(o pageOptions, s *server.Server, logs *logs, watch *jobWatch) (*site.Site, error) {
	if o.address == "" {
		if o.tokenFile != "" || o.control {
			return nil, cli.Usagef("gvw run: --http_token_file and --http_control would be ignored without --http: there is no page")
		}
		return nil, nil
	}
	cfg := site.Config{Address: o.address, Page: page.Config{Source: s.Status, Log: func(_ history.ID, rank int) []string { return lastLines(logs.name(rank), tailLines) }}}
	if o.control {
		cfg.Page.Control = &page.Control{
			Cancel: func(j history.ID) error {
				return s.Cancel(protocol.Job{UniqueID: j.UniqueID, RunKey: j.RunKey}, "on the page of gvw run")
			},
			Kill: func(j history.ID, rank int) error { return watch.kill(j, rank) },
		}
	}
	if err := cfg.Read(o.tokenFile, o.cert, o.key); err != nil {
		return nil, err
	}
	if err := cfg.Validate(); err != nil {
		return nil, cli.Usagef("%s", pageFields.Replace(err.Error()))
	}
	shown, err := site.Start(cfg, func(p *page.Page) { p.Handle("GET /metrics", metrics.Handler(s.Status)) })
	if err != nil {
		return nil, errors.New(pageFields.Replace(err.Error()))
	}
	fmt.Fprintf(p.Stderr, "gvw run: page %s (the link works once)\n", shown.URL)
	return shown, nil
}

// kill asks the launcher to kill the process of a rank, as if the process hung.
func (w *jobWatch) kill(j history.ID, rank int) error {
	if j.UniqueID != w.id || rank >= len(w.ranks) {
		return fmt.Errorf("rank %d is no process of this launcher", rank)
	}
	killed, late := make(chan bool, 1), time.After(killTimeout)
	select {
	case w.kills <- launch.Kill{Rank: rank, Killed: killed}:
	case <-late:
		return fmt.Errorf("the launcher did not respond within %v: the job may have ended", killTimeout)
	}
	select {
	case had := <-killed:
		if !had {
			return fmt.Errorf("rank %d has no process of its own: a spare holds the rank, or its next attempt has not started", rank)
		}
		return nil
	case <-late:
		return fmt.Errorf("the launcher did not respond within %v: the process may still be killed", killTimeout)
	}
}

// killTimeout bounds the wait for the launcher that is to kill a process.
const killTimeout = 5 * time.Second
