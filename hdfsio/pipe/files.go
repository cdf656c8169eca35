// SPDX-License-Identifier: Apache-2.0

package pipe

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/gvw-project/gvw/hdfsio"
)

// format is the format in which the client prints a file: type, size in bytes,
// modification time in milliseconds, mode, name.
const format = "%F|%b|%Y|%a|%n"

// parse parses a line of that format.
func parse(line string) (hdfsio.Info, error) {
	f := strings.SplitN(line, "|", 5)
	if len(f) != 5 {
		return hdfsio.Info{}, fmt.Errorf("cannot parse the client's description %q of a file", line)
	}
	size, err1 := strconv.ParseInt(f[1], 10, 64)
	millis, err2 := strconv.ParseInt(f[2], 10, 64)
	bits, err3 := strconv.ParseUint(f[3], 8, 32)
	if err := errors.Join(err1, err2, err3); err != nil {
		return hdfsio.Info{}, fmt.Errorf("cannot parse the client's description %q of a file: %w", line, err)
	}
	mode := fs.FileMode(bits) & fs.ModePerm
	switch f[0] {
	case "directory":
		mode |= fs.ModeDir
	case "symlink":
		mode |= fs.ModeSymlink
	}
	return hdfsio.Info{Name: f[4], Size: size, Modified: time.UnixMilli(millis), Mode: mode}, nil
}

// Stat describes a file or directory.
func (c *Client) Stat(name string) (hdfsio.Info, error) {
	out, err := c.run(nil, "-stat", format, c.name(name))
	if err != nil {
		return hdfsio.Info{}, err
	}
	info, err := parse(strings.TrimSuffix(out, "\n"))
	info.Name = path.Base(name)
	return info, err
}

// ReadDir describes the files in a directory. It asks the client for the directory itself
// and for a pattern of its files, for which the client prints an error if there are none.
func (c *Client) ReadDir(name string) ([]hdfsio.Info, error) {
	out, err := c.run(nil, "-stat", format, c.name(name), strings.TrimSuffix(c.name(name), "/")+"/*")
	lines := strings.Split(strings.TrimSuffix(out, "\n"), "\n")
	if lines[0] == "" {
		if err == nil {
			err = errors.New("the client's list is empty")
		}
		return nil, err
	}
	infos := make([]hdfsio.Info, len(lines))
	for i, line := range lines {
		var perr error
		if infos[i], perr = parse(line); perr != nil {
			return nil, perr
		}
	}
	switch {
	case !infos[0].Mode.IsDir():
		return nil, &fs.PathError{Op: "list", Path: name, Err: syscall.ENOTDIR}
	case len(infos) == 1 && errors.Is(err, fs.ErrNotExist):
		return nil, nil
	case err != nil:
		return nil, err
	}
	return infos[1:], nil
}

// Mkdir makes a directory and its missing parents.
func (c *Client) Mkdir(name string) error {
	_, err := c.run(nil, "-mkdir", "-p", c.name(name))
	return err
}

// Remove removes a file or an empty directory.
func (c *Client) Remove(name string) error {
	_, err := c.run(nil, "-rm", "-skipTrash", c.name(name))
	if err != nil && strings.Contains(err.Error(), "Is a directory") {
		_, err = c.run(nil, "-rmdir", c.name(name))
	}
	return err
}

// Rename renames a file.
func (c *Client) Rename(from, to string, replace bool) error {
	_, err := c.run(nil, "-mv", c.name(from), c.name(to))
	if !replace || !errors.Is(err, fs.ErrExist) {
		return err
	}
	if _, err := c.run(nil, "-rm", "-f", "-skipTrash", c.name(to)); err != nil {
		return err
	}
	_, err = c.run(nil, "-mv", c.name(from), c.name(to))
	return err
}

// Put makes a file from r. Its mode is 0666 without the bits of the client's umask.
func (c *Client) Put(name string, r io.Reader, perm fs.FileMode) error {
	umask := fmt.Sprintf("fs.permissions.umask-mode=%03o", 0o666&^perm.Perm())
	_, err := c.run(r, "-D", umask, "-put", "-f", "-", c.name(name))
	return err
}

// Open reads a file from offset on.
func (c *Client) Open(name string, offset int64) (io.ReadCloser, error) {
	p := c.prepare("-cat", c.name(name))
	out, err := p.cmd.StdoutPipe()
	if err == nil {
		err = p.cmd.Start()
	}
	if err != nil {
		return nil, p.ended(err)
	}
	r := &reader{p: p, out: out}
	if _, err := io.CopyN(io.Discard, r, offset); err != nil {
		_ = r.Close() // the read error is more specific
		if err == io.EOF {
			err = fmt.Errorf("%w: it ended before byte %d", io.ErrUnexpectedEOF, offset)
		}
		return nil, err
	}
	return r, nil
}

// reader reads a file from the output of a client.
type reader struct {
	p     *process
	out   io.ReadCloser
	ended bool
	err   error
}

func (r *reader) Read(b []byte) (int, error) {
	if r.ended {
		return 0, r.err
	}
	r.p.moved()
	n, err := r.out.Read(b)
	if err == nil {
		r.p.watch.Stop() // time of the caller does not count
		return n, nil
	}
	r.ended = true
	if r.err = r.p.ended(r.p.cmd.Wait()); r.err == nil {
		r.err = io.EOF
		if err != io.EOF {
			r.err = err
		}
	}
	return n, r.err
}

// Close kills the client.
func (r *reader) Close() error {
	if !r.ended {
		r.ended, r.err = true, fs.ErrClosed
		r.p.cancel(nil)
		_ = r.p.cmd.Wait() // it was killed
		r.p.watch.Stop()
	}
	return nil
}
