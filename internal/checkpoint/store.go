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
	"syscall"
	"time"

	"github.com/gvw-project/gvw/allreduce"
	"github.com/gvw-project/gvw/hdfsio"
	"github.com/gvw-project/gvw/internal/spantree/client"
	"github.com/gvw-project/gvw/internal/spantree/protocol"
)

// keep is the number of checkpoints that are kept.
const keep = 2

// Store keeps the checkpoints of a job.
type Store struct {
	// FS is the file system of Path.
	FS hdfsio.FS
	// Context is the context of the rank; its end ends waits for a file system that does
	// not respond. nil: context.Background().
	Context context.Context
	// Path is the prefix of the names of the files.
	Path string
	// Resume makes the checkpoints of other runs count, too.
	Resume bool
	// Log receives the files that are ignored, with the reason; nil: discard them.
	Log *slog.Logger

	owner allreduce.Owner
	whole []found // complete checkpoints, found or written, and those that cannot be read
}

func (s *Store) context() context.Context {
	if s.Context == nil {
		return context.Background()
	}
	return s.Context
}

// contextOf returns a context that ends with ctx and with that of the rank.
func (s *Store) contextOf(ctx context.Context) (context.Context, context.CancelFunc) {
	both, cancel := context.WithCancelCause(s.context())
	stop := context.AfterFunc(ctx, func() { cancel(context.Cause(ctx)) })
	return both, func() {
		stop()
		cancel(nil)
	}
}

var _ allreduce.Checkpoints = (*Store)(nil)

// found is a complete checkpoint, or one that cannot be read.
type found struct {
	name     string
	modified time.Time
	mine     bool // of this run; of an unreadable file by its name
	header
	unreadable error // nil: complete
}

// Own sets the owner of the checkpoints that count.
func (s *Store) Own(o allreduce.Owner) { s.owner = o }

// Newest returns the number of steps of the newest checkpoint; 0: there is none. It also
// returns an error if no checkpoint could be written.
func (s *Store) Newest() (step uint64, err error) {
	if err := s.writable(); err != nil {
		return 0, err
	}
	if err := s.look(); err != nil {
		return 0, err
	}
	var other *CheckpointMismatchError
	for _, f := range slices.Backward(s.whole) {
		if f.unreadable != nil {
			return 0, fmt.Errorf("the newest checkpoint cannot be read: %w; to go on without it, remove the file", f.unreadable)
		}
		if why := s.mismatch(f.header); why != nil {
			s.ignore(f.name, why)
			if other == nil {
				other = &CheckpointMismatchError{File: f.name, Why: why}
			}
			continue
		}
		if f.run != s.owner.Run && s.Log != nil {
			s.Log.Info("using the checkpoint of another run", "file", f.name, "run", f.run, "step", f.at.Step)
		}
		return f.at.Step, nil
	}
	if s.Resume && other != nil {
		return 0, other
	}
	return 0, nil
}

// CheckpointMismatchError reports that the user wants to resume, but that all checkpoints belong to
// other jobs.
type CheckpointMismatchError struct {
	File string // the newest checkpoint
	Why  error
}

func (e *CheckpointMismatchError) Error() string {
	return fmt.Sprintf("cannot resume from checkpoint %s: %v: use the same options, or omit checkpoint.Store.Resume", e.File, e.Why)
}

func (e *CheckpointMismatchError) Unwrap() error { return e.Why }

// writable detects at the start the errors that the first checkpoint would have.
func (s *Store) writable() error {
	if base := path.Base(s.Path); strings.HasSuffix(s.Path, "/") || base == "." || base == ".." {
		return fmt.Errorf("checkpoint %q is a directory: want a prefix of file names, such as %s", s.Path, path.Join(s.Path, "model.ckpt"))
	}
	f, err := s.FS.Create(s.context(), s.Path+".r")
	if err == nil {
		err = f.Abort()
	}
	if err != nil {
		return fmt.Errorf("checkpoint %s cannot be written: %w", s.Path, err)
	}
	return nil
}

// Load reads the newest checkpoint with that number of steps.
func (s *Store) Load(step uint64, read func(io.Reader) error) error {
	for _, f := range slices.Backward(s.whole) {
		if f.unreadable != nil || f.at.Step != step || s.mismatch(f.header) != nil {
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
			_, err = io.Copy(io.Discard, r) // at its end the checksums are checked
		}
		if err := errors.Join(err, in.Close()); err != nil {
			return fmt.Errorf("checkpoint %s: %w", f.name, err)
		}
		return nil
	}
	return fmt.Errorf("checkpoint %s: the checkpoint of step %d no longer exists", s.Path, step)
}

