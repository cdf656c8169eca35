// SPDX-License-Identifier: Apache-2.0

package webhdfs

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"path"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	krb5 "github.com/jcmturner/gokrb5/v8/client"
	"github.com/jcmturner/gokrb5/v8/spnego"

	"github.com/gvw-project/gvw/hdfsio/kerberos"
	"github.com/gvw-project/gvw/hdfsio/remote"
)

// Config has the addresses of the name nodes and the user.
type Config struct {
	// Nodes are the name nodes' HTTP addresses, host:port. Required.
	Nodes []string
	// TLS selects https.
	TLS bool
	// User is the user, on a cluster without authentication. Otherwise Token counts.
	User string
	// Token is a delegation token in the encoding of token.Encode; empty: none. A
	// cluster without authentication ignores it.
	Token string
	// Kerberos is the login where there is no token; nil: none.
	Kerberos *kerberos.Login
	// Roots are the authorities that TLS trusts; nil: the system's.
	Roots *tls.Config

	connect func(ctx context.Context, network, address string) (net.Conn, error) // of tests; nil: by TCP
}

// Validate reports all missing fields.
func (c Config) Validate() error {
	var errs []error
	if len(c.Nodes) == 0 {
		errs = append(errs, errors.New("webhdfs: Nodes is empty"))
	}
	if c.User == "" && c.Token == "" && c.Kerberos == nil {
		errs = append(errs, errors.New("webhdfs: User, Token and Kerberos are all empty"))
	}
	if c.Kerberos != nil {
		errs = append(errs, c.Kerberos.Validate())
	}
	if c.Roots != nil && !c.TLS {
		errs = append(errs, errors.New("webhdfs: Roots needs TLS"))
	}
	return errors.Join(errs...)
}

// Limits on responses: a name node lists a directory of a million files in some hundred
// megabytes, and an error takes a few kilobytes.
const (
	maxAnswer  = 1 << 30
	maxRefusal = 1 << 20
	// askTimeout is the limit for the head of a response, except to a write.
	askTimeout = time.Minute
	// writeTimeout is the limit for a data node to accept the next byte of a write, and then to
	// respond: it does so when all data is on disk.
	writeTimeout = 2 * time.Minute
)

// Client is a remote.Backend over HTTP.
type Client struct {
	cfg    Config
	http   *http.Client
	writes *http.Client // sends data to data nodes
	active atomic.Int64 // index of the name node that responded last

	mu    sync.Mutex
	login *krb5.Client // nil: not logged in
}

var (
	_ remote.Backend = (*Client)(nil)
	_ remote.Locator = (*Client)(nil)
)

// New makes a client. It connects at the first call.
func New(cfg Config) (*Client, error) {
	if err := cfg.Validate(); err != nil {
		return nil, err
	}
	return &Client{cfg: cfg, http: cfg.client(askTimeout), writes: cfg.client(writeTimeout)}, nil
}

