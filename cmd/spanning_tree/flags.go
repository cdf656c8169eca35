// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"runtime/debug"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/gvw-project/gvw/internal/logformat"
	"github.com/gvw-project/gvw/internal/spantree/protocol"
)

const help = `usage: spanning_tree [options] [pid_file]

The server through which the workers of cluster jobs (vw and gvw) find each other.

  -p, --port N      listen on port N (default 26543; 0: any free port, which is
                    printed to stdout)
      --bind ADDR   listen only on this address (default: all)
      --state FILE  keep a journal of finished runs in FILE, for use after a
                    restart (default: remember them in memory)
      --lost_after T
                    silence after which a rank is lost, unless the rank sets
                    its own limit (default 10s)
      --replace_timeout T
                    time that a job waits for the replacement of a lost rank,
                    unless its ranks set their own limit (default 10m)
      --grace T     time after a restart in which the ranks of a running job
                    may reconnect before the server considers one lost or
                    starts an epoch (default: --lost_after)
      --journal_timeout T
                    with --state: time that the end of a job waits for its
                    record to reach the disk before the job fails; also the
                    limit for reading the journal at the start (default 5m)
      --log FILE    append the log to FILE (default: stderr; in the background
                    only if stderr is a file)
      --log_format FORM
                    write the log as text or as json, an object a line
                    (default: text)
      --fault_dir DIR
                    write a report of each stall, loss and failure to DIR,
                    with the cause and the last events of all ranks
      --nondaemon   stay in the foreground

Page (docs/monitoring.md):

      --http ADDR   serve a page that shows the jobs at HOST:PORT, and print its
                    link; without a host on the loopback interface
      --http_token_file FILE
                    token for the page, for programs and further browsers
                    (default: only the printed link opens it, once)
      --http_control
                    let the page cancel jobs

Access control (gvw keygen creates secrets and certificates; docs/security.md):

      --secret_file FILE
                    require clients to prove that they have the secret in FILE,
                    and prove it to them
      --encrypt     with --secret_file: use TLS without certificates
      --tls_cert FILE, --tls_key FILE, --tls_ca FILE
                    use TLS, and require a certificate of the authority
      --allow_vw    admit vw workers, which cannot authenticate
      --allow CIDR,..
                    accept connections only from these networks

Limits, with their defaults:

      --max_jobs N (1000)           jobs that fill or run
      --max_ranks N (16384)         ranks of a job
      --max_pending N (1024)        connections per address that have not
                                    completed their handshake
      --handshake_timeout T (10s)   time to complete a handshake
      --max_handshakes N (256)      concurrent TLS handshakes
      --max_frame BYTES (65536)     size of a message from a rank
      --max_idle T (24h)            silence that a rank may ask for, and time
                                    that a vw worker waits for its job to fill
      --max_memory MIB (512)        memory held on behalf of all clients

      --version     print the version
  -h, --help        print this text

The server writes its process id to pid_file and removes the file when it ends.
SIGTERM ends the server after its jobs have ended. SIGINT or a second SIGTERM ends
it at once.
`

// options holds the parsed command line.
type options struct {
	port      uint16
	bind      string
	state     string
	log       string
	faultDir  string
	pidFile   string
	lostAfter time.Duration
	replace   time.Duration
	grace     time.Duration
	journal   time.Duration
	nondaemon bool
	logFormat string
	web
	guard
	bounds
	help, version bool
}

// usageError reports an invalid command line.
type usageError struct{ text string }

func (e *usageError) Error() string { return e.text }

// usage returns a usageError with a hint at the help.
func usage(format string, args ...any) error {
	return &usageError{fmt.Sprintf(format, args...) + " (--help lists the options)"}
}

// parse parses a command line. Options may come in any order, with one dash or two.
// A value follows after "=" or as the next argument. Underscores and dashes in
// names are equivalent.
func parse(args []string) (options, error) {
	o := options{port: protocol.DefaultPort}
	words := false // set after "--", which ends the options
	for i := 0; i < len(args); i++ {
		arg := args[i]
		if words || !strings.HasPrefix(arg, "-") || arg == "-" {
			if o.pidFile != "" {
				return o, usage("two pid files, %q and %q", o.pidFile, arg)
			}
			if arg == "" || arg == "-" {
				return o, usage("%q is not a valid name for a pid file", arg)
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
				return o, usage("--%s needs a value", name)
			}
			value = args[i]
		}
		if err := set(value); err != nil {
			return o, err
		}
	}
	if o.journal != 0 && o.state == "" {
		return o, usage("--journal_timeout needs --state FILE: without it there is no journal")
	}
	if err := o.web.check(); err != nil {
		return o, err
	}
	if err := o.bounds.check(); err != nil {
		return o, err
	}
	return o, o.guard.check()
}

// isNumber reports whether s has only digits.
func isNumber(s string) bool {
	_, err := strconv.ParseUint(s, 10, 64)
	return err == nil
}

// flag returns the variable of an option without a value, or nil if there is no such option.
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
	case "http_control":
		return &o.httpControl
	}
	return nil
}

// setter returns a function that parses and sets the value of an option, and reports
// whether there is such an option.
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
				return usage("--port %s: want a number from 0 to 65535", value)
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
	case "log_format":
		return func(value string) error {
			if !slices.Contains(logformat.All, value) {
				return usage("--log_format %s: want %s", value, strings.Join(logformat.All, " or "))
			}
			o.logFormat = value
			return nil
		}, true
	case "fault_dir":
		return text(&o.faultDir), true
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
	case "http":
		return text(&o.http), true
	case "http_token_file":
		return text(&o.httpToken), true
	case "allow":
		return o.setAllow, true
	}
	return o.bounds.setter(name)
}

// span returns a setter for a positive duration such as "10s" or "5m".
func span(name string, to *time.Duration) func(string) error {
	return func(value string) error {
		d, err := time.ParseDuration(value)
		if err != nil || d <= 0 {
			return usage("--%s %s: want a positive duration with a unit, such as 10s or 5m", name, value)
		}
		*to = d
		return nil
	}
}

// known are the names of the options except the limits.
var known = []string{
	"port", "bind", "state", "log", "log_format", "fault_dir", "lost_after", "replace_timeout", "grace", "journal_timeout", "nondaemon", "help", "version",
	"secret_file", "tls_cert", "tls_key", "tls_ca", "encrypt", "allow_vw", "allow", "http", "http_token_file", "http_control",
}

// suggest returns a suggestion for an unknown option, or "" if no known option is similar.
func suggest(name string) string {
	if name == "" {
		return ""
	}
	for _, known := range slices.Concat(known, boundNames) {
		if strings.HasPrefix(known, name) || strings.HasPrefix(name, known) || strings.ReplaceAll(name, "_", "") == strings.ReplaceAll(known, "_", "") {
			return ", did you mean --" + known + "?"
		}
	}
	return ""
}

// version returns the program's name and the version recorded in the build.
func version() string {
	v := "(devel)"
	if info, ok := debug.ReadBuildInfo(); ok && info.Main.Version != "" {
		v = info.Main.Version
	}
	return "spanning_tree " + v
}
