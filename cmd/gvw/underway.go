// SPDX-License-Identifier: Apache-2.0

package main

import (
	"os"
	"slices"
	"sync"

	"github.com/gvw-project/gvw/hdfsio"
)

// underWay are the output files that this process writes aside. Who ends in order
// removes them one by one; an end that cannot wait removes what is left of them.
var underWay names

// names is a set that several goroutines use.
type names struct {
	mu  sync.Mutex
	all []string
}

func (n *names) add(name string) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if !slices.Contains(n.all, name) {
		n.all = append(n.all, name)
	}
}

// remove removes the files; what cannot be removed stays, the process is about to end.
func (n *names) remove() {
	n.mu.Lock()
	defer n.mu.Unlock()
	for _, name := range n.all {
		_ = hdfsio.Local{}.RemoveAside(name, os.Getpid())
	}
}