// Save writes a checkpoint. If lease allows it, Save then removes all but this one and the
// newest ones, which another attempt may need. The end of ctx ends Save between two calls of the file system.
func (s *Store) Save(ctx context.Context, at client.Point, write func(io.Writer) error, lease func() error) error {
	both, cancel := s.contextOf(ctx)
	defer cancel()
	h := header{options: s.owner.Options, at: at, generation: s.owner.Generation, run: s.owner.Run, text: s.owner.Text}
	name := s.nameOf(h)
	out, err := s.FS.Create(both, name)
	if err != nil {
		return fmt.Errorf("checkpoint %s: %w", name, err)
	}
	w, err := newWriter(untilEnd{ctx, out}, h)
	if err == nil {
		err = write(w)
	}
	if err == nil {
		err = w.close()
	}
	if err == nil {
		err = context.Cause(ctx)
	}
	if err == nil {
		err = out.Commit()
	}
	if err != nil {
		return errors.Join(fmt.Errorf("checkpoint %s: %w", name, err), out.Abort())
	}
	s.whole = append(slices.DeleteFunc(s.whole, func(f found) bool { return f.name == name }), found{name: name, mine: true, header: h})
	s.sort()
	if err := lease(); err != nil || ctx.Err() != nil {
		return nil // the holder of the lease removes them, or Clear
	}
	return s.prune(both, name)
}

// prune removes all checkpoints of this run but the newest and the one just saved, which may be behind those of an
// attempt that was lost. Only complete ones count, because a job cannot continue from a damaged one.
func (s *Store) prune(ctx context.Context, saved string) error {
	mine := s.mine()
	for _, f := range mine[:max(0, len(mine)-keep)] {
		if f.name == saved {
			continue
		}
		if err := s.remove(ctx, f.name); err != nil {
			return err
		}
		s.whole = slices.DeleteFunc(s.whole, func(g found) bool { return g.name == f.name })
	}
	return nil
}

// mine returns the checkpoints of this run, the oldest first.
func (s *Store) mine() (mine []found) {
	for _, f := range s.whole {
		if f.unreadable == nil && f.options == s.owner.Options && f.mine {
			mine = append(mine, f)
		}
	}
	return mine
}

// Clear removes the checkpoints that count, including those with a valid header that are
// damaged after it.
func (s *Store) Clear() error {
	infos, err := s.list()
	if err != nil {
		return err
	}
	var errs []error
	for _, info := range infos {
		if h, err := s.headerOf(info.Name); err == nil && s.mismatch(h) == nil {
			errs = append(errs, s.remove(s.context(), info.Name))
		}
	}
	s.whole = nil
	return errors.Join(append(errs, removeUnfinished(s.FS, s.Path, s.owner.Run))...)
}

func (s *Store) remove(ctx context.Context, name string) error {
	if err := s.FS.Remove(ctx, name); err != nil && !errors.Is(err, fs.ErrNotExist) { // another attempt may have removed it
		return fmt.Errorf("cannot remove an old checkpoint: %w", err)
	}
	return nil
}

// RemoveRun removes the checkpoints of a finished run by their names. Its rank 0 may have
// been killed before it called Clear.
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

// removeUnfinished removes the temporary files of killed processes of a run, on file systems
// that support it.
func removeUnfinished(fsys hdfsio.FS, path, run string) error {
	if f, ok := fsys.(interface{ RemoveTemps(string, int) error }); ok {
		return f.RemoveTemps(path+runMark(run)+".", 0)
	}
	return nil
}

// runMark returns the part of the names that identifies the run; anyPoint is a pattern of the rest.
func runMark(run string) string { return fmt.Sprintf(".r%.4x", sha256.Sum256([]byte(run))) }

const anyPoint = ".g*.e*.s*"

// nameOf returns the name of the file of a checkpoint.
func (s *Store) nameOf(h header) string {
	return fmt.Sprintf("%s%s.g%d.e%d.%d.s%d", s.Path, runMark(h.run), h.generation, h.at.Epoch.Term, h.at.Epoch.N, h.at.Step)
}

// isOwn returns the age of a checkpoint of this run, by its name, and whether it is one. The header of any other file is void.
func (s *Store) isOwn(name string) (h header, own bool) {
	h.run = s.owner.Run
	mark := runMark(h.run)
	at := strings.LastIndex(name, mark)
	if at < 0 {
		return h, false
	}
	_, err := fmt.Sscanf(name[at+len(mark):], ".g%d.e%d.%d.s%d", &h.generation, &h.at.Epoch.Term, &h.at.Epoch.N, &h.at.Step)
	return h, err == nil && strings.HasSuffix(s.nameOf(h), name[at:])
}

