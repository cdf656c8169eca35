// SPDX-License-Identifier: Apache-2.0

//go:build long

package hadoop

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"syscall"
	"testing"
	"time"

	"github.com/gvw-project/gvw/tests/hadoop/cluster"
	"github.com/gvw-project/gvw/tests/harness"
)

// activeNodes waits until the ResourceManager counts want active nodes.
func activeNodes(t *testing.T, c *cluster.Cluster, want int) {
	t.Helper()
	var got int
	if !harness.Until(2*time.Minute, 100*time.Millisecond, func() bool {
		var err error
		got, err = c.ActiveNodes(context.Background())
		return err == nil && got == want
	}) {
		t.Fatalf("%d NodeManagers are there, want %d", got, want)
	}
}

// onDisks puts the containers' folders and logs of NodeManagers on disks of 192 MiB each until
// the test ends. It returns the disks by the NodeManagers' names.
func onDisks(t *testing.T, numbers ...int) map[string]string {
	t.Helper()
	c := hadoop(t)
	restart := func(between func()) {
		for _, k := range numbers {
			if err := c.StopDaemon(cluster.NodeManager + strconv.Itoa(k)); err != nil {
				t.Error(err)
			}
		}
		activeNodes(t, c, nodes-len(numbers))
		between()
		for _, k := range numbers {
			if err := c.StartDaemon(cluster.NodeManager + strconv.Itoa(k)); err != nil {
				t.Error(err)
			}
		}
		activeNodes(t, c, nodes)
	}
	disks := map[string]string{}
	t.Cleanup(func() { restart(func() {}) }) // the restarted NodeManagers use the folders below the disks again
	restart(func() {
		for _, k := range numbers {
			dir := filepath.Join(c.Dir(), fmt.Sprint("nm", k))
			mountTiny(t, dir, "size=192m,mode=755")
			disks[cluster.NodeManager+strconv.Itoa(k)] = dir
		}
	})
	return disks
}

// fill fills a disk.
func fill(t *testing.T, disk string) {
	t.Helper()
	f, err := os.Create(filepath.Join(disk, "ballast"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	for buf := make([]byte, 1<<20); len(buf) > 0; {
		switch _, err := f.Write(buf); {
		case errors.Is(err, syscall.ENOSPC):
			buf = buf[:len(buf)/2]
		case err != nil:
			t.Fatal(err)
		}
	}
}

// The disk of a NodeManager, with the folders and logs of its containers, fills up while a job
// runs. A map that is killed there finds no room on another node and fails as often as Hadoop
// permits. The job fails, and so does the gateway, without a model.
func TestTheDiskOfTheOnlyNodeFillsUp(t *testing.T) {
	in := smallInput(t)
	disks := onDisks(t, 1, 2)
	const third = cluster.NodeManager + "3"
	if err := shared.cluster.StopDaemon(third); err != nil {
		t.Fatal(err)
	}
	activeNodes(t, shared.cluster, 2)
	t.Cleanup(func() {
		if err := shared.cluster.StartDaemon(third); err != nil {
			t.Error(err)
		}
		activeNodes(t, shared.cluster, nodes)
	})
	// Two maps fit beside the ApplicationMaster, and no third one on the other node.
	s := begin(t, in, slowly, "--memory", "448", "--force", "--attempts", "2")
	s.running(0)
	node, victims := s.nodeWithoutMaster()
	fill(t, disks[node])
	if err := kill(s.mapper(victims[0].Rank(), victims[0].Number())); err != nil {
		t.Fatal(err)
	}
	s.wait(3)
	s.said("No space ", "has failed")
	s.noModel()
}

// noModel checks that there is no model, neither in the job's output nor here.
func (s *submission) noModel() {
	s.t.Helper()
	if _, err := s.c.Get(s.t.Context(), s.out+"/model"); err == nil {
		s.t.Error("there is a model")
	}
	if _, err := os.Stat(filepath.Join(s.dir, "model")); !errors.Is(err, os.ErrNotExist) {
		s.t.Errorf("there is a copy of a model: %v", err)
	}
}

// The disks of all NodeManagers are full before a job starts, so that its ApplicationMaster
// cannot start. The job ends, the gateway reports the reason, and there is no model.
func TestTheDisksOfAllNodesAreFull(t *testing.T) {
	in := smallInput(t)
	for _, disk := range onDisks(t, 1, 2, 3) {
		fill(t, disk)
	}
	s := submit(t, in.hdfs, hybrid()...)
	s.wait(3)
	s.said("No space available in any of the local directories", "/nm")
	s.noModel()
}
