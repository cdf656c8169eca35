// SPDX-License-Identifier: Apache-2.0

package run

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net"
	"os"
	"os/exec"
	"slices"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/gvw-project/gvw/internal/cli"
	"github.com/gvw-project/gvw/internal/files"
	"github.com/gvw-project/gvw/internal/remote"
)

// remoteHosts are the machines of gvw run --hosts.
type remoteHosts struct {
	of      []string // by process: ranks, then spares
	ssh     []string
	program string // path of gvw on them
	dir     string // working directory
	address string // of this machine, as they reach it
	copies  bool
}

// hostOptions are the options that need --hosts.
var hostOptions = []string{"ssh", "copy", "address"}

// hostsOf returns the machines that the options name; nil: the workers run on this one. It sets --workers to the number of
// slots if it was not given.
func hostsOf(s *cli.Settings) (*remoteHosts, error) {
	if !s.Has("hosts") {
		for _, name := range hostOptions {
			if s.Has(name) {
				return nil, cli.Usagef("--%s would be ignored without --hosts: all workers run on this machine", name)
			}
		}
		return nil, nil
	}
	text := s.Get("hosts")
	content, err := os.ReadFile(text)
	switch {
	case err == nil:
		text = string(content)
	case !errors.Is(err, fs.ErrNotExist) && !errors.Is(err, syscall.ENAMETOOLONG) || strings.Contains(text, "/"):
		return nil, cli.Usagef("--hosts: %w", err)
	}
	of, err := remote.Hosts(text)
	if err != nil {
		return nil, cli.Usagef("--hosts: %w", err)
	}
	spares := int(s.Number("spares"))
	if !s.Has("workers") {
		if len(of) <= spares {
			return nil, cli.Usagef("--spares %d: the hosts have room for %d processes, of which at least one is a worker", spares, len(of))
		}
		s.Set("workers", fmt.Sprint(len(of)-spares))
	}
	if n := int(s.Number("workers")) + spares; n > len(of) {
		return nil, cli.Usagef("-n %d%s: the hosts have room for %d processes: add hosts, or HOST:SLOTS", s.Number("workers"), andSpares(spares), len(of))
	}
	h := &remoteHosts{of: of, ssh: []string{"ssh", "-T", "-o", "BatchMode=yes", "-o", "ConnectTimeout=10"}, address: s.Get("address"), copies: s.Has("copy")}
	if s.Has("ssh") {
		if h.ssh = strings.Fields(s.Get("ssh")); len(h.ssh) == 0 {
			return nil, cli.Usagef("--ssh is empty: give a command, such as 'ssh -p 2222'")
		}
	}
	if h.dir, err = os.Getwd(); err != nil {
		return nil, err
	}
	if h.program, err = os.Executable(); err != nil {
		return nil, fmt.Errorf("cannot find this program to start workers: %w", err)
	}
	if h.address == "" {
		if h.address, err = addressFor(of); err != nil {
			return nil, err
		}
	}
	return h, nil
}

// addressFor returns the address from which this machine reaches the hosts. That of the loopback interface is returned only
// if all hosts are this machine. No packet is sent.
func addressFor(hosts []string) (string, error) {
	found := ""
	for _, host := range slices.Compact(slices.Clone(hosts)) {
		if _, name, ok := strings.Cut(host, "@"); ok {
			host = name
		}
		conn, err := net.Dial("udp", net.JoinHostPort(host, "22"))
		if err != nil {
			return "", cli.Usagef("cannot find the address by which %s reaches this machine (%w): give it by --address", host, err)
		}
		at := conn.LocalAddr().(*net.UDPAddr).IP
		if err := conn.Close(); err != nil {
			return "", err
		}
		if !at.IsLoopback() {
			return at.String(), nil
		}
		if found == "" {
			found = at.String()
		}
	}
	return found, nil
}

// local reports whether all connections are on the loopback interface.
func (h *remoteHosts) local() bool {
	ip := net.ParseIP(h.address)
	return ip != nil && ip.IsLoopback()
}

// listen returns the host on which the server listens.
func (h *remoteHosts) listen() string {
	if h.local() {
		return h.address
	}
	return ""
}

// check returns an error for options that cannot work on other machines.
func (h *remoteHosts) check(s *cli.Settings) error {
	for _, name := range []string{"predictions", "raw_predictions"} {
		if slices.Contains(files.StdoutNames, s.Get(name)) {
			return cli.Usagef("gvw run --hosts: --%s %s: this machine does not see the parts of other machines: give a file in a directory that all share, or FILE.{rank}", name, s.Get(name))
		}
	}
	return nil
}

