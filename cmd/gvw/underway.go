// SPDX-License-Identifier: Apache-2.0

package main

import (
	"os"
	"slices"
	"sync"
	"time"

	"github.com/gvw-project/gvw/hdfsio"
)

// underWay are the output files that this process writes aside. Who ends in order
// removes them one by one; an end that cannot wait removes what is left of them.
var underWay names

// names is a set of files that several goroutines use.
type names struct {
	mu  sync.Mutex
	all []underWayFile
}

type underWayFile struct {
	fsys hdfsio.FS
	name string
}

func (n *names) add(fsys hdfsio.FS, name string) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if !slices.ContainsFunc(n.all, func(f underWayFile) bool { return f.name == name }) {
		n.all = append(n.all, underWayFile{fsys, name})
	}
}

// removing is how long the removal may take: another machine may not answer.
const removing = 2 * time.Second

// remove removes the files; what cannot be removed stays, the process is about to end.
func (n *names) remove() {
	n.mu.Lock()
	all := slices.Clone(n.all)
	n.mu.Unlock()
	done := make(chan struct{})
	// It ends with the process, if not before.
	go func() {
		defer close(done)
		for _, f := range all {
			_ = removeAside(f.fsys, f.name, os.Getpid())
		}
	}()
	select {
	case <-done:
	case <-time.After(removing):
	}
}

// removeAside removes what a process has left of a file that it was writing, on file
// systems that can tell.
func removeAside(fsys hdfsio.FS, name string, pid int) error {
	if f, ok := fsys.(interface{ RemoveAside(string, int) error }); ok {
		return f.RemoveAside(name, pid)
	}
	return nil
}
