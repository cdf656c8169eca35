// SPDX-License-Identifier: Apache-2.0

package checkpoint

import (
	"cmp"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"path"
	"slices"
	"strings"
	"time"

	"github.com/gvw-project/gvw/allreduce"
	"github.com/gvw-project/gvw/hdfsio"
	"github.com/gvw-project/gvw/internal/spantree/client"
	"github.com/gvw-project/gvw/internal/spantree/protocol"
)

// keep is how many checkpoints stay.
const keep = 2

// Store is a place for the checkpoints of a job.
type Store struct {
	// FS is where Path is.
	FS hdfsio.FS
	// Context is for the life of the rank: its end ends waits for a file system that
	// does not answer. nil is context.Background().
	Context context.Context
	// Path begins the names of the files.
	Path string
	// Resume says that the checkpoints of other runs count, too.
	Resume bool
	// Log hears of files that do not count, and why; nil discards it.
	Log *slog.Logger

	owner allreduce.Owner
	whole []found // what was found, and written since
}

func (s *Store) context() context.Context {
	if s.Context == nil {
		return context.Background()
	}
	return s.Context
}

var _ allreduce.Checkpoints = (*Store)(nil)

// found is a checkpoint that is whole.
type found struct {
	name     string
	modified time.Time
	header
}

// Own says whose checkpoints count.
func (s *Store) Own(o allreduce.Owner) { s.owner = o }

// Newest returns how many steps the newest checkpoint has, 0 if there is none. It is
// an error if none could be written.
func (s *Store) Newest() (step uint64, err error) {
	if err := s.writable(); err != nil {
		return 0, err
	}
	if err := s.look(); err != nil {
		return 0, err
	}
	var other *StrangeError
	for _, f := range slices.Backward(s.whole) {
		if why := s.strange(f.header); why != nil {
			s.leave(f.name, why)
			if other == nil {
				other = &StrangeError{File: f.name, Why: why}
			}
			continue
		}
		if f.run != s.owner.Run && s.Log != nil {
			s.Log.Info("the checkpoint of another run counts", "file", f.name, "run", f.run, "step", f.at.Step)
		}
		return f.at.Step, nil
	}
	if s.Resume && other != nil {
		return 0, other
	}
	return 0, nil
}

// StrangeError says that a user wants to go on from a checkpoint, and that none which is
// there is of this job.
type StrangeError struct {
	File string // the newest
	Why  error
}

func (e *StrangeError) Error() string {
	return fmt.Sprintf("cannot resume from checkpoint %s: %v: give the same options, or leave --resume out", e.File, e.Why)
}

func (e *StrangeError) Unwrap() error { return e.Why }

// writable finds out at the start what else the first checkpoint would.
func (s *Store) writable() error {
	if base := path.Base(s.Path); strings.HasSuffix(s.Path, "/") || base == "." || base == ".." {
		return fmt.Errorf("checkpoint %q is a folder: names of files shall begin with it, like %s", s.Path, path.Join(s.Path, "model.ckpt"))
	}
	f, err := s.FS.Create(s.context(), s.Path+".r")
	if err == nil {
		err = f.Abort()
	}
	if err != nil {
		return fmt.Errorf("checkpoint %s: none could be written: %w", s.Path, err)
	}
	return nil
}

// Load reads the newest checkpoint of so many steps.
func (s *Store) Load(step uint64, read func(io.Reader) error) error {
	for _, f := range slices.Backward(s.whole) {
		if f.at.Step != step || s.strange(f.header) != nil {
			continue
		}
		in, err := s.FS.Open(s.context(), f.name, 0)
		if err != nil {
			return err
		}
		r, _, err := newReader(in)
		if err == nil {
			err = read(r)
		}
		if err == nil {
			_, err = io.Copy(io.Discard, r) // its end says that all is right
		}
		if err := errors.Join(err, in.Close()); err != nil {
			return fmt.Errorf("checkpoint %s: %w", f.name, err)
		}
		return nil
	}
	return fmt.Errorf("checkpoint %s: the one of step %d is not there any more", s.Path, step)
}

// Save writes a checkpoint, and then removes all but the newest, if lease allows
// it: another attempt may count on them.
func (s *Store) Save(at client.Point, write func(io.Writer) error, lease func() error) error {
	h := header{options: s.owner.Options, at: at, generation: s.owner.Generation, run: s.owner.Run, text: s.owner.Text}
	name := fmt.Sprintf("%s%s.g%d.e%d.%d.s%d", s.Path, runMark(h.run), h.generation, at.Epoch.Term, at.Epoch.N, at.Step)
	out, err := s.FS.Create(s.context(), name)
	if err != nil {
		return fmt.Errorf("checkpoint %s: %w", name, err)
	}
	w, err := newWriter(out, h)
	if err == nil {
		err = write(w)
	}
	if err == nil {
		err = w.close()
	}
	if err == nil {
		err = out.Commit()
	}
	if err != nil {
		return errors.Join(fmt.Errorf("checkpoint %s: %w", name, err), out.Abort())
	}
	s.whole = append(slices.DeleteFunc(s.whole, func(f found) bool { return f.name == name }), found{name: name, header: h})
	s.sort()
	if err := lease(); err != nil {
		return nil // whoever holds it now removes them
	}
	return s.prune()
}

