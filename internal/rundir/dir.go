// SPDX-License-Identifier: Apache-2.0

package rundir

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"strings"

	"github.com/gvw-project/gvw/hdfsio"
	"github.com/gvw-project/gvw/internal/spantree/protocol"
)

// Dir is the run directory of a run.
type Dir struct {
	// FS is the file system of Base. Required.
	FS hdfsio.FS
	// Context is the context of the rank; its end ends waits for a file system that does
	// not respond. nil: context.Background().
	Context context.Context
	// Base is the directory of all run directories. Required.
	Base string
	// Run is the run's key. Required.
	Run string

	options string // of Begin
}

func (d *Dir) context() context.Context {
	if d.Context == nil {
		return context.Background()
	}
	return d.Context
}

// Path returns the run directory.
func (d *Dir) Path() string { return d.Base + "/" + escape(d.Run) }

func (d *Dir) path(what string, sum [32]byte) string {
	return fmt.Sprintf("%s/%s-%x", d.Path(), what, sum)
}

const optionsFile = "options"

// Begin sets the options on which the run's ranks agree. It fails if a run with the same key
// and other options exists.
func (d *Dir) Begin(options string) error {
	d.options = options
	sum := sha256.Sum256([]byte(options))
	found, err := d.list(optionsFile)
	if err != nil {
		return err
	}
	for _, other := range found {
		if other == sum {
			return nil
		}
	}
	if len(found) == 0 {
		return nil
	}
	e := &RunIDConflictError{Run: d.Run, Path: d.Path()}
	if theirs, err := d.read(optionsFile, found[0]); err == nil {
		e.Differs = protocol.DiffOptions(options, theirs)
	}
	return e
}

// Probe checks that files can be written here. It leaves only the
// directory Base.
func (d *Dir) Probe() error {
	if err := d.FS.Mkdir(d.context(), d.Base); err != nil {
		return err
	}
	f, err := d.FS.Create(d.context(), d.Base+"/probe")
	if err != nil {
		return err
	}
	return f.Abort()
}

// Put stores the output of write, whose SHA-256 is sum. An existing file is kept.
func (d *Dir) Put(what string, sum [32]byte, write func(io.Writer) error) error {
	if d.holds(what, sum) {
		return nil
	}
	if err := d.FS.Mkdir(d.context(), d.Path()); err != nil {
		return err
	}
	text := sha256.Sum256([]byte(d.options))
	if what != optionsFile && !d.holds(optionsFile, text) {
		err := d.Put(optionsFile, text, func(w io.Writer) error {
			_, err := io.WriteString(w, d.options)
			return err
		})
		if err != nil {
			return err
		}
	}
	name := d.path(what, sum)
	out, err := d.FS.Create(d.context(), name)
	if err != nil {
		return err
	}
	h := sha256.New()
	err = write(io.MultiWriter(out, h))
	if got := [32]byte(h.Sum(nil)); err == nil && got != sum {
		err = fmt.Errorf("%s: got SHA-256 %x…, want %x…: the file has changed meanwhile", name, got[:6], sum[:6])
	}
	if err == nil {
		err = out.Commit()
	}
	if err != nil {
		return errors.Join(err, out.Abort())
	}
	return nil
}

// Take stores a copy of the file name, whose SHA-256 is sum. It ignores what is not a regular
// file, such as a pipe.
func (d *Dir) Take(what string, sum [32]byte, name string) error {
	info, err := d.FS.Stat(d.context(), name)
	if err != nil || !info.Mode.IsRegular() {
		return err
	}
	return d.Put(what, sum, func(w io.Writer) error {
		in, err := d.FS.Open(d.context(), name, 0)
		if err != nil {
			return err
		}
		_, err = io.Copy(w, in)
		return errors.Join(err, in.Close())
	})
}

// holds reports whether a file exists. After an error the file is written again.
func (d *Dir) holds(what string, sum [32]byte) bool {
	_, err := d.FS.Stat(d.context(), d.path(what, sum))
	return err == nil
}

// Open opens the file with this digest. The reader verifies the digest at the end.
func (d *Dir) Open(what string, sum [32]byte) (io.ReadCloser, error) {
	name := d.path(what, sum)
	in, err := d.FS.Open(d.context(), name, 0)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, d.missing(what, fmt.Sprintf("%s does not exist", name))
	}
	if err != nil {
		return nil, err
	}
	return &verified{in: in, name: name, sum: sum, hash: sha256.New()}, nil
}

// Find returns the digest of the only file for what.
func (d *Dir) Find(what string) (sum [32]byte, err error) {
	found, err := d.list(what)
	switch {
	case err != nil:
		return sum, err
	case len(found) == 0:
		return sum, d.missing(what, fmt.Sprintf("%s has no file %s-SHA256", d.Path(), what))
	case len(found) > 1:
		return sum, d.missing(what, fmt.Sprintf("%s has %d different ones", d.Path(), len(found)))
	}
	return found[0], nil
}

func (d *Dir) missing(what, why string) error {
	return &MissingError{Run: d.Run, What: what, Why: why}
}

// list returns the digests of the files for what, sorted.
func (d *Dir) list(what string) (sums [][32]byte, err error) {
	prefix := d.Path() + "/" + what + "-"
	infos, err := d.FS.List(d.context(), hdfsio.Escape(prefix)+strings.Repeat("[0-9a-f]", 2*sha256.Size))
	if err != nil {
		return nil, err
	}
	for _, info := range infos {
		name := info.Name
		var sum [32]byte
		if _, err := hex.Decode(sum[:], []byte(name[len(name)-2*sha256.Size:])); err == nil {
			sums = append(sums, sum)
		}
	}
	return sums, nil
}

// maxText is the limit of text in bytes that is read to be shown.
const maxText = 1 << 20

func (d *Dir) read(what string, sum [32]byte) (string, error) {
	in, err := d.Open(what, sum)
	if err != nil {
		return "", err
	}
	b, err := io.ReadAll(io.LimitReader(in, maxText))
	return string(b), errors.Join(err, in.Close())
}