// command returns the command that connects this machine to a worker with settings w. ranks is the number of ranks of the
// run.
func (h *remoteHosts) command(self, run string, process, ranks int, w *cli.Settings, env []string) (name string, words []string, err error) {
	call := remote.Call{
		SSH: h.ssh, Host: h.of[process], Program: h.program,
		Order: remote.Order{
			Run: fmt.Sprintf("%s.%d", run, process), Dir: h.dir, Args: w.Args(), Env: passed(env),
			Ranks: h.ranksBeside(process, ranks), Threads: threadsOf(w),
		},
	}
	words, err = call.Words()
	return self, words, err
}

// ranksBeside returns the number of ranks on the host of a process. Spares wait, so they do not count.
func (h *remoteHosts) ranksBeside(process, ranks int) (n int) {
	for _, host := range h.of[:ranks] {
		if host == h.of[process] {
			n++
		}
	}
	return n
}

// passed returns the variables that a worker on another machine gets. The others, such as PATH and HOME, are of this one.
func passed(env []string) []string {
	return slices.DeleteFunc(slices.Clone(env), func(kv string) bool {
		return !slices.ContainsFunc([]string{"GVW_", "HADOOP_", "KRB5", "GOMEMLIMIT=", "GOMAXPROCS=", "GODEBUG="}, func(begin string) bool {
			return strings.HasPrefix(kv, begin)
		})
	})
}

// copyProgram copies this program to all hosts that do not have it, and uses it there. Its name contains its digest, so that a
// running one is never replaced.
func (h *remoteHosts) copyProgram(ctx context.Context, stderr io.Writer) error {
	program, err := os.ReadFile(h.program)
	if err != nil {
		return err
	}
	sum := sha256.Sum256(program)
	name := fmt.Sprintf("gvw-%x", sum[:8])
	// The path must not depend on the remote shell's directory, and mktemp makes the name of the copy unique.
	script := fmt.Sprintf(`d=$HOME/.cache/gvw; p=$d/%[1]s; if [ ! -x "$p" ]; then mkdir -p "$d" && t=$(mktemp "$d/.copy-XXXXXX") && cat >"$t" && [ $(wc -c <"$t") -eq %[2]d ] && chmod 700 "$t" && mv "$t" "$p" || exit 1; fi; echo "$p"`, name, len(program))
	hosts := slices.Clone(h.of)
	slices.Sort(hosts)
	hosts = slices.Compact(hosts)
	ctx, cancel := context.WithTimeout(ctx, copyWithin)
	defer cancel()
	errs, paths := make([]error, len(hosts)), make([]string, len(hosts))
	var all sync.WaitGroup
	for i, host := range hosts {
		all.Go(func() {
			cmd := exec.CommandContext(ctx, h.ssh[0], append(h.ssh[1:len(h.ssh):len(h.ssh)], host, "exec sh -c "+remote.Quote(script))...)
			cmd.Stdin, cmd.Stderr, cmd.WaitDelay = strings.NewReader(string(program)), stderr, time.Second
			out, err := cmd.Output()
			if _, path, ok := strings.Cut(string(out), "/"); ok {
				paths[i] = "/" + strings.TrimSpace(path)
			}
			// A host that has the program closes its input early, which is no failure.
			if _, exited := errors.AsType[*exec.ExitError](err); paths[i] == "" || exited {
				errs[i] = fmt.Errorf("cannot copy gvw to %s (limit %v): %w", host, copyWithin, errors.Join(err, context.Cause(ctx)))
			}
		})
	}
	all.Wait()
	if err := errors.Join(errs...); err != nil {
		return err
	}
	for _, path := range paths {
		if path != paths[0] {
			return fmt.Errorf("the hosts have different home directories (%s, %s): copy gvw to the same path on all by hand", paths[0], path)
		}
	}
	h.program = paths[0]
	return nil
}

// copyWithin bounds the copying of the program to all hosts.
const copyWithin = 5 * time.Minute

// hostsServerTimeout is the default of --server_timeout under --hosts.
const hostsServerTimeout = "1m0s"

// hostsCleanup is the time that this process gives its workers on other machines to end after a signal.
const hostsCleanup = 15 * time.Second
