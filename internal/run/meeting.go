// SPDX-License-Identifier: Apache-2.0

package run

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/gvw-project/gvw/allreduce/auth"
	"github.com/gvw-project/gvw/hdfsio"
	"github.com/gvw-project/gvw/internal/cli"
	"github.com/gvw-project/gvw/internal/joinflags"
	"github.com/gvw-project/gvw/internal/spantree/client"
	"github.com/gvw-project/gvw/internal/spantree/protocol"
	"github.com/gvw-project/gvw/internal/spantree/server"
)

// meeting is how the ranks of gvw run --join find their server. It is one of three: a server that the user names; the first
// host of the job and a port that follows from its name; or a file in a directory that all ranks share.
type meeting struct {
	host       string
	port       int    // 0: not known yet
	serves     bool   // the server is in this process
	secretFile string // "": the user has given no secret, and there is no shared directory
	file       string // in the shared directory, with the address; "": there is none
	fixed      bool   // the user has given the port
}

// meet determines how this rank finds the server. It reads and writes nothing.
func (j *joined) meet(s *cli.Settings, secretFile string) error {
	m := &j.meeting
	*m = meeting{secretFile: secretFile, port: int(s.Number("port")), fixed: s.Has("port")}
	addr, dir := s.Get("join"), s.Get("join_dir")
	switch {
	case addr != joinsByLauncher && (dir != "" || m.fixed):
		return cli.Usagef("--join=%s names the server: leave out --join_dir and --port", addr)
	case addr != joinsByLauncher:
		host, port, err := net.SplitHostPort(addr)
		if err != nil {
			host, port = strings.Trim(addr, "[]"), strconv.Itoa(joinflags.DefaultServerPort)
		}
		n, err := strconv.ParseUint(port, 10, 16)
		if err != nil || n == 0 || host == "" {
			return cli.Usagef("--join=%s: want HOST or HOST:PORT", addr)
		}
		m.host, m.port = host, int(n)
		return nil
	case dir != "":
		name := fmt.Sprintf("gvw-%016x-%d", j.job.UniqueID, j.at.Generation)
		m.file = filepath.Join(dir, name+".json")
		if m.secretFile == "" {
			m.secretFile = filepath.Join(dir, name+".secret")
		}
		m.host = j.at.First
	case j.at.First != "":
		m.host = j.at.First
		if !m.fixed {
			m.port = portOf(j.job.UniqueID)
		}
	default:
		return cli.Usagef("gvw run --join: %s does not tell where rank 0 runs: give --join_dir DIR, a directory that all ranks share, or --join=HOST:PORT with a server (spanning_tree) there", j.at.Launcher)
	}
	m.serves = j.at.Rank == 0
	return nil
}

// portOf returns the port of a job's server. The range lies below those from which systems take the ports of clients.
func portOf(job uint64) int { return 16384 + int(job%16384) }

// local reports whether the server is reached over the loopback interface.
func (m *meeting) local() bool {
	ip := net.ParseIP(m.host)
	return ip != nil && ip.IsLoopback()
}

// address returns the address of the server.
func (m *meeting) address() string { return net.JoinHostPort(m.host, strconv.Itoa(m.port)) }

// located is the content of the file in the shared directory.
type located struct {
	Host string `json:"host"`
	Port int    `json:"port"`
}

// prepare makes the secret of a job with a shared directory, on its first rank. Another attempt of that rank uses the secret
// of the first one again, since the other ranks have it, and its port.
func (m *meeting) prepare(ctx context.Context, j *joined) error {
	if m.file == "" || !m.serves {
		if m.file != "" {
			return m.await(ctx, j, m.locate) // the secret is there before the address
		}
		return nil
	}
	if err := (hdfsio.Local{}).Mkdir(ctx, filepath.Dir(m.file)); err != nil {
		return err
	}
	if old, err := m.read(); err == nil && !m.fixed {
		m.port = old.Port
	}
	if m.host == "" {
		name, err := os.Hostname()
		if err != nil {
			return fmt.Errorf("cannot find the name of this machine for the other ranks (--join=HOST:PORT needs none): %w", err)
		}
		m.host = name
	}
	if !strings.HasPrefix(m.secretFile, strings.TrimSuffix(m.file, ".json")) {
		return nil // the user's own
	}
	if _, err := os.Stat(m.secretFile); !errors.Is(err, fs.ErrNotExist) {
		return err // none: it is that of an earlier attempt
	}
	return writeWhole(ctx, m.secretFile, auth.NewSecretText())
}

// writeWhole writes a file that only its owner can read.
func writeWhole(ctx context.Context, name string, content []byte) error {
	f, err := hdfsio.Local{}.Create(ctx, name)
	if err != nil {
		return err
	}
	if _, err = f.Write(content); err == nil {
		return f.Commit()
	}
	return errors.Join(err, f.Abort())
}