// client returns a client for HTTP whose connections have the limit idle.
func (c Config) client(idle time.Duration) *http.Client {
	return &http.Client{
		Transport: transport{&http.Transport{
			DialContext:           remote.Dialer{Idle: idle, Connect: c.connect}.Dial,
			TLSClientConfig:       c.Roots,
			TLSHandshakeTimeout:   15 * time.Second,
			ResponseHeaderTimeout: idle,
			IdleConnTimeout:       30 * time.Second,
			DisableCompression:    true,
		}},
		// Redirects are followed explicitly: they lead from a name node to a data node,
		// once, and data is sent only there.
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
}

func (c *Client) String() string { return "webhdfs" }

// Seeks returns true: a data node starts at any offset.
func (c *Client) Seeks() bool { return true }

// Close closes the idle connections.
func (c *Client) Close() error {
	c.http.CloseIdleConnections()
	c.writes.CloseIdleConnections()
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.login != nil {
		c.login.Destroy()
		c.login = nil
	}
	return nil
}

// ask sends a request to the name nodes until the active one responds. The caller closes the
// response, which is a success or a redirect.
func (c *Client) ask(method, path string, query url.Values) (*http.Response, error) {
	n := len(c.cfg.Nodes)
	first := int(c.active.Load())
	var errs []error
	for i := range n {
		at := (first + i) % n
		res, err := c.askNode(method, c.url(c.cfg.Nodes[at], path, query))
		if err == nil {
			c.active.Store(int64(at))
			return res, nil
		}
		if !elsewhere(err) {
			return nil, err
		}
		errs = append(errs, err)
	}
	if n == 1 {
		if e, ok := errors.AsType[*url.Error](errs[0]); ok && e.Op == "parse" {
			return nil, &addressError{errs[0]}
		}
		return nil, errs[0]
	}
	return nil, fmt.Errorf("none of %d name nodes responds: %w", n, errors.Join(errs...))
}

// elsewhere reports whether another name node may succeed: this one is on standby,
// starting up, or unreachable.
func elsewhere(err error) bool {
	if r, ok := errors.AsType[*remote.Refusal](err); ok {
		return strings.HasSuffix(r.Exception, "StandbyException") || strings.HasSuffix(r.Exception, "RetriableException")
	}
	_, network := errors.AsType[*url.Error](err)
	return network
}

// url returns the URL of a request to a name node. All special characters of the path are escaped,
// also those that Go would leave: Java's servers interpret a semicolon.
func (c *Client) url(node, name string, query url.Values) string {
	scheme := "http"
	if c.cfg.TLS {
		scheme = "https"
	}
	elements := strings.Split(path.Clean("/"+name), "/")
	for i := range elements {
		elements[i] = url.PathEscape(elements[i])
	}
	return scheme + "://" + node + "/webhdfs/v1" + strings.Join(elements, "/") + "?" + query.Encode()
}

// query returns the parameters of an operation.
func (c *Client) query(op string, more ...string) url.Values {
	q := url.Values{"op": {op}}
	if c.cfg.Token != "" {
		q.Set("delegation", c.cfg.Token)
	}
	if c.cfg.User != "" {
		q.Set("user.name", c.cfg.User)
	}
	for i := 0; i+1 < len(more); i += 2 {
		q.Set(more[i], more[i+1])
	}
	return q
}

// askNode sends a request to one name node, with the ticket for its service HTTP if the client has a login.
func (c *Client) askNode(method, to string) (*http.Response, error) {
	req, err := http.NewRequestWithContext(context.Background(), method, to, nil)
	if err != nil {
		return nil, c.silent(err)
	}
	if c.cfg.Kerberos != nil {
		if err := c.authenticate(req); err != nil {
			return nil, err
		}
	}
	return c.send(c.http, req)
}

// authenticate adds the client's ticket to a request (RFC 4559). The ticket is kept from request to request; a new
// one is fetched before it expires.
func (c *Client) authenticate(req *http.Request) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.login == nil {
		login, err := c.cfg.Kerberos.Client()
		if err != nil {
			return err
		}
		c.login = login
	}
	service := "HTTP/" + req.URL.Hostname()
	if err := spnego.SetSPNEGOHeader(c.login, req, service); err != nil {
		c.login.Destroy()
		c.login = nil // the next request reads the ticket cache again
		return fmt.Errorf("cannot get a ticket for %s as %v: %w: run kinit, or check the keytab", service, c.cfg.Kerberos, err)
	}
	return nil
}

// one sends a request to one server.
func (c *Client) one(method, to string, body io.Reader) (*http.Response, error) {
	req, err := http.NewRequestWithContext(context.Background(), method, to, body)
	if err != nil {
		return nil, c.silent(err)
	}
	if body != nil {
		req.Header.Set("Content-Type", "application/octet-stream")
		return c.send(c.writes, req)
	}
	return c.send(c.http, req)
}

// send sends a request by a client for HTTP and returns its response, which is a success or a
// redirect.
func (c *Client) send(by *http.Client, req *http.Request) (*http.Response, error) {
	res, err := by.Do(req)
	if err != nil {
		return nil, c.silent(err)
	}
	if res.StatusCode < 400 {
		return res, nil
	}
	defer func() { _ = res.Body.Close() }() // the needed part has been read
	return nil, refusal(res)
}
