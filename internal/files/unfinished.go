// SPDX-License-Identifier: Apache-2.0

package files

import (
	"os"
	"slices"
	"sync"
	"time"

	"github.com/gvw-project/gvw/hdfsio"
)

// names are the output files that this process has created and may not have finished. An
// orderly end aborts them one by one; a forced end removes what is left of them.
type names struct {
	mu  sync.Mutex
	all []unfinishedFile
}

type unfinishedFile struct {
	fsys hdfsio.FS
	name string
}

// Add records an output file that the process has begun. Adding a name again does nothing.
func (n *names) Add(fsys hdfsio.FS, name string) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if !slices.ContainsFunc(n.all, func(f unfinishedFile) bool { return f.name == name }) {
		n.all = append(n.all, unfinishedFile{fsys, name})
	}
}

// removeTimeout bounds the removal, since another machine may not answer.
const removeTimeout = 2 * time.Second

// remove removes the files. Errors are ignored, since the process is about to end.
func (n *names) remove() {
	n.mu.Lock()
	all := slices.Clone(n.all)
	n.mu.Unlock()
	done := make(chan struct{})
	// This goroutine ends with the process, if not before.
	go func() {
		defer close(done)
		for _, f := range all {
			_ = removeTemporary(f.fsys, f.name, os.Getpid())
		}
	}()
	select {
	case <-done:
	case <-time.After(removeTimeout):
	}
}

// removeTemporary removes the temporary file of a process, whose name has the process ID, on
// file systems that support it.
func removeTemporary(fsys hdfsio.FS, name string, pid int) error {
	if f, ok := fsys.(interface{ RemoveTemp(string, int) error }); ok {
		return f.RemoveTemp(name, pid)
	}
	return nil
}
