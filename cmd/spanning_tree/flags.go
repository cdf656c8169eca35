// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"runtime/debug"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/gvw-project/gvw/internal/spantree/protocol"
)

const help = `usage: spanning_tree [options] [pid_file]

The server through which the workers of cluster jobs (vw and gvw) find each other.

  -p, --port N      listen on port N (default 26543; 0: any free one, which is
                    printed to stdout)
      --bind ADDR   listen on this address alone (default: all)
      --state FILE  remember finished runs in FILE, so that a restarted server
                    knows them (default: only while it runs)
      --lost_after T
                    silence after which a rank is lost that does not say itself
                    (default 10s)
      --replace_timeout T
                    how long a job that recovers waits for the replacement of a
                    lost rank, if it does not say itself (default 10m)
      --grace T     with --state: how long a restarted server waits for the ranks
                    of running jobs before it starts others that recover
                    (default: --lost_after)
      --journal_timeout T
                    with --state: how long a job that has ended waits for the disk
                    to take its record, then it fails; also how long a start waits
                    for the disk (default 5m)
      --log FILE    append the log to FILE (default: stderr; in the background only if
                    that is a file)
      --nondaemon   stay in the foreground

Who may come (gvw keygen makes secrets and certificates; docs/security.md):

      --secret_file FILE
                    ask everybody for the secret in FILE, and show it to them
      --encrypt     with --secret_file: speak TLS, without certificates
      --tls_cert FILE, --tls_key FILE, --tls_ca FILE
                    speak TLS, with who has a certificate of the authority
      --allow_vw    let vw workers in all the same, who can prove nothing
      --allow CIDR,..
                    take connections from these networks alone

Bounds, with their defaults:

      --max_jobs N (1000)           jobs that fill or run
      --max_ranks N (16384)         ranks of a job
      --max_pending N (1024)        connections of one address that have not said,
                                    or proven, who they are
      --handshake_timeout T (10s)   time to say and prove it
      --max_handshakes N (256)      TLS handshakes that work at once
      --max_frame BYTES (65536)     a message of a rank
      --max_idle T (24h)            silence that a rank may ask for, and the wait of
                                    a vw worker for its job to fill
      --max_memory MIB (512)        for all that clients make it hold

      --version     print the version
  -h, --help        print this text

The process id is written to pid_file, which goes when the server ends.
SIGTERM ends it when its jobs have ended; SIGINT, or a second SIGTERM, at once.
`

// options are what the command line says.
type options struct {
	port      uint16
	bind      string
	state     string
	log       string
	pidFile   string
	lostAfter time.Duration
	replace   time.Duration
	grace     time.Duration
	journal   time.Duration
	nondaemon bool
	guard
	bounds
	help, version bool
}

// usageError is a command line that makes no sense.
type usageError struct{ text string }

func (e *usageError) Error() string { return e.text }

func usage(format string, args ...any) error {
	return &usageError{fmt.Sprintf(format, args...) + " (--help shows what there is)"}
}

// parse reads a command line. Options may come in any order, with one dash or
// two, with "=" or a word for the value; underscores and dashes are the same.
func parse(args []string) (options, error) {
	o := options{port: protocol.DefaultPort}
	words := false // "--" ends the options
	for i := 0; i < len(args); i++ {
		arg := args[i]
		if words || !strings.HasPrefix(arg, "-") || arg == "-" {
			if o.pidFile != "" {
				return o, usage("two pid files, %q and %q", o.pidFile, arg)
			}
			if arg == "" || arg == "-" {
				return o, usage("%q is no name for a pid file", arg)
			}
			o.pidFile = arg
			continue
		}
		if arg == "--" {
			words = true
			continue
		}
		name, value, given := strings.Cut(strings.TrimLeft(arg, "-"), "=")
		name = strings.ReplaceAll(name, "-", "_")
		if port, ok := strings.CutPrefix(name, "p"); ok && !strings.HasPrefix(arg, "--") && !given && isNumber(port) {
			name, value, given = "p", port, true // -p26544
		}
		if flag := o.flag(name); flag != nil {
			if given {
				return o, usage("--%s takes no value", name)
			}
			*flag = true
			continue
		}
		set, ok := o.setter(name)
		if !ok {
			return o, usage("unknown option %s%s", arg, suggest(name))
		}
		if !given {
			if i++; i == len(args) {
				return o, usage("--%s lacks its value", name)
			}
			value = args[i]
		}
		if err := set(value); err != nil {
			return o, err
		}
	}
	if o.journal != 0 && o.state == "" {
		return o, usage("--journal_timeout would be ignored: without --state FILE there is no journal")
	}
	if o.grace != 0 && o.state == "" {
		return o, usage("--grace is of use with --state alone: without a journal a server does not know that it was started again")
	}
	return o, o.guard.check()
}