// prune removes all checkpoints of this run but the newest. It counts those alone
// that are known to be whole: a damaged one is not what a job goes on from.
func (s *Store) prune() error {
	mine := s.mine()
	for _, f := range mine[:max(0, len(mine)-keep)] {
		if err := s.remove(f.name); err != nil {
			return err
		}
		s.whole = slices.DeleteFunc(s.whole, func(g found) bool { return g.name == f.name })
	}
	return nil
}

// mine returns the checkpoints of this run, the oldest first.
func (s *Store) mine() (mine []found) {
	for _, f := range s.whole {
		if f.options == s.owner.Options && f.run == s.owner.Run {
			mine = append(mine, f)
		}
	}
	return mine
}

// Clear removes the checkpoints that count, and those that would if they were not
// damaged behind their headers.
func (s *Store) Clear() error {
	infos, err := s.list()
	if err != nil {
		return err
	}
	var errs []error
	for _, info := range infos {
		if h, err := s.headerOf(info.Name); err == nil && s.strange(h) == nil {
			errs = append(errs, s.remove(info.Name))
		}
	}
	s.whole = nil
	return errors.Join(append(errs, removeUnfinished(s.FS, s.Path, s.owner.Run))...)
}

func (s *Store) remove(name string) error {
	if err := s.FS.Remove(s.context(), name); err != nil && !errors.Is(err, fs.ErrNotExist) { // another attempt may have done it
		return fmt.Errorf("cannot remove an old checkpoint: %w", err)
	}
	return nil
}

// RemoveRun removes the checkpoints of a run that has finished, by their names: its
// rank 0 may have been killed on its way out, before Clear.
func RemoveRun(ctx context.Context, fsys hdfsio.FS, path, run string) error {
	infos, err := fsys.List(ctx, hdfsio.Escape(path)+runMark(run)+anyPoint)
	if err != nil {
		return err
	}
	var errs []error
	for _, info := range infos {
		errs = append(errs, fsys.Remove(ctx, info.Name))
	}
	return errors.Join(append(errs, removeUnfinished(fsys, path, run))...)
}

// removeUnfinished removes what processes of a run that were killed have left half
// written, on file systems that can tell.
func removeUnfinished(fsys hdfsio.FS, path, run string) error {
	if f, ok := fsys.(interface{ RemoveAsides(string, int) error }); ok {
		return f.RemoveAsides(path+runMark(run)+".", 0)
	}
	return nil
}

// runMark returns what names have of their run, anyPoint a pattern of the rest.
func runMark(run string) string { return fmt.Sprintf(".r%.4x", sha256.Sum256([]byte(run))) }

const anyPoint = ".g*.e*.s*"

// strange says why this job may not go on from a checkpoint; nil: it may.
func (s *Store) strange(h header) error {
	switch {
	case h.options != s.owner.Options && h.text != "" && s.owner.Text != "":
		return fmt.Errorf("it belongs to other options: %s", protocol.DiffOptions(s.owner.Text, h.text))
	case h.options != s.owner.Options:
		return errors.New("it belongs to other options, or to another number of ranks")
	case h.run != s.owner.Run && !s.Resume:
		return fmt.Errorf("it belongs to run %q: --resume would go on from it", h.run)
	}
	return nil
}

// look finds the checkpoints that are whole.
func (s *Store) look() error {
	infos, err := s.list()
	if err != nil {
		return err
	}
	s.whole = nil
	for _, info := range infos {
		h, err := s.check(info.Name)
		if errors.Is(err, hdfsio.ErrHung) {
			return fmt.Errorf("checkpoint %s: %w", info.Name, err) // it may count where the file system works
		}
		if err != nil {
			s.leave(info.Name, err)
			continue
		}
		s.whole = append(s.whole, found{info.Name, info.Modified, h})
	}
	s.sort()
	return nil
}

// sort puts the oldest first. Epochs of different runs cannot be compared, so time
// decides there; those of this run come after all others.
func (s *Store) sort() {
	slices.SortStableFunc(s.whole, func(a, b found) int {
		switch aMine, bMine := a.run == s.owner.Run, b.run == s.owner.Run; {
		case aMine && bMine:
			return a.compare(b.header)
		case aMine:
			return 1
		case bMine:
			return -1
		}
		return cmp.Or(a.modified.Compare(b.modified), a.compare(b.header))
	})
}

func (s *Store) list() ([]hdfsio.Info, error) {
	infos, err := s.FS.List(s.context(), hdfsio.Escape(s.Path)+".r*"+anyPoint)
	if err != nil {
		return nil, fmt.Errorf("cannot look for checkpoints %s: %w", s.Path, err)
	}
	return infos, nil
}

// headerOf reads no more than the header.
func (s *Store) headerOf(name string) (header, error) {
	in, err := s.FS.Open(s.context(), name, 0)
	if err != nil {
		return header{}, err
	}
	h, err := readHeader(in)
	return h, errors.Join(err, in.Close())
}

// check reads a whole checkpoint.
func (s *Store) check(name string) (header, error) {
	in, err := s.FS.Open(s.context(), name, 0)
	if err != nil {
		return header{}, err
	}
	r, h, err := newReader(in)
	if err == nil {
		_, err = io.Copy(io.Discard, r)
	}
	return h, errors.Join(err, in.Close())
}

func (s *Store) leave(name string, why error) {
	if s.Log != nil {
		s.Log.Warn("a checkpoint does not count", "file", name, "why", why)
	}
}
