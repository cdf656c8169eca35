// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"net/netip"
	"strconv"
	"strings"
	"time"

	"github.com/gvw-project/gvw/allreduce/auth"
	"github.com/gvw-project/gvw/internal/spantree/server"
)

// fieldOptions replaces the fields that package auth names in messages by options.
var fieldOptions = strings.NewReplacer(
	"auth.Credentials.Secret", "--secret_file",
	"auth.Credentials.TLS", "--tls_cert or --encrypt",
	"auth.Credentials.AllowVW", "--allow_vw",
	"site: ", "",
	"Config.Address", "--http",
	"Config.Token", "--http_token_file",
	"Config.TLS", "--tls_cert",
)

// guard holds the options for access control.
type guard struct {
	secretFile             string
	encrypt                bool
	tlsCert, tlsKey, tlsCA string
	allowVW                bool
	allow                  []netip.Prefix
}

// setAllow parses a list of networks and addresses, such as 10.0.0.0/8,192.168.1.7.
func (g *guard) setAllow(value string) error {
	g.allow = nil
	for word := range strings.SplitSeq(value, ",") {
		n, err := netip.ParsePrefix(word)
		if err != nil {
			ip, ierr := netip.ParseAddr(word)
			if ierr != nil {
				return usage("--allow %s: %q is not a network such as 10.0.0.0/8 or an address", value, word)
			}
			n = netip.PrefixFrom(ip, ip.BitLen())
		}
		g.allow = append(g.allow, n)
	}
	return nil
}

// check reports options that are missing or have no effect.
func (g *guard) check() error {
	some := g.tlsCert != "" || g.tlsKey != "" || g.tlsCA != ""
	switch {
	case some && (g.tlsCert == "" || g.tlsKey == "" || g.tlsCA == ""):
		return usage("--tls_cert, --tls_key and --tls_ca must be given together")
	case g.encrypt && some:
		return usage("--encrypt has no effect with --tls_cert, which uses TLS already: remove one of them")
	case g.encrypt && g.secretFile == "":
		return usage("--encrypt needs --secret_file FILE: without certificates only the secret authenticates")
	case g.allowVW && !some && g.secretFile == "":
		return usage("--allow_vw has no effect without --secret_file or --tls_cert: vw workers are admitted already")
	}
	return nil
}

// credentials reads the secret and the certificates.
func (g *guard) credentials() (*auth.Credentials, error) {
	creds := &auth.Credentials{AllowVW: g.allowVW}
	var err error
	if g.secretFile != "" {
		if creds.Secret, err = auth.ReadSecret(g.secretFile); err != nil {
			return nil, fmt.Errorf("--secret_file: %w", err)
		}
	}
	if g.tlsCert != "" {
		if creds.TLS, err = auth.ReadTLS(g.tlsCert, g.tlsKey, g.tlsCA); err != nil {
			return nil, fmt.Errorf("--tls_cert, --tls_key, --tls_ca: %w", err)
		}
	}
	if g.encrypt {
		if creds.TLS, err = auth.Ephemeral(); err != nil {
			return nil, fmt.Errorf("--encrypt: %w", err)
		}
	}
	return creds, nil
}

// bounds limits the resources that clients may use; 0 stands for the server's default.
type bounds struct {
	jobs, ranks, pending, handshakes, frame, memory int
	handshake, idle                                 time.Duration
}

var boundNames = []string{"max_jobs", "max_ranks", "max_pending", "max_handshakes", "max_frame", "max_memory", "handshake_timeout", "max_idle"}

// limitOptions replaces the fields that the server names in messages about limits by options.
var limitOptions = strings.NewReplacer(
	"spantree: ", "", "\n", "; ",
	"MaxJobs", "--max_jobs", "MaxRanks", "--max_ranks", "MaxPending", "--max_pending",
	"MaxHandshakes", "--max_handshakes", "MaxFrame", "--max_frame",
)

// limits returns the limits as those of a server.
func (b *bounds) limits() server.ServerConfig {
	return server.ServerConfig{
		MaxJobs: b.jobs, MaxRanks: b.ranks, MaxPending: b.pending, MaxHandshakes: b.handshakes, MaxFrame: b.frame,
		MaxMemory: int64(b.memory) << 20, HandshakeTimeout: b.handshake, IdleTimeout: b.idle,
	}
}

// check reports limits that are out of the server's range.
func (b *bounds) check() error {
	if err := b.limits().Validate(); err != nil {
		return usage("%s", limitOptions.Replace(err.Error()))
	}
	return nil
}

// setter returns a function that parses and sets the value of a limit, and reports whether
// there is such a limit.
func (b *bounds) setter(name string) (func(string) error, bool) {
	whole := map[string]*int{
		"max_jobs": &b.jobs, "max_ranks": &b.ranks, "max_pending": &b.pending,
		"max_handshakes": &b.handshakes, "max_frame": &b.frame, "max_memory": &b.memory,
	}[name]
	switch {
	case whole != nil:
		return func(value string) error {
			n, err := strconv.ParseInt(value, 10, 32)
			if err != nil || n < 1 {
				return usage("--%s %s: want a whole number of at least 1", name, value)
			}
			if least := server.MinMemory >> 20; name == "max_memory" && int(n) < least {
				return usage("--%s %s: want at least %d (the unit is MiB)", name, value, least)
			}
			*whole = int(n)
			return nil
		}, true
	case name == "handshake_timeout":
		return span(name, &b.handshake), true
	case name == "max_idle":
		return span(name, &b.idle), true
	}
	return nil, false
}
