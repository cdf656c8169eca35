// SPDX-License-Identifier: Apache-2.0

package cache

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/gvw-project/gvw/internal/crc32c"
	"github.com/gvw-project/gvw/internal/tempname"
)

const (
	fileMagic   = "gvwcache"
	version     = 3
	maxKey      = 4096
	lastMagic   = "last"
	endMagic    = "gvwc"
	trailerSize = 52
)

// Totals has the counts in the trailer of a cache.
type Totals struct {
	Blocks, Examples, Features uint64
	Text                       Text
	sums                       uint32 // checksum of the blocks' checksums
}

// Text identifies the text that was read, independent of the names of the files.
type Text struct {
	Bytes uint64
	CRC   uint32 // CRC-32C
}

// A Writer writes a cache to a temporary file, PATH.writing-MACHINE-PID-N, until Commit renames
// it. It does not sync: a cache that a crash of the machine damages is
// detected and can be built again.
type Writer struct {
	// Join is the size in bytes under which a block is joined with the following ones, which
	// saves the reader the cost of many small blocks. 0: no block is joined.
	Join int

	path   string
	calls  Calls
	file   *os.File // of the calls; nil: not open
	done   bool     // Commit or Abort was called
	totals Totals
	small  []byte // blocks that became one, without its checksum

	put func() error // writes buf
	buf []byte
}

// Create begins a cache that will be called path. All calls to the file system are made by
// calls; nil: they are made directly.
func Create(path string, key Key, calls Calls) (*Writer, error) {
	if err := key.Features.Validate(); err != nil {
		return nil, err
	}
	if calls == nil {
		calls = direct{}
	}
	w := &Writer{path: path, calls: calls}
	w.put = func() error {
		_, err := w.file.Write(w.buf)
		return err
	}
	err := calls.Do("create", func() (err error) {
		w.file, err = createTemp(path)
		return err
	})
	if err != nil {
		return nil, errors.Join(fmt.Errorf("cache: cannot create %s: %w", path, err), w.Abort())
	}
	if err := w.write(header(&key)); err != nil {
		return nil, errors.Join(err, w.Abort())
	}
	return w, nil
}

// Chmod lets others than the owner read the cache.
func (w *Writer) Chmod(mode fs.FileMode) error {
	if err := w.calls.Do("create", func() error { return w.file.Chmod(mode) }); err != nil {
		return fmt.Errorf("cache: cannot create %s: %w", w.path, err)
	}
	return nil
}

// RemoveTemps removes the temporary files of the cache at path that a process of this machine which has ended left behind.
func RemoveTemps(path string, pid int) error {
	entries, err := os.ReadDir(filepath.Dir(path))
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	errs := []error{err}
	for _, e := range entries {
		if n, ok := strings.CutPrefix(e.Name(), filepath.Base(path)+tempname.Infix(pid)); ok && n != "" && strings.Trim(n, "0123456789") == "" {
			// Another launcher may remove it at the same time.
			if err := os.Remove(filepath.Join(filepath.Dir(path), e.Name())); !errors.Is(err, fs.ErrNotExist) {
				errs = append(errs, err)
			}
		}
	}
	return errors.Join(errs...)
}

func createTemp(path string) (*os.File, error) {
	for n := 0; ; n++ {
		name := fmt.Sprintf("%s%s%d", path, tempname.Infix(os.Getpid()), n)
		f, err := os.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
		if !errors.Is(err, fs.ErrExist) || n == 1000 {
			return f, err
		}
	}
}

func header(key *Key) []byte {
	text := key.text()
	b := append([]byte(nil), fileMagic...)
	b = le.AppendUint32(b, version)
	b = le.AppendUint32(b, uint32(len(text)))
	b = append(b, text...)
	return le.AppendUint32(b, crc32c.Checksum(b))
}

func (w *Writer) write(b []byte) error {
	if w.done {
		panic("BUG: cache: write after Commit or Abort")
	}
	w.buf = b
	if err := w.calls.Do("write", w.put); err != nil {
		return fmt.Errorf("cache: cannot write %s: %w", w.path, err)
	}
	return nil
}

// Append adds the next block, as an Encoder made it.
func (w *Writer) Append(block []byte) error {
	if len(block) >= w.Join {
		return errors.Join(w.flush(), w.append(block))
	}
	if len(w.small) == 0 {
		w.small = append(w.small, block...)
	} else {
		w.small = join(w.small, block)
	}
	if len(w.small) < w.Join {
		return nil
	}
	return w.flush()
}

// flush writes the small blocks.
func (w *Writer) flush() error {
	if len(w.small) == 0 {
		return nil
	}
	le.PutUint32(w.small[16:], blockSum(w.small, w.small[blockHeader:]))
	err := w.append(w.small)
	w.small = w.small[:0]
	return err
}

// join appends the examples of a block to those of dst, but for the checksum. Its
// indices are spelled out wherever they first occur, so the payloads need only stand
// one behind the other.
func join(dst, block []byte) []byte {
	for at := 4; at < 16; at += 4 { // payload, examples, features
		le.PutUint32(dst[at:], le.Uint32(dst[at:])+le.Uint32(block[at:]))
	}
	return append(dst, block[blockHeader:]...)
}

func (w *Writer) append(block []byte) error {
	t := &w.totals
	t.Blocks++
	t.Examples += uint64(le.Uint32(block[8:]))
	t.Features += uint64(le.Uint32(block[12:]))
	t.sums = crc32c.Update(t.sums, block[16:20])
	return w.write(block)
}

// Commit ends the file and gives it its name, replacing an older one. On an
// error the file is removed.
func (w *Writer) Commit(text Text) error {
	w.totals.Text = text
	err := w.flush()
	if err == nil {
		err = w.write(trailer(&w.totals))
	}
	if err != nil {
		return errors.Join(err, w.Abort())
	}
	w.done = true
	err = w.calls.Last("write", func() error {
		name := w.file.Name()
		err := w.file.Close()
		if err == nil {
			err = os.Rename(name, w.path)
		}
		if err != nil {
			err = errors.Join(err, os.Remove(name))
		}
		return err
	})
	if err != nil {
		return fmt.Errorf("cache: cannot finish %s: %w", w.path, err)
	}
	return nil
}

// Abort removes the temporary file. After Commit or Abort it does nothing.
func (w *Writer) Abort() error {
	if w.done {
		return nil
	}
	w.done = true
	return w.calls.Last("remove", func() error {
		if w.file == nil {
			return nil // creating it has failed
		}
		return errors.Join(w.file.Close(), os.Remove(w.file.Name()))
	})
}

func trailer(t *Totals) []byte {
	b := append(make([]byte, 0, trailerSize), lastMagic...)
	b = le.AppendUint64(b, t.Blocks)
	b = le.AppendUint64(b, t.Examples)
	b = le.AppendUint64(b, t.Features)
	b = le.AppendUint64(b, t.Text.Bytes)
	b = le.AppendUint32(b, t.Text.CRC)
	b = le.AppendUint32(b, t.sums)
	b = le.AppendUint32(b, crc32c.Checksum(b))
	return append(b, endMagic...)
}
