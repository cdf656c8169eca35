// SPDX-License-Identifier: Apache-2.0

package remote

import (
	"io"
	"io/fs"
	"os"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

// slowDisk is a disk whose copies take time and break.
type slowDisk struct {
	*disk

	takes  time.Duration // of a copy that breaks
	breaks []int64       // bytes after which the next copies break
	always bool          // the last of them holds for all further copies
}

func (d *slowDisk) Put(p string, r io.Reader, perm fs.FileMode) error {
	if len(d.breaks) == 0 {
		return d.disk.Put(p, r, perm)
	}
	n := d.breaks[0]
	if len(d.breaks) > 1 || !d.always {
		d.breaks = d.breaks[1:]
	}
	time.Sleep(d.takes)
	if _, err := io.CopyN(io.Discard, r, n); err != nil {
		return err
	}
	return errBroken
}

// A copy is given up after Patience without progress. Progress is an attempt that copies more than all before it, however
// long it takes. An attempt that copies as much is none, so that a server that always fails at one byte ends the copy.
func TestCopiesThatMakeProgress(t *testing.T) {
	for _, c := range []struct {
		what   string
		takes  time.Duration
		breaks []int64
		always bool
		want   time.Duration // until the end of the commit, within 10 s
	}{
		{"each further than the last", 3 * time.Minute, []int64{100, 200}, false, 6 * time.Minute},
		{"some further than the best", 50 * time.Second, []int64{100, 50, 150, 140, 160, 0}, false, 300 * time.Second},
		{"no bytes", 0, []int64{0}, true, 2 * time.Minute},
		{"no bytes, slowly", time.Minute, []int64{0}, true, 3 * time.Minute},
		{"always the same byte", time.Minute, []int64{100}, true, 3 * time.Minute},
		{"always the same byte after progress", time.Minute, []int64{100, 200}, true, 4 * time.Minute},
		{"always the last byte", 0, []int64{1000}, true, 2 * time.Minute},
	} {
		synctest.Test(t, func(t *testing.T) {
			d := &slowDisk{disk: &disk{dir: t.TempDir()}, takes: c.takes}
			f, err := New(d, Config{Prefix: "x://h", Host: "here", Pid: 7, Spool: t.TempDir()})
			if err != nil {
				t.Fatal(err)
			}
			out, err := f.Create(t.Context(), "x://h/model")
			if err != nil {
				t.Fatal(err)
			}
			text := strings.Repeat("0123456789", 100)
			if _, err := io.WriteString(out, text); err != nil {
				t.Fatal(err)
			}
			d.breaks, d.always = c.breaks, c.always
			begun := time.Now()
			err = out.Commit()
			if took := time.Since(begun); took < c.want || took > c.want+10*time.Second {
				t.Errorf("%s: ended after %v, want %v", c.what, took, c.want)
			}
			b, rerr := os.ReadFile(d.local("model"))
			if failed := err != nil; failed != c.always {
				t.Errorf("%s: got %v", c.what, err)
			}
			if !c.always && (rerr != nil || string(b) != text) {
				t.Errorf("%s: the file has %d bytes, %v", c.what, len(b), rerr)
			}
		})
	}
}

// The response to a rename is lost. A check of the result that fails, too, is made again.
func TestChecksOfARenameAreRepeated(t *testing.T) {
	for _, op := range []string{"stat of the temporary file", "stat", "open", "read"} {
		synctest.Test(t, func(t *testing.T) {
			f, d := newFS(t)
			out := weights(t, f)
			lost, failed := false, false
			d.forget = func(at string) error {
				if at == "rename" && !lost {
					lost = true
					return errBroken
				}
				return nil
			}
			d.fail = func(at, path string) error {
				d.short = 0
				switch {
				case !lost || failed:
				case op == "read" && at == "open":
					failed, d.short = true, 3
				case op == at && path == "/model", op == "stat of the temporary file" && at == "stat":
					failed = true
					return errBroken
				}
				return nil
			}
			if err := out.Commit(); err != nil || !failed {
				t.Errorf("%s: got %v; a check failed: %v", op, err, failed)
			}
			if b, err := os.ReadFile(d.local("model")); err != nil || string(b) != "weights" {
				t.Errorf("%s: the file has %q, %v", op, b, err)
			}
		})
	}
}

// The first server that is asked to rename a file does so, but its response is lost. The second one, which is asked in the
// same call, does not find the temporary file.
func TestARenameThatTwoServersAreAskedFor(t *testing.T) {
	f, d := newFS(t)
	out := weights(t, f)
	d.forget = func(op string) error {
		if op == "rename" {
			return fs.ErrNotExist
		}
		return nil
	}
	if err := out.Commit(); err != nil {
		t.Error(err)
	}
	if b, err := os.ReadFile(d.local("model")); err != nil || string(b) != "weights" {
		t.Errorf("the file has %q, %v", b, err)
	}
}
