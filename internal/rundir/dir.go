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

// Dir is the place of a run.
type Dir struct {
	// FS is where Base is. Required.
	FS hdfsio.FS
	// Context is for the life of the rank: its end ends waits for a file system that
	// does not answer. nil is context.Background().
	Context context.Context
	// Base is the folder in which runs have their places. Required.
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

// Path returns the run's folder.
func (d *Dir) Path() string { return d.Base + "/" + escape(d.Run) }

func (d *Dir) path(what string, sum [32]byte) string {
	return fmt.Sprintf("%s/%s-%x", d.Path(), what, sum)
}

const optionsFile = "options"

// Begin says on which options the run's ranks agree. It refuses what has the same key
// and other options.
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
	e := &TakenError{Run: d.Run, Path: d.Path()}
	if theirs, err := d.read(optionsFile, found[0]); err == nil {
		e.Differs = protocol.DiffOptions(options, theirs)
	}
	return e
}

// Probe finds out whether something could be put here, and leaves nothing but the
// folder Base.
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

// Put keeps what write writes, whose SHA-256 is sum. What is there already stays.
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
		err = fmt.Errorf("%s: what was written has the SHA-256 %x…, want %x…: has somebody changed it meanwhile?", name, got[:6], sum[:6])
	}
	if err == nil {
		err = out.Commit()
	}
	if err != nil {
		return errors.Join(err, out.Abort())
	}
	return nil
}

// Take keeps the file of this name, whose SHA-256 is sum. What is no file, like a
// pipe, is not kept.
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

// holds reports whether a file is there. Who cannot tell writes it again.
func (d *Dir) holds(what string, sum [32]byte) bool {
	_, err := d.FS.Stat(d.context(), d.path(what, sum))
	return err == nil
}

// Open opens what has this digest. The reader says at the end whether the bytes do.
func (d *Dir) Open(what string, sum [32]byte) (io.ReadCloser, error) {
	name := d.path(what, sum)
	in, err := d.FS.Open(d.context(), name, 0)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, d.missing(what, fmt.Sprintf("there is no %s", name))
	}
	if err != nil {
		return nil, err
	}
	return &verified{in: in, name: name, sum: sum, hash: sha256.New()}, nil
}

// Find returns the digest of the one that is there.
func (d *Dir) Find(what string) (sum [32]byte, err error) {
	found, err := d.list(what)
	switch {
	case err != nil:
		return sum, err
	case len(found) == 0:
		return sum, d.missing(what, fmt.Sprintf("nothing in %s has a name like %s-SHA256", d.Path(), what))
	case len(found) > 1:
		return sum, d.missing(what, fmt.Sprintf("%s has %d different ones, and nobody says which counts", d.Path(), len(found)))
	}
	return found[0], nil
}

func (d *Dir) missing(what, why string) error {
	return &MissingError{Run: d.Run, What: what, Why: why}
}

// list returns the digests of what is there, in order.
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

// maxText bounds what is read to be shown.
const maxText = 1 << 20

func (d *Dir) read(what string, sum [32]byte) (string, error) {
	in, err := d.Open(what, sum)
	if err != nil {
		return "", err
	}
	b, err := io.ReadAll(io.LimitReader(in, maxText))
	return string(b), errors.Join(err, in.Close())
}
