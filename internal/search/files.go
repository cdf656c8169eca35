// SPDX-License-Identifier: Apache-2.0

package search

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/gvw-project/gvw/internal/cli"
)

// workFiles are a search's journal and its folder for caches and the files of jobs.
type workFiles struct {
	journal *journal // nil: none
	done    map[place]outcome
	root    string // removed at the end
	dir     string // in root, or root itself
}

// openFiles opens the journal state, which is locked until close, and makes the folder; state "": there is no journal. It
// changes nothing if another search uses the journal or if it is that of other settings.
func openFiles(state string, h header) (*workFiles, error) {
	f := &workFiles{}
	if state == "" {
		root, err := os.MkdirTemp("", "gvw-search-")
		f.root, f.dir = root, root
		return f, err
	}
	var err error
	if f.journal, f.done, err = openJournal(state, h); err != nil {
		return nil, err
	}
	if f.root, f.dir, err = workDir(state); err != nil {
		return nil, errors.Join(err, f.journal.Close())
	}
	return f, nil
}

func (f *workFiles) remove() error { return os.RemoveAll(f.root) }

// close removes the folder, and then releases the journal: the next search makes a folder of the same name.
func (f *workFiles) close() error {
	err := f.remove()
	if f.journal != nil {
		err = errors.Join(err, f.journal.Close())
	}
	return err
}

// workDir makes the folder root beside the journal, and dir in it. The caller holds the lock of the journal, so that a folder
// that exists is that of a killed search, and is replaced. Each search has another dir, since the trials of a killed search
// may still remove and rename the files of theirs.
func workDir(state string) (root, dir string, err error) {
	root = state + ".work"
	if err := checkLeft(root); err != nil {
		return "", "", err
	}
	if err := removeLeft(root); err != nil {
		return "", "", err
	}
	if err := os.Mkdir(root, 0o700); err != nil {
		return "", "", err
	}
	dir, err = os.MkdirTemp(root, "")
	return root, dir, err
}

// checkLeft returns an error if a file exists that is not the folder of a search.
func checkLeft(root string) error {
	info, err := os.Lstat(root)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil
	case err != nil:
		return err
	case !info.IsDir():
		return cli.Usagef("%s exists, and is not the folder of a search: move it, or give another file to --state", root)
	}
	entries, err := os.ReadDir(root)
	for _, e := range entries {
		if !madeBySearch(e) {
			return cli.Usagef("%s has %s, which is not of a search: move it, or give another file to --state", root, filepath.Join(root, e.Name()))
		}
	}
	return err
}

// madeBySearch reports whether an entry of root has a name that a search gives: a folder of os.MkdirTemp or, as in release
// 0.2.0, which had no such folders, a file of a trial.
func madeBySearch(e fs.DirEntry) bool {
	name := e.Name()
	if e.IsDir() {
		return strings.Trim(name, "0123456789") == ""
	}
	return strings.HasPrefix(name, "job") && strings.Contains(name, ".log") ||
		strings.HasPrefix(strings.TrimPrefix(name, "."), "examples.") && strings.Contains(name, ".cache")
}

// removeLeft removes the folder of a killed search. Its trials notice its end by themselves, and may write files until
// then, so that a removal can find the folder not empty.
func removeLeft(dir string) error {
	const within, pause = 10 * time.Second, 20 * time.Millisecond
	for until := time.Now().Add(within); ; time.Sleep(pause) {
		err := os.RemoveAll(dir)
		if err == nil || time.Now().After(until) {
			return err
		}
	}
}
