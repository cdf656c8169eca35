// SPDX-License-Identifier: Apache-2.0

package page

import (
	"context"
	"embed"
	"encoding/json"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/gvw-project/gvw/internal/monitor/history"
	"github.com/gvw-project/gvw/internal/spantree/protocol"
)

//go:embed static
var embedded embed.FS

// policy is the Content-Security-Policy of every answer.
const policy = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; form-action 'none'; frame-ancestors 'none'; base-uri 'none'"

// Page is the handler of all paths. [New] makes one. It is safe for concurrent use.
type Page struct {
	cfg    Config
	mux    *http.ServeMux
	origin http.CrossOriginProtection

	mu      sync.Mutex
	history *history.History
	status  protocol.ServerStatus // the newest snapshot
	at      time.Time             // of it
	hub     hub
}

// New returns a page. It shows nothing until Run or Tick takes a snapshot.
func New(cfg Config) (*Page, error) {
	if err := cfg.Validate(); err != nil {
		return nil, err
	}
	cfg = cfg.withDefaults()
	p := &Page{cfg: cfg, mux: http.NewServeMux(), history: history.New(cfg.History), hub: newHub()}
	files, err := fs.Sub(embedded, "static")
	if err != nil {
		return nil, err
	}
	p.mux.Handle("GET /", http.FileServerFS(files))
	p.mux.HandleFunc("GET /events", p.events)
	p.mux.HandleFunc("GET /status.json", p.statusJSON)
	p.mux.HandleFunc("GET "+HealthPath, p.health)
	p.mux.HandleFunc("GET /log", p.log)
	p.mux.HandleFunc("POST /control", p.control)
	return p, nil
}

// Handle adds a path, with a pattern of http.ServeMux such as "GET /metrics".
func (p *Page) Handle(pattern string, h http.Handler) { p.mux.Handle(pattern, h) }

// View calls f with the history and the newest snapshot. They are valid until f returns.
func (p *Page) View(f func(h *history.History, newest protocol.ServerStatus)) {
	p.mu.Lock()
	defer p.mu.Unlock()
	f(p.history, p.status)
}

// ServeHTTP answers a request.
func (p *Page) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	h := w.Header()
	h.Set("Content-Security-Policy", policy)
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("Referrer-Policy", "no-referrer")
	h.Set("Cache-Control", "no-store")
	p.mux.ServeHTTP(w, r)
}

// Run takes snapshots until ctx ends. It then ends the streams of events.
func (p *Page) Run(ctx context.Context) {
	t := time.NewTicker(p.cfg.Interval)
	defer t.Stop()
	p.Tick(time.Now())
	for {
		select {
		case now := <-t.C:
			p.Tick(now)
		case <-ctx.Done():
			p.Tick(time.Now()) // the last events, such as the end of the job
			p.mu.Lock()
			p.hub.close()
			p.mu.Unlock()
			return
		}
	}
}

// Tick takes one snapshot and sends what has changed. Run calls it.
func (p *Page) Tick(now time.Time) {
	s := p.cfg.Source()
	p.mu.Lock()
	defer p.mu.Unlock()
	p.status, p.at = s, now
	p.history.Add(now, s)
	p.hub.send(p)
}

// statusJSON answers with the newest snapshot.
func (p *Page) statusJSON(w http.ResponseWriter, _ *http.Request) {
	p.mu.Lock()
	s := p.status // its slices are not changed any more
	p.mu.Unlock()
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(s) // the client may have gone
}

// HealthPath is the path of [Page]'s answer to probes. It needs no token.
const HealthPath = "/healthz"

// stale is the age of the newest snapshot from which the server counts as stuck.
const stale = 10 * time.Second

// health answers a probe: "ok" while snapshots of the server are taken, and otherwise status 503.
func (p *Page) health(w http.ResponseWriter, _ *http.Request) {
	p.mu.Lock()
	age := time.Since(p.at)
	p.mu.Unlock()
	if limit := stale + 2*p.cfg.Interval; age > limit {
		http.Error(w, fmt.Sprintf("error: the newest snapshot of the server is older than %v", limit), http.StatusServiceUnavailable)
		return
	}
	w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	_, _ = io.WriteString(w, "ok\n") // the client may have gone
}

// job returns the job and the rank that a request names. If there is none, it answers the request.
func (p *Page) job(w http.ResponseWriter, r *http.Request) (id history.ID, rank int, ok bool) {
	n, err := strconv.Atoi(r.FormValue("job"))
	rank = -1
	if text := r.FormValue("rank"); err == nil && text != "" {
		rank, err = strconv.Atoi(text)
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	j := p.history.Job(n)
	if err != nil || j == nil || rank >= len(j.Ranks) || rank < -1 {
		http.Error(w, "error: there is no such job or rank", http.StatusNotFound)
		return id, rank, false
	}
	return j.ID, rank, true
}

// log answers with the end of a rank's log.
func (p *Page) log(w http.ResponseWriter, r *http.Request) {
	id, rank, ok := p.job(w, r)
	switch {
	case !ok:
	case p.cfg.Log == nil || rank < 0:
		http.Error(w, "error: this server has no log of a rank", http.StatusNotFound)
	default:
		w.Header().Set("Content-Type", "text/plain; charset=utf-8")
		_, _ = w.Write([]byte(strings.ToValidUTF8(strings.Join(p.cfg.Log(id, rank), "\n")+"\n", "\ufffd"))) // the client may have gone
	}
}

// maxControl limits the body of a request to change a job, in bytes.
const maxControl = 4096

// control cancels a job or kills a rank. The request must come from this page, and the field
// confirm must repeat the name of the job.
func (p *Page) control(w http.ResponseWriter, r *http.Request) {
	if err := p.origin.Check(r); err != nil {
		http.Error(w, "error: the request comes from another site", http.StatusForbidden)
		return
	}
	r.Body = http.MaxBytesReader(w, r.Body, maxControl)
	id, rank, ok := p.job(w, r)
	if !ok {
		return
	}
	c := p.cfg.Control
	action := r.PostFormValue("action")
	var err error
	switch {
	case c == nil:
		http.Error(w, "error: the page is read-only: the server was started without control", http.StatusForbidden)
		return
	case r.PostFormValue("confirm") != id.Name():
		http.Error(w, "error: the request is not confirmed: confirm must be the name of the job", http.StatusBadRequest)
		return
	case action == "cancel" && c.Cancel != nil:
		err = c.Cancel(id)
	case action == "kill" && c.Kill != nil && rank >= 0:
		err = c.Kill(id, rank)
	default:
		http.Error(w, "error: this server cannot do that", http.StatusBadRequest)
		return
	}
	p.cfg.Logger.Warn("control over HTTP", "action", action, "job", id.Name(), "rank", rank, "from", r.RemoteAddr, "error", err)
	if err != nil {
		http.Error(w, "error: "+err.Error(), http.StatusConflict)
		return
	}
	w.WriteHeader(http.StatusNoContent)
}
