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

// URLs is a file system that goes by names: scheme://authority/path is on the
// file system that Dial returns for it, file:// and what is no URL on the
// machine's own.
type URLs struct {
	// Local has the plain names; nil: [Local].
	Local FS
	// Dial returns the file system of an authority, which is empty in
	// scheme:///path. It is called at the first such name, once if it succeeds. An
	// error of it is that of every call. nil: there are no others.
	Dial func(scheme, authority string) (FS, error)

	mu     sync.Mutex
	dialed map[string]FS
}

var (
	_ FS      = (*URLs)(nil)
	_ Capable = (*URLs)(nil)
	_ Locator = (*URLs)(nil)
)

// SplitURL takes a URL apart; ok: it is one. The path begins with a slash, and
// nothing in it is an escape: Hadoop's are not.
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

// at returns the file system of a name, and the name there.
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
			return nil, "", newError("open", name, fmt.Errorf("the host %q is not this one", authority), "write file:///PATH, with three slashes")
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
		return nil, "", newError("open", name, fmt.Errorf("%s:// is no file system that can be used here", scheme), "give a local file")
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

// Close ends the connections to other machines. It is for the end: what is read or
// written there ends with it.
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

// Stat describes a file or folder.
func (u *URLs) Stat(ctx context.Context, name string) (Info, error) {
	fsys, name, err := u.at(name)
	if err != nil {
		return Info{}, err
	}
	return fsys.Stat(ctx, name)
}

// List returns what matches a pattern, sorted by name.
func (u *URLs) List(ctx context.Context, pattern string) ([]Info, error) {
	fsys, pattern, err := u.at(pattern)
	if err != nil {
		return nil, err
	}
	return fsys.List(ctx, pattern)
}

// Remove removes a file or an empty folder.
func (u *URLs) Remove(ctx context.Context, name string) error {
	fsys, name, err := u.at(name)
	if err != nil {
		return err
	}
	return fsys.Remove(ctx, name)
}

// Mkdir makes a folder and its missing parents.
func (u *URLs) Mkdir(ctx context.Context, name string) error {
	fsys, name, err := u.at(name)
	if err != nil {
		return err
	}
	return fsys.Mkdir(ctx, name)
}

// Caps returns what a name's file system is good at.
func (u *URLs) Caps(name string) (Caps, error) {
	fsys, name, err := u.at(name)
	if err != nil {
		return Caps{}, err
	}
	return CapsOf(fsys, name)
}

// Blocks returns where a file's pieces are.
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

// RemoveAside removes what a process that was killed has left of name, where the
// file system can tell.
func (u *URLs) RemoveAside(name string, pid int) error {
	fsys, name, err := u.at(name)
	if err != nil {
		return err
	}
	if f, ok := fsys.(interface{ RemoveAside(string, int) error }); ok {
		return f.RemoveAside(name, pid)
	}
	return nil
}

// RemoveAsides removes what it has left of all files whose names begin with prefix.
func (u *URLs) RemoveAsides(prefix string, pid int) error {
	fsys, prefix, err := u.at(prefix)
	if err != nil {
		return err
	}
	if f, ok := fsys.(interface{ RemoveAsides(string, int) error }); ok {
		return f.RemoveAsides(prefix, pid)
	}
	return nil
}
