// SPDX-License-Identifier: Apache-2.0

package checkpoint

import (
	"errors"
	"fmt"
	"io"
	"log/slog"
	"slices"

	"github.com/gvw-project/gvw/allreduce"
	"github.com/gvw-project/gvw/allreduce/spantree"
	"github.com/gvw-project/gvw/hdfsio"
)

// keep is how many checkpoints stay.
const keep = 2

// Store is a place for the checkpoints of a job.
type Store struct {
	// FS is where Path is.
	FS hdfsio.FS
	// Path begins the names of the files.
	Path string
	// Options is the digest of the options on which the ranks agree: a checkpoint of
	// others is of no use.
	Options [32]byte
	// Run is the launcher's key of the run, "": it has none. Generation counts the
	// launcher's restarts of it.
	Run        string
	Generation uint32
	// Resume says that the checkpoints of other runs count, too.
	Resume bool
	// Log hears of files that do not count, and why; nil discards it.
	Log *slog.Logger
}

var _ allreduce.Checkpoints = (*Store)(nil)

// found is a checkpoint that is whole.
type found struct {
	name string
	header
}

// Newest returns how many steps the newest checkpoint has, 0 if there is none.
func (s *Store) Newest() (step uint64, err error) {
	all, err := s.all()
	for _, f := range slices.Backward(all) {
		if s.counts(f) {
			return f.at.Step, nil
		}
	}
	return 0, err
}

// Load reads the newest checkpoint of so many steps.
func (s *Store) Load(step uint64, read func(io.Reader) error) error {
	all, err := s.all()
	if err != nil {
		return err
	}
	for _, f := range slices.Backward(all) {
		if f.at.Step != step || !s.counts(f) {
			continue
		}
		in, err := s.FS.Open(f.name, 0)
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
func (s *Store) Save(at spantree.Point, write func(io.Writer) error, lease func() error) error {
	h := header{options: s.Options, at: at, generation: s.Generation, run: s.Run}
	name := fmt.Sprintf("%s.g%d.e%d.%d.s%d", s.Path, s.Generation, at.Epoch.Term, at.Epoch.N, at.Step)
	out, err := s.FS.Create(name)
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
	if err := lease(); err != nil {
		return nil // whoever holds it now removes them
	}
	return s.prune()
}

// prune removes all checkpoints of this job but the newest.
func (s *Store) prune() error {
	all, err := s.all()
	if err != nil {
		return err
	}
	mine := slices.DeleteFunc(all, func(f found) bool { return f.options != s.Options || f.run != s.Run })
	for _, f := range mine[:max(0, len(mine)-keep)] {
		if err := s.FS.Remove(f.name); err != nil {
			return fmt.Errorf("cannot remove an old checkpoint: %w", err)
		}
	}
	return nil
}

// counts says whether this job may go on from a checkpoint.
func (s *Store) counts(f found) bool {
	switch {
	case f.options != s.Options:
		s.leave(f.name, errors.New("it belongs to other options"))
	case f.run != s.Run && !s.Resume:
		s.leave(f.name, fmt.Errorf("it belongs to run %q: --resume would go on from it", f.run))
	default:
		return true
	}
	return false
}

// all returns the checkpoints that are whole, the oldest first.
func (s *Store) all() ([]found, error) {
	infos, err := s.FS.List(escape(s.Path) + ".g*.e*.s*")
	if err != nil {
		return nil, fmt.Errorf("cannot look for checkpoints %s: %w", s.Path, err)
	}
	var all []found
	for _, info := range infos {
		h, err := s.check(info.Name)
		if err != nil {
			s.leave(info.Name, err)
			continue
		}
		all = append(all, found{info.Name, h})
	}
	slices.SortStableFunc(all, func(a, b found) int { return a.compare(b.header) })
	return all, nil
}

// check reads a whole checkpoint.
func (s *Store) check(name string) (header, error) {
	in, err := s.FS.Open(name, 0)
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

// escape makes a pattern of a name that matches it alone.
func escape(name string) string {
	var b []byte
	for i := range len(name) {
		if slices.Contains([]byte(`*?[\`), name[i]) {
			b = append(b, '\\')
		}
		b = append(b, name[i])
	}
	return string(b)
}
