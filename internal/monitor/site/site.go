// SPDX-License-Identifier: Apache-2.0

package site

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"os"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/gvw-project/gvw/allreduce/auth"
	"github.com/gvw-project/gvw/internal/httpauth"
	"github.com/gvw-project/gvw/internal/httpserve"
	"github.com/gvw-project/gvw/internal/monitor/page"
)

const (
	headerWithin = 10 * time.Second // to send the header of a request
	answerWithin = 30 * time.Second // to send a request and read the answer, except for streams of events
	idleWithin   = 2 * time.Minute  // between two requests
	drainWithin  = 2 * time.Second  // for requests under way at the end
	maxHeader    = 16 << 10         // bytes
	maxConns     = 256              // a browser has up to six to one server
)

// Config configures a site.
type Config struct {
	// Address is where the site listens: HOST:PORT, HOST, :PORT or PORT. Without a host it is the
	// loopback interface, and without a port a free one. A host that is not loopback needs Token or
	// TLS.
	Address string
	// Token admits programs, and browsers by a form; "": a random one, so that only the link that
	// URL returns admits a browser.
	Token string
	// TLS is the configuration of the server; nil: no TLS.
	TLS *tls.Config
	// Page configures the page.
	Page page.Config
	// Log gets the errors of connections, at debug level; nil: none.
	Log *slog.Logger
}

// Read reads the token from a file, and the certificate with its key. Empty names are left out.
// Clients need no certificate.
func (c *Config) Read(tokenFile, certFile, keyFile string) error {
	if tokenFile != "" {
		_, token, err := auth.ReadSecretBytes(tokenFile)
		if err != nil {
			return fmt.Errorf("cannot read the token of the page: %w", err)
		}
		c.Token = strings.TrimSpace(string(token))
	}
	if certFile != "" && keyFile != "" {
		var err error
		if c.TLS, err = auth.ReadHTTPS(certFile, keyFile, ""); err != nil {
			return fmt.Errorf("cannot read the certificate of the page: %w", err)
		}
	}
	return nil
}

// Validate reports every fault at once.
func (c *Config) Validate() error {
	host, _, err := split(c.Address)
	if err == nil && !httpserve.Loopback(host) && c.Token == "" && c.TLS == nil {
		err = fmt.Errorf("site: Config.Address %s is not on the loopback interface: set Config.Token or Config.TLS", c.Address)
	}
	return errors.Join(err, c.Page.Validate())
}

// split returns the host and the port of an address.
func split(addr string) (host, port string, err error) {
	fault := func() (string, string, error) {
		return "", "", fmt.Errorf("site: Config.Address is %q, want HOST:PORT, HOST, :PORT or PORT", addr)
	}
	switch _, perr := strconv.ParseUint(addr, 10, 16); {
	case addr == "":
	case perr == nil:
		port = addr
	case strings.Contains(addr, ":") && net.ParseIP(strings.Trim(addr, "[]")) == nil:
		if host, port, err = net.SplitHostPort(addr); err != nil {
			return fault()
		}
		if _, err := strconv.ParseUint(port, 10, 16); err != nil && port != "" {
			return fault()
		}
	default:
		host = strings.Trim(addr, "[]")
	}
	if host == "" {
		host = "127.0.0.1"
	}
	if port == "" {
		port = "0"
	}
	return host, port, nil
}

// Site is a page that is served. [Start] makes one.
type Site struct {
	Page *page.Page
	URL  string // with the link that works once

	cancel context.CancelFunc
	ended  sync.WaitGroup
	err    error
}

// Start listens and serves the page until Close. add adds paths to the page before the first
// request, such as /metrics; nil: none.
func Start(cfg Config, add func(p *page.Page)) (*Site, error) {
	if err := cfg.Validate(); err != nil {
		return nil, err
	}
	if cfg.Log == nil {
		cfg.Log = slog.New(slog.DiscardHandler)
	}
	p, err := page.New(cfg.Page)
	if err != nil {
		return nil, err
	}
	if add != nil {
		add(p)
	}
	host, port, _ := split(cfg.Address) // Validate has checked it
	l, err := net.Listen("tcp", net.JoinHostPort(host, port))
	if err != nil {
		return nil, fmt.Errorf("cannot serve the page: %w; choose another address with Config.Address", err)
	}
	port = strconv.Itoa(l.Addr().(*net.TCPAddr).Port)
	gate := httpauth.NewGate(cfg.Token, port, cfg.TLS != nil)
	paths := http.NewServeMux()
	paths.Handle("/", gate.Guard(p))
	paths.Handle("GET "+page.HealthPath, p)
	s := &Site{Page: p, URL: address(host, port, cfg.TLS != nil) + gate.Link()}
	server := &http.Server{
		Handler: paths, TLSConfig: cfg.TLS, ReadHeaderTimeout: headerWithin, ReadTimeout: answerWithin, WriteTimeout: answerWithin,
		IdleTimeout: idleWithin, MaxHeaderBytes: maxHeader, ErrorLog: slog.NewLogLogger(cfg.Log.Handler(), slog.LevelDebug),
	}
	ctx, cancel := context.WithCancel(context.Background())
	s.cancel = cancel
	s.ended.Go(func() { p.Run(ctx) })
	s.ended.Go(func() {
		s.err = httpserve.Until(ctx, httpserve.Bound(l, maxConns), server, drainWithin)
	})
	return s, nil
}

// address returns the beginning of the URL. A wildcard address is replaced by the name of this
// machine.
func address(host, port string, secure bool) string {
	scheme := "http://"
	if secure {
		scheme = "https://"
	}
	if ip := net.ParseIP(host); ip != nil && ip.IsUnspecified() {
		if name, err := os.Hostname(); err == nil {
			host = name
		}
	}
	return scheme + net.JoinHostPort(host, port)
}

// Close takes a last snapshot, ends all connections and waits for them. It is not safe for
// concurrent use. Close of a nil Site does nothing.
func (s *Site) Close() error {
	if s == nil {
		return nil
	}
	s.cancel()
	s.ended.Wait()
	if errors.Is(s.err, http.ErrServerClosed) {
		return nil
	}
	return s.err
}
