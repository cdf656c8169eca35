// SPDX-License-Identifier: Apache-2.0

package remote

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"path"
	"slices"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/gvw-project/gvw/hdfsio"
)

// Config describes how to make an FS of a Backend.
type Config struct {
	// Prefix begins all names: scheme://authority, without a final slash. Required.
	Prefix string
	// Patience is the limit for the retries of a call, and for a read or write without
	// progress; 0: two minutes, enough for a data node to restart and to register
	// again.
	Patience time.Duration
	// Spool is the directory on this machine for temporary files; empty: that of the
	// system (TMPDIR).
	Spool string
	// Perm is the mode of the files that Create makes; 0: 0o600.
	Perm fs.FileMode
	// Verbatim keeps paths as they are, for servers on which a//b and a/b are two files.
	Verbatim bool
	// Host is this machine's name, for the names of temporary files. Required.
	Host string
	// Pid is this process's ID, likewise.
	Pid int
	// Log receives retries and their reasons; nil: discard them.
	Log *slog.Logger
}

// Validate reports all missing or invalid fields.
func (c Config) Validate() error {
	var errs []error
	if scheme, authority, _, ok := hdfsio.SplitURL(c.Prefix); !ok || scheme+"://"+authority != c.Prefix {
		errs = append(errs, fmt.Errorf("remote: Prefix: got %q, want scheme://authority", c.Prefix))
	}
	if c.Patience < 0 {
		errs = append(errs, fmt.Errorf("remote: Patience: got %v, want 0 or more", c.Patience))
	}
	if c.Host == "" || strings.ContainsAny(c.Host, "/\\") {
		errs = append(errs, fmt.Errorf("remote: Host: got %q, want this machine's name", c.Host))
	}
	return errors.Join(errs...)
}

// FS is a file system that uses a Backend.
type FS struct {
	b   Backend
	cfg Config

	mu    sync.Mutex
	temps map[string]bool // temporary files that this process may have left
}

var (
	_ hdfsio.FS      = (*FS)(nil)
	_ hdfsio.Capable = (*FS)(nil)
	_ hdfsio.Locator = (*FS)(nil)
)

// New makes an FS.
func New(b Backend, cfg Config) (*FS, error) {
	if err := cfg.Validate(); err != nil {
		return nil, err
	}
	cfg.Patience = cmp.Or(cfg.Patience, 2*time.Minute)
	cfg.Perm = cmp.Or(cfg.Perm, 0o600)
	if cfg.Log == nil {
		cfg.Log = slog.New(slog.DiscardHandler)
	}
	return &FS{b: b, cfg: cfg, temps: map[string]bool{}}, nil
}

// Close closes the back end's connections, and ends the files that are being read or written.
func (f *FS) Close() error {
	if c, ok := f.b.(io.Closer); ok {
		return c.Close()
	}
	return nil
}

// path removes the prefix from a name.
func (f *FS) path(op, name string) (string, error) {
	rest, ok := strings.CutPrefix(name, f.cfg.Prefix)
	if !ok || rest != "" && rest[0] != '/' {
		return "", f.error(op, name, fmt.Errorf("the name does not begin with %s: %w", f.cfg.Prefix, fs.ErrInvalid))
	}
	if strings.IndexByte(rest, 0) >= 0 {
		return "", f.error(op, name, fs.ErrInvalid)
	}
	if f.cfg.Verbatim {
		return rest, nil
	}
	return path.Clean("/" + rest), nil
}

func (f *FS) error(op, name string, err error) error {
	advice := adviceFor
	if a, ok := f.b.(Adviser); ok {
		advice = a.Advice
	}
	return &hdfsio.Error{Op: op, Name: name, By: f.b.String(), Err: err, Advice: advice(err)}
}

// Stat describes a file or directory.
func (f *FS) Stat(ctx context.Context, name string) (hdfsio.Info, error) {
	return f.stat(ctx, "open", name)
}

func (f *FS) stat(ctx context.Context, op, name string) (info hdfsio.Info, err error) {
	p, err := f.path(op, name)
	if err != nil {
		return hdfsio.Info{}, err
	}
	err = f.persist(ctx, op, name, func() (err error) {
		info, err = f.b.Stat(p)
		return err
	})
	info.Name = name
	return info, err
}

// Remove removes a file or an empty directory.
func (f *FS) Remove(ctx context.Context, name string) error {
	p, err := f.path("remove", name)
	if err != nil {
		return err
	}
	tries := 0
	return f.persist(ctx, "remove", name, func() error {
		tries++
		err := f.b.Remove(p)
		if tries > 1 && errors.Is(err, fs.ErrNotExist) {
			return nil // an earlier attempt succeeded, but its response was lost
		}
		return err
	})
}

// Mkdir makes a directory and its missing parents.
func (f *FS) Mkdir(ctx context.Context, name string) error {
	p, err := f.path("make directory", name)
	if err != nil {
		return err
	}
	return f.persist(ctx, "make directory", name, func() error { return f.b.Mkdir(p) })
}

// Caps returns the capabilities of the file system.
func (f *FS) Caps(string) (hdfsio.Caps, error) { return hdfsio.Caps{Seek: f.b.Seeks()}, nil }

// Blocks returns the locations of a file's blocks.
func (f *FS) Blocks(ctx context.Context, name string) (blocks []hdfsio.Block, err error) {
	p, err := f.path("locate", name)
	if err != nil {
		return nil, err
	}
	l, ok := f.b.(Locator)
	if !ok {
		return nil, f.error("locate", name, fmt.Errorf("this client for HDFS does not report locations of blocks: %w", errors.ErrUnsupported))
	}
	info, err := f.stat(ctx, "locate", name)
	if err != nil {
		return nil, err
	}
	if info.Mode.IsDir() {
		return nil, f.error("locate", name, syscall.EISDIR)
	}
	err = f.persist(ctx, "locate", name, func() (err error) {
		blocks, err = l.Blocks(p, info.Size)
		return err
	})
	slices.SortFunc(blocks, func(a, b hdfsio.Block) int { return cmp.Compare(a.Offset, b.Offset) })
	return blocks, err
}

// Open reads a file from offset on.
func (f *FS) Open(ctx context.Context, name string, offset int64) (io.ReadCloser, error) {
	p, err := f.path("open", name)
	if err != nil {
		return nil, err
	}
	info, err := f.stat(ctx, "open", name)
	if err != nil {
		return nil, err
	}
	switch {
	case info.Mode.IsDir():
		return nil, &hdfsio.Error{Op: "open", Name: name, By: f.b.String(), Err: syscall.EISDIR, Advice: "give a file, or a pattern like '" + strings.TrimSuffix(name, "/") + "/*'"}
	case offset < 0:
		return nil, f.error("open", name, fmt.Errorf("offset %d: %w", offset, fs.ErrInvalid))
	}
	r := &reader{ctx: ctx, fs: f, name: name, path: p, pos: offset, info: info}
	if offset >= info.Size {
		return r, nil
	}
	// Detect faults of the file here, not in the middle of the work.
	err = f.persist(ctx, "open", name, func() (err error) {
		r.r, err = f.open(p, offset, info)
		return err
	})
	if err != nil {
		return nil, err
	}
	return r, nil
}

// open opens the contents that info describes, if the back end can tell.
func (f *FS) open(path string, offset int64, info hdfsio.Info) (io.ReadCloser, error) {
	if v, ok := f.b.(Versioned); ok {
		return v.OpenVersion(path, offset, info)
	}
	return f.b.Open(path, offset)
}