// read reads the address of the server from the shared directory.
func (m *meeting) read() (at located, err error) {
	b, err := os.ReadFile(m.file)
	if err == nil {
		err = json.Unmarshal(b, &at)
	}
	return at, err
}

// serve starts the server of the job, and publishes its address in the shared directory.
func (m *meeting) serve(ctx context.Context, j *joined) (*server.Local, error) {
	listen := ""
	if m.local() {
		listen = m.host
	}
	cfg := server.ServerConfig{Credentials: j.creds, Log: slog.New(slog.NewTextHandler(j.Stderr, &slog.HandlerOptions{Level: slog.LevelWarn}))}
	local, err := server.StartAt(ctx, net.JoinHostPort(listen, strconv.Itoa(m.port)), cfg)
	if err != nil && m.file != "" && !m.fixed && m.port != 0 { // the port of an earlier attempt, on another machine
		local, err = server.StartAt(ctx, net.JoinHostPort(listen, "0"), cfg)
	}
	if err != nil {
		return nil, fmt.Errorf("cannot start the server of the job (--port N on all ranks chooses another port): %w", err)
	}
	m.port = local.Port
	if m.file != "" {
		text, err := json.Marshal(located{m.host, m.port})
		if err == nil {
			err = writeWhole(ctx, m.file, text)
		}
		if err != nil {
			return nil, errors.Join(err, local.Stop())
		}
	}
	if !j.quiet {
		fmt.Fprintf(j.Stderr, "gvw run: %d ranks by %s, job %s, server %s\n", j.at.Total, j.at.Launcher, j.job.RunKey, m.address())
		if j.creds == nil && !m.local() {
			fmt.Fprintf(j.Stderr, "gvw run: without --secret_file or --join_dir every host that reaches port %d can join\n", m.port)
		}
	}
	return local, nil
}

// leave removes what the first rank has written to the shared directory.
func (m *meeting) leave() error {
	if m.file == "" {
		return nil
	}
	err := os.Remove(m.file)
	if own := strings.TrimSuffix(m.file, ".json") + ".secret"; m.secretFile == own {
		err = errors.Join(err, os.Remove(own))
	}
	return err
}

const (
	// awaitEvery is the time between two attempts to reach the server.
	awaitEvery = 200 * time.Millisecond
	// awaitQuietly is the time after which a rank says that it waits.
	awaitQuietly = 5 * time.Second
)

// await waits until probe returns no error: the address of the server is known, or it answers.
func (m *meeting) await(ctx context.Context, j *joined, probe func(context.Context, *auth.Credentials) error) error {
	began, said := time.Now(), false
	for {
		err := probe(ctx, j.creds)
		if _, refused := errors.AsType[*protocol.RefusedError](err); err == nil || refused {
			return nil // the worker tells why it is refused
		}
		waited := time.Since(began)
		switch {
		case waited >= j.start:
			return &cli.ExitError{Code: cli.ExitDeadline, Text: fmt.Sprintf("rank %d found no server within %v (--start_timeout): %v", j.at.Rank, j.start, err)}
		case waited >= awaitQuietly && !said:
			said = true
			fmt.Fprintf(j.Stderr, "gvw run: rank %d waits for the server of rank 0: %v\n", j.at.Rank, err)
		}
		select {
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-time.After(awaitEvery):
		}
	}
}

// locate reads the address of the server from the shared directory.
func (m *meeting) locate(context.Context, *auth.Credentials) error {
	at, err := m.read()
	if err == nil {
		m.host, m.port = at.Host, at.Port
	}
	return err
}

// answers asks the server for its status. A file that an earlier run has left is read again each time.
func (m *meeting) answers(ctx context.Context, creds *auth.Credentials) error {
	if m.file != "" {
		if err := m.locate(ctx, creds); err != nil {
			return err
		}
	}
	ctx, cancel := context.WithTimeout(ctx, askTimeout)
	defer cancel()
	_, err := client.Status(ctx, nil, m.address(), creds)
	return err
}

// hostAndDomain returns the name of this machine, and the domain of its full name, from the file in which a pod has it.
func hostAndDomain() (host, domain string) {
	host, err := os.Hostname()
	if err != nil {
		return "", ""
	}
	text, err := os.ReadFile("/etc/hosts")
	if err != nil {
		return host, ""
	}
	return host, domainOf(host, string(text))
}

// domainOf returns the domain of a host's full name in a file such as /etc/hosts; "": the file has none.
func domainOf(host, hosts string) string {
	for line := range strings.Lines(hosts) {
		line, _, _ = strings.Cut(line, "#")
		for _, name := range strings.Fields(line) {
			if domain, ok := strings.CutPrefix(name, host+"."); ok {
				return domain
			}
		}
	}
	return ""
}
