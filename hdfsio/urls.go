// SPDX-License-Identifier: Apache-2.0

package hdfsio

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"sync"
)

// URLs is a file system that dispatches by name. scheme://authority/path is on the
// file system that Dial returns for it; file:// URLs and plain names are on this
// machine.
type URLs struct {
	// Local is the file system of plain names; nil: [Local].
	Local FS
	// Dial returns the file system of an authority, which is empty in
	// scheme:///path. It is called at the first such name, and again only after an error,
	// which the call returns. nil: there are no other file systems.
	Dial func(scheme, authority string) (FS, error)

	mu     sync.Mutex
	dialed map[string]FS
}

var (
	_ FS      = (*URLs)(nil)
	_ Capable = (*URLs)(nil)
	_ Locator = (*URLs)(nil)
)

// SplitURL splits a URL; ok: name is one. The path begins with a slash. As in
// Hadoop, it has no escapes.
func SplitURL(name string) (scheme, authority, path string, ok bool) {
	scheme, rest, ok := strings.Cut(name, "://")
	if !ok || scheme == "" {
		return "", "", "", false
	}
	for i, c := range []byte(scheme) {
		letter := 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z'
		if !letter && (i == 0 || !strings.ContainsRune("0123456789+-.", rune(c))) {
			return "", "", "", false
		}
	}
	at := strings.IndexByte(rest, '/')
	if at < 0 {
		return strings.ToLower(scheme), rest, "/", true
	}
	return strings.ToLower(scheme), rest[:at], rest[at:], true
}

// Remote reports whether a name is on another machine's file system.
func Remote(name string) bool {
	scheme, _, _, ok := SplitURL(name)
	return ok && scheme != "file"
}

// at returns the file system of a name, and the name on it.
func (u *URLs) at(name string) (FS, string, error) {
	local := u.Local
	if local == nil {
		local = Local{}
	}
	scheme, authority, path, ok := SplitURL(name)
	switch {
	case !ok:
		return local, name, nil
	case scheme == "file":
		if authority != "" && authority != "localhost" {
			return nil, "", newError("open", name, fmt.Errorf("the host %q is not this machine", authority), "write file:///PATH, with three slashes")
		}
		return local, path, nil
	}
	key := scheme + "://" + authority
	u.mu.Lock()
	defer u.mu.Unlock()
	if fsys, ok := u.dialed[key]; ok {
		return fsys, name, nil
	}
	if u.Dial == nil {
		return nil, "", newError("open", name, fmt.Errorf("unknown file system %s://", scheme), "give a local file")
	}
	fsys, err := u.Dial(scheme, authority)
	if err != nil {
		return nil, "", newError("open", name, err, "")
	}
	if u.dialed == nil {
		u.dialed = map[string]FS{}
	}
	u.dialed[key] = fsys
	return fsys, name, nil
}

// Close closes the connections to other machines, and ends the files that are being read or
// written there.
func (u *URLs) Close() error {
	u.mu.Lock()
	dialed := u.dialed
	u.dialed = nil
	u.mu.Unlock()
	var errs []error
	for _, fsys := range dialed {
		if c, ok := fsys.(io.Closer); ok {
			errs = append(errs, c.Close())
		}
	}
	return errors.Join(errs...)
}

// Open reads a file from offset on.
func (u *URLs) Open(ctx context.Context, name string, offset int64) (io.ReadCloser, error) {
	fsys, name, err := u.at(name)
	if err != nil {
		return nil, err
	}
	return fsys.Open(ctx, name, offset)
}

// Create starts a file that replaces name when it is committed.
func (u *URLs) Create(ctx context.Context, name string) (File, error) {
	fsys, name, err := u.at(name)
	if err != nil {
		return nil, err
	}
	return fsys.Create(ctx, name)
}

// Stat describes a file or directory.
func (u *URLs) Stat(ctx context.Context, name string) (Info, error) {
	fsys, name, err := u.at(name)
	if err != nil {
		return Info{}, err
	}
	return fsys.Stat(ctx, name)
}

// List returns the files that match a pattern, sorted by name.
func (u *URLs) List(ctx context.Context, pattern string) ([]Info, error) {
	fsys, pattern, err := u.at(pattern)
	if err != nil {
		return nil, err
	}
	return fsys.List(ctx, pattern)
}

// Remove removes a file or an empty directory.
func (u *URLs) Remove(ctx context.Context, name string) error {
	fsys, name, err := u.at(name)
	if err != nil {
		return err
	}
	return fsys.Remove(ctx, name)
}

// Mkdir makes a directory and its missing parents.
func (u *URLs) Mkdir(ctx context.Context, name string) error {
	fsys, name, err := u.at(name)
	if err != nil {
		return err
	}
	return fsys.Mkdir(ctx, name)
}

// Caps returns the capabilities of a name's file system.
func (u *URLs) Caps(name string) (Caps, error) {
	fsys, name, err := u.at(name)
	if err != nil {
		return Caps{}, err
	}
	return CapsOf(fsys, name)
}

// Blocks returns the locations of a file's blocks.
func (u *URLs) Blocks(ctx context.Context, name string) ([]Block, error) {
	fsys, name, err := u.at(name)
	if err != nil {
		return nil, err
	}
	if l, ok := fsys.(Locator); ok {
		return l.Blocks(ctx, name)
	}
	return nil, errNoBlocks
}

// RemoveTemp removes the temporary files that a killed process of this machine has left of name, on file
// systems that support it.
func (u *URLs) RemoveTemp(name string, pid int) error {
	fsys, name, err := u.at(name)
	if err != nil {
		return err
	}
	if f, ok := fsys.(interface{ RemoveTemp(string, int) error }); ok {
		return f.RemoveTemp(name, pid)
	}
	return nil
}

// RemoveTemps removes them for all files whose names begin with prefix.
func (u *URLs) RemoveTemps(prefix string, pid int) error {
	fsys, prefix, err := u.at(prefix)
	if err != nil {
		return err
	}
	if f, ok := fsys.(interface{ RemoveTemps(string, int) error }); ok {
		return f.RemoveTemps(prefix, pid)
	}
	return nil
}