// mismatch returns the reason why this job must not continue from a checkpoint; nil: it may.
func (s *Store) mismatch(h header) error {
	switch {
	case h.options != s.owner.Options && h.text != "" && s.owner.Text != "":
		return fmt.Errorf("it belongs to other options: %s", protocol.DiffOptions(s.owner.Text, h.text))
	case h.options != s.owner.Options:
		return errors.New("it belongs to other options or to another number of ranks")
	case h.run != s.owner.Run && !s.Resume:
		return fmt.Errorf("it belongs to run %q: use checkpoint.Store.Resume to continue from it", h.run)
	}
	return nil
}

// maxLooks is the number of times that look reads the checkpoints if they change meanwhile.
const maxLooks = 3

// look finds the complete checkpoints, and those that may count but cannot be read: they may be
// complete once the file system works. If a file cannot be read because another attempt has
// removed or replaced it meanwhile, look begins again.
func (s *Store) look() error {
	infos, err := s.list()
	if err != nil {
		return err
	}
	for looks := 1; ; looks++ {
		failed, err := s.lookAt(infos)
		if err != nil || !failed || looks == maxLooks {
			return err
		}
		before := infos
		if infos, err = s.list(); err != nil {
			return err
		}
		if slices.EqualFunc(before, infos, isUnchanged) {
			return nil
		}
	}
}

// isUnchanged reports whether a file is the same in two lists.
func isUnchanged(a, b hdfsio.Info) bool {
	return a.Name == b.Name && a.Size == b.Size && a.Modified.Equal(b.Modified) && a.Tag == b.Tag
}

// lookAt is look for the files of a list. It also reports whether a file could not be read.
func (s *Store) lookAt(infos []hdfsio.Info) (failed bool, err error) {
	s.whole = nil
	for _, info := range infos {
		h, unreadable, err := s.check(info.Name)
		failed = failed || unreadable || isGone(err)
		if unreadable {
			if errors.Is(err, hdfsio.ErrHung) {
				return failed, fmt.Errorf("checkpoint %s: %w", info.Name, err) // the next file would hang, too
			}
			if h, own := s.isOwn(info.Name); own || s.Resume {
				s.whole = append(s.whole, found{info.Name, info.Modified, own, h, err})
				continue
			}
		}
		if err != nil {
			s.ignore(info.Name, err)
			continue
		}
		s.whole = append(s.whole, found{info.Name, info.Modified, h.run == s.owner.Run, h, nil})
	}
	s.sort()
	return failed, nil
}

// sort puts the oldest first. Epochs of different runs cannot be compared, so their order is by
// time. Those of this run come last.
func (s *Store) sort() {
	slices.SortStableFunc(s.whole, func(a, b found) int {
		switch {
		case a.mine && b.mine:
			return a.compare(b.header)
		case a.mine:
			return 1
		case b.mine:
			return -1
		}
		return cmp.Or(a.modified.Compare(b.modified), a.compare(b.header))
	})
}

func (s *Store) list() ([]hdfsio.Info, error) {
	infos, err := s.FS.List(s.context(), hdfsio.Escape(s.Path)+".r*"+anyPoint)
	if err != nil {
		return nil, fmt.Errorf("cannot list the checkpoints %s: %w", s.Path, err)
	}
	return infos, nil
}

// headerOf reads only the header.
func (s *Store) headerOf(name string) (header, error) {
	in, err := s.FS.Open(s.context(), name, 0)
	if err != nil {
		return header{}, err
	}
	h, err := readHeader(in)
	return h, errors.Join(err, in.Close())
}

// check reads a whole checkpoint. It also reports whether the error is that of the file system,
// and not of the contents of a file.
func (s *Store) check(name string) (h header, unreadable bool, err error) {
	in, err := s.FS.Open(s.context(), name, 0)
	if err != nil {
		return h, !isGone(err) && !errors.Is(err, syscall.EISDIR), err // a directory is no checkpoint
	}
	kept := &errorKeeper{r: in}
	r, h, err := newReader(kept)
	if err == nil {
		_, err = io.Copy(io.Discard, r)
	}
	if failed := errors.Join(kept.err, in.Close()); failed != nil {
		return h, !isGone(failed), failed
	}
	return h, false, err
}

// isGone reports whether a file does not exist any more: another attempt may have removed it.
func isGone(err error) bool { return errors.Is(err, fs.ErrNotExist) }

// errorKeeper keeps the error of a reader, unless that is io.EOF.
type errorKeeper struct {
	r   io.Reader
	err error
}

func (k *errorKeeper) Read(b []byte) (int, error) {
	n, err := k.r.Read(b)
	if err != nil && err != io.EOF {
		k.err = err
	}
	return n, err
}

func (s *Store) ignore(name string, why error) {
	if s.Log != nil {
		s.Log.Warn("ignoring a checkpoint", "file", name, "why", why)
	}
}
