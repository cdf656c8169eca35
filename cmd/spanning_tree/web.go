// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"io"
	"log/slog"

	"github.com/gvw-project/gvw/internal/monitor/history"
	"github.com/gvw-project/gvw/internal/monitor/metrics"
	"github.com/gvw-project/gvw/internal/monitor/page"
	"github.com/gvw-project/gvw/internal/monitor/site"
	"github.com/gvw-project/gvw/internal/spantree/protocol"
	"github.com/gvw-project/gvw/internal/spantree/server"
)

// web holds the options for the page.
type web struct {
	http        string // address; "": there is no page
	httpToken   string // file
	httpControl bool
}

// check reports options that have no effect.
func (w *web) check() error {
	switch {
	case w.http == "" && w.httpToken != "":
		return usage("--http_token_file needs --http ADDR: without it there is no page")
	case w.http == "" && w.httpControl:
		return usage("--http_control needs --http ADDR: without it there is no page")
	}
	return nil
}

// tailLines is the number of lines that the page shows of the log of a rank.
const tailLines = 100

// tail returns the end of the log of a rank, as far as the rank has sent it.
func tail(s *server.Server, j history.ID, rank int) []string {
	log, ok := s.Log(protocol.Job{UniqueID: j.UniqueID, RunKey: j.RunKey}, rank, tailLines)
	if !ok {
		return []string{"This rank has sent no lines: its log is where it runs. With --log_to_server it sends them."}
	}
	if log.Older == 0 {
		return log.Lines
	}
	return append([]string{fmt.Sprintf("(%d older lines)", log.Older)}, log.Lines...)
}

// start serves the page and prints its link; nil: there is none. It has the certificate of the
// server, but asks browsers for none: the link or the token admits them.
func (w *web) start(g guard, s *server.Server, stderr io.Writer, log *slog.Logger) (*site.Site, error) {
	if w.http == "" {
		return nil, nil
	}
	cfg := site.Config{Address: w.http, Log: log, Page: page.Config{Source: s.Status, Logger: log, Log: func(j history.ID, rank int) []string { return tail(s, j, rank) }}}
	if w.httpControl {
		cfg.Page.Control = &page.Control{Cancel: func(j history.ID) error {
			return s.Cancel(protocol.Job{UniqueID: j.UniqueID, RunKey: j.RunKey}, "on the page of the server")
		}}
	}
	if err := cfg.Read(w.httpToken, g.tlsCert, g.tlsKey); err != nil {
		return nil, err
	}
	if err := cfg.Validate(); err != nil {
		return nil, usage("%v", err)
	}
	shown, err := site.Start(cfg, func(p *page.Page) { p.Handle("GET /metrics", metrics.Handler(s.Status)) })
	if err != nil {
		return nil, err
	}
	fmt.Fprintf(stderr, "spanning_tree: page %s (the link works once)\n", shown.URL)
	return shown, nil
}
