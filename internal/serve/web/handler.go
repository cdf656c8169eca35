// SPDX-License-Identifier: Apache-2.0

package web

import (
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"net"
	"net/http"
	"slices"
	"strings"
	"sync"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/gvw-project/gvw/internal/httpauth"
	"github.com/gvw-project/gvw/internal/httpserve"
)

// handler answers requests.
type handler struct {
	cfg      Config
	token    httpauth.Bearer
	origin   http.CrossOriginProtection
	requests prometheus.Histogram // times of requests for predictions, in seconds
	idle     sync.Pool            // of *answerer
}

// New returns the handler of all paths.
func New(cfg Config) (http.Handler, error) {
	if err := cfg.Validate(); err != nil {
		return nil, err
	}
	all, requests := newMetrics(cfg.Models)
	h := &handler{
		cfg: cfg.withDefaults(), token: httpauth.NewBearer(cfg.Token), requests: requests,
		idle: sync.Pool{New: func() any { return new(answerer) }},
	}
	mux := http.NewServeMux()
	mux.HandleFunc("GET /healthz", func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, "ok\n") }) // the client may have gone
	mux.Handle("POST /predict", h.guarded(h.predict))
	mux.Handle("GET /model", h.guarded(h.model))
	mux.Handle("GET /metrics", h.guarded(metricsHandler(all)))
	return mux, nil
}

// guarded lets requests with the token pass. It refuses those that a page of another site makes a browser send. If no token is
// needed, a page could also have its own name resolve to this machine, so the host must be this machine's.
func (h *handler) guarded(next http.HandlerFunc) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch {
		case h.cfg.Token != "" && !h.token.Allows(r):
			httpauth.Refuse(w)
		case h.origin.Check(r) != nil:
			http.Error(w, "error: the request comes from another site", http.StatusForbidden)
		case h.cfg.Token == "" && h.cfg.Local && !isLocal(r.Host):
			http.Error(w, fmt.Sprintf("error: the request is for the host %q, want localhost or a loopback address: other names need a server with a token", r.Host), http.StatusForbidden)
		default:
			next(w, r)
		}
	})
}

// isLocal reports whether the header Host, with or without a port, is a name or an address of the loopback interface. No page can
// make a browser leave the header out.
func isLocal(host string) bool {
	if name, _, err := net.SplitHostPort(host); err == nil {
		host = name
	}
	return host == "" || httpserve.Loopback(strings.ToLower(strings.Trim(host, "[]")))
}

// find returns the model that a request names. If there is none, it answers the request.
func (h *handler) find(w http.ResponseWriter, r *http.Request) *Model {
	name := r.URL.Query().Get("model")
	i := 0
	if name != "" {
		i = slices.IndexFunc(h.cfg.Models, func(m Model) bool { return m.Name == name })
	}
	if i < 0 {
		var names []string
		for _, m := range h.cfg.Models {
			names = append(names, m.Name)
		}
		http.Error(w, "error: there is no such model: have "+strings.Join(names, ", "), http.StatusNotFound)
		return nil
	}
	return &h.cfg.Models[i]
}

// modelView is the JSON of a model.
type modelView struct {
	Name     string            `json:"name"`
	ID       string            `json:"id,omitempty"`
	SHA256   string            `json:"sha256,omitempty"`
	Bits     uint              `json:"bits"`
	Options  map[string]string `json:"options"`
	Loss     string            `json:"loss_function"`
	Link     string            `json:"link"`
	Min      float32           `json:"min_prediction"`
	Max      float32           `json:"max_prediction"`
	Learns   bool              `json:"learns"`
	Examples uint64            `json:"examples,omitempty"`
	MeanLoss *float64          `json:"mean_loss,omitempty"`
	Answers  uint64            `json:"predictions"`
	Faults   uint64            `json:"errors"`
	Reloads  uint64            `json:"reloads"`
}

// model describes a model.
func (h *handler) model(w http.ResponseWriter, r *http.Request) {
	found := h.find(w, r)
	if found == nil {
		return
	}
	e := found.Engine
	m := e.Acquire()
	info, counters, learns := m.Info(), m.Counters(), m.Learns()
	if err := m.Release(); err != nil {
		http.Error(w, "error: "+err.Error(), http.StatusInternalServerError)
		return
	}
	v := modelView{
		Name: found.Name, ID: info.ID, Bits: info.Bits, Options: map[string]string{}, Loss: info.Loss, Link: info.Link, Min: info.Min, Max: info.Max,
		Learns: learns, Examples: counters.Examples, Answers: e.Metrics.Answers.Load(), Faults: e.Metrics.Faults.Load(), Reloads: e.Metrics.Reloads.Load(),
	}
	if info.Digest != [32]byte{} {
		v.SHA256 = hex.EncodeToString(info.Digest[:])
	}
	for _, o := range info.Options {
		v.Options[o.Name] = strings.TrimSpace(v.Options[o.Name] + " " + o.Value)
	}
	if learns && !math.IsNaN(counters.Loss) {
		v.MeanLoss = &counters.Loss
	}
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(v) // the client may have gone
}
