// SPDX-License-Identifier: Apache-2.0

package hdfs

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"strings"

	"github.com/gvw-project/gvw/hdfsio"
	"github.com/gvw-project/gvw/hdfsio/remote"
)

// Dialer returns the function for [hdfsio.URLs].Dial for hdfs://, webhdfs:// and swebhdfs://.
func Dialer(cfg Config) func(scheme, authority string) (hdfsio.FS, error) {
	if cfg.Log == nil {
		cfg.Log = slog.New(slog.DiscardHandler)
	}
	return func(scheme, authority string) (hdfsio.FS, error) {
		if err := cfg.Validate(); err != nil {
			return nil, err
		}
		backends, err := cfg.backends(scheme)
		if err != nil {
			return nil, err
		}
		prefix := scheme + "://" + authority
		b, err := cfg.choose(prefix, authority, backends)
		if err != nil {
			return nil, err
		}
		return remote.New(b, remote.Config{
			Prefix: prefix, Patience: cfg.Patience, Spool: cfg.Spool, Perm: cfg.Perm,
			Host: cfg.Host, Pid: cfg.Pid, Log: cfg.Log,
		})
	}
}

// backend is one client for a cluster. make returns the client and a description of its
// login, or an error that names what it lacks.
type backend struct {
	name string
	make func(authority string) (b remote.Backend, as string, err error)
}

// backends returns the clients for a scheme, the best first.
func (c Config) backends(scheme string) ([]backend, error) {
	all := []backend{{"native", c.native}, {"webhdfs", c.webhdfs}, {"pipe", c.pipe}}
	switch scheme {
	case "hdfs":
		if c.Client == "" || c.Client == "auto" {
			return all, nil
		}
		for _, w := range all {
			if w.name == c.Client {
				return []backend{w}, nil
			}
		}
	case "webhdfs":
		return []backend{{"webhdfs", c.plainWeb}}, nil
	case "swebhdfs":
		return []backend{{"swebhdfs", c.secureWeb}}, nil
	}
	return nil, fmt.Errorf("unknown file system %s://: use hdfs, webhdfs, swebhdfs or file", scheme)
}

// NoWayError has the reason why each client failed for a cluster.
type NoWayError struct {
	Names   []string // names of the clients
	Reasons []error  // the reason for each
}

func (e *NoWayError) Error() string {
	if len(e.Reasons) == 1 {
		return fmt.Sprintf("%s: %v", e.Names[0], e.Reasons[0])
	}
	var b strings.Builder
	b.WriteString("no client works for it")
	for i, name := range e.Names {
		fmt.Fprintf(&b, "; %s: %v", name, e.Reasons[i])
	}
	return b.String()
}

// Unwrap returns the reasons.
func (e *NoWayError) Unwrap() []error { return e.Reasons }

// choose returns the first client that works.
func (c Config) choose(prefix, authority string, backends []backend) (remote.Backend, error) {
	no := &NoWayError{}
	for i, w := range backends {
		b, as, err := w.make(authority)
		if err == nil {
			_, err = b.Stat("/")
		}
		if err != nil {
			no.Names, no.Reasons = append(no.Names, w.name), append(no.Reasons, err)
			continue
		}
		attrs := []any{"by", w.name, "as", as}
		for j, name := range no.Names {
			attrs = append(attrs, "not_"+name, no.Reasons[j].Error())
		}
		shown := prefix
		if def, err := c.Conf.Default(); authority == "" && err == nil {
			shown += def
		}
		c.Log.Info("connected to "+shown, attrs...)
		return &orNext{Backend: b, next: c.second(authority, backends[i+1:])}, nil
	}
	return nil, no
}

// second returns the client for files that the first one cannot read.
func (c Config) second(authority string, backends []backend) func() (remote.Backend, error) {
	return func() (remote.Backend, error) {
		no := &NoWayError{}
		for _, w := range backends {
			b, _, err := w.make(authority)
			if err == nil {
				return b, nil
			}
			no.Names, no.Reasons = append(no.Names, w.name), append(no.Reasons, err)
		}
		return nil, no
	}
}

// orNext is a client that leaves operations that it does not support to another client.
type orNext struct {
	remote.Backend
	next func() (remote.Backend, error)
}

var _ remote.Locator = (*orNext)(nil)

// Close closes the client. The other client has no open connections.
func (o *orNext) Close() error {
	if c, ok := o.Backend.(io.Closer); ok {
		return c.Close()
	}
	return nil
}

// Open reads a file from offset on.
func (o *orNext) Open(path string, offset int64) (io.ReadCloser, error) {
	r, err := o.Backend.Open(path, offset)
	if !errors.Is(err, errors.ErrUnsupported) {
		return r, err
	}
	b, nerr := o.next()
	if nerr != nil {
		return nil, err
	}
	return b.Open(path, offset)
}

// Put makes a file from r. A client without permission has not read anything of r.
func (o *orNext) Put(path string, r io.Reader, perm fs.FileMode) error {
	err := o.Backend.Put(path, r, perm)
	if !errors.Is(err, errors.ErrUnsupported) {
		return err
	}
	b, nerr := o.next()
	if nerr != nil {
		return err
	}
	return b.Put(path, r, perm)
}

// Blocks returns the locations of a file's blocks, if either client can report them.
func (o *orNext) Blocks(path string, size int64) ([]hdfsio.Block, error) {
	if l, ok := o.Backend.(remote.Locator); ok {
		return l.Blocks(path, size)
	}
	if b, err := o.next(); err == nil {
		if l, ok := b.(remote.Locator); ok {
			return l.Blocks(path, size)
		}
	}
	return nil, fmt.Errorf("%s does not report locations of blocks: %w", o, errors.ErrUnsupported)
}
