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

// guard says who may come.
type guard struct {
	secretFile             string
	encrypt                bool
	tlsCert, tlsKey, tlsCA string
	allowVW                bool
	allow                  []netip.Prefix
}

// setAllow takes networks: 10.0.0.0/8,192.168.1.7.
func (g *guard) setAllow(value string) error {
	g.allow = nil
	for word := range strings.SplitSeq(value, ",") {
		n, err := netip.ParsePrefix(word)
		if err != nil {
			ip, ierr := netip.ParseAddr(word)
			if ierr != nil {
				return usage("--allow %s: %q is no network like 10.0.0.0/8", value, word)
			}
			n = netip.PrefixFrom(ip, ip.BitLen())
		}
		g.allow = append(g.allow, n)
	}
	return nil
}

// check holds that what is said is whole.
func (g *guard) check() error {
	some := g.tlsCert != "" || g.tlsKey != "" || g.tlsCA != ""
	switch {
	case some && (g.tlsCert == "" || g.tlsKey == "" || g.tlsCA == ""):
		return usage("--tls_cert, --tls_key and --tls_ca go together")
	case g.encrypt && some:
		return usage("--encrypt would be ignored: with --tls_cert connections are TLS anyway")
	case g.encrypt && g.secretFile == "":
		return usage("--encrypt without --secret_file FILE: without certificates it is the secret that says who is there")
	case g.allowVW && !some && g.secretFile == "":
		return usage("--allow_vw would be ignored: without --secret_file or --tls_cert vw workers are never kept out")
	}
	return nil
}

// credentials reads the files.
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

// bounds are what clients may take; 0 is the server's own default.
type bounds struct {
	jobs, ranks, pending, handshakes, frame, memory int
	handshake, idle                                 time.Duration
}

var boundNames = []string{"max_jobs", "max_ranks", "max_pending", "max_handshakes", "max_frame", "max_memory", "handshake_timeout", "max_idle"}

// setter takes a bound's value.
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
				return usage("--%s %s: a whole number from 1 on is needed", name, value)
			}
			if least := server.MinMemory >> 20; name == "max_memory" && int(n) < least {
				return usage("--%s %s: it is in MiB, and at least %d", name, value, least)
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