func isNumber(s string) bool {
	_, err := strconv.ParseUint(s, 10, 64)
	return err == nil
}

// flag is where an option without a value is kept, nil if there is no such.
func (o *options) flag(name string) *bool {
	switch name {
	case "nondaemon":
		return &o.nondaemon
	case "help", "h":
		return &o.help
	case "version":
		return &o.version
	case "allow_vw":
		return &o.allowVW
	case "encrypt":
		return &o.encrypt
	}
	return nil
}

// setter takes an option's value.
func (o *options) setter(name string) (func(string) error, bool) {
	text := func(to *string) func(string) error {
		return func(value string) error {
			if value == "" {
				return usage("--%s is empty", name)
			}
			*to = value
			return nil
		}
	}
	switch name {
	case "port", "p":
		return func(value string) error {
			n, err := strconv.ParseUint(value, 10, 16)
			if err != nil {
				return usage("--port %s: a port is a number from 0 to 65535", value)
			}
			o.port = uint16(n)
			return nil
		}, true
	case "bind":
		return text(&o.bind), true
	case "state":
		return text(&o.state), true
	case "log":
		return text(&o.log), true
	case "lost_after":
		return span(name, &o.lostAfter), true
	case "replace_timeout":
		return span(name, &o.replace), true
	case "grace":
		return span(name, &o.grace), true
	case "journal_timeout":
		return span(name, &o.journal), true
	case "secret_file":
		return text(&o.secretFile), true
	case "tls_cert":
		return text(&o.tlsCert), true
	case "tls_key":
		return text(&o.tlsKey), true
	case "tls_ca":
		return text(&o.tlsCA), true
	case "allow":
		return o.setAllow, true
	}
	return o.bounds.setter(name)
}

// span takes a duration: "10s", "5m".
func span(name string, to *time.Duration) func(string) error {
	return func(value string) error {
		d, err := time.ParseDuration(value)
		if err != nil || d <= 0 {
			return usage("--%s %s: a duration is a positive number with a unit, say 10s or 5m", name, value)
		}
		*to = d
		return nil
	}
}

// suggest offers the option that a wrong one may have meant.
func suggest(name string) string {
	if name == "" {
		return ""
	}
	for _, known := range slices.Concat([]string{
		"port", "bind", "state", "log", "lost_after", "replace_timeout", "grace", "journal_timeout", "nondaemon", "help", "version",
		"secret_file", "tls_cert", "tls_key", "tls_ca", "encrypt", "allow_vw", "allow",
	}, boundNames) {
		if strings.HasPrefix(known, name) || strings.HasPrefix(name, known) || strings.ReplaceAll(name, "_", "") == strings.ReplaceAll(known, "_", "") {
			return ", did you mean --" + known + "?"
		}
	}
	return ""
}

// version is what the build knows about itself.
func version() string {
	v := "(devel)"
	if info, ok := debug.ReadBuildInfo(); ok && info.Main.Version != "" {
		v = info.Main.Version
	}
	return "spanning_tree " + v
}
