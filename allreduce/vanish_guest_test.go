// SPDX-License-Identifier: Apache-2.0

//go:build rdma && linux

package allreduce

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"
)

// TestGuestVanished: the interface of the devices is deleted in the middle of an epoch, while the
// TCP connections, over the loopback, stay open. Every rank must have an error, of the device if
// that reports its end, and otherwise of the deadline; all is closed, and the devices are gone.
func TestGuestVanished(t *testing.T) {
	if os.Getenv("GVW_RDMA_GUEST") == "" {
		t.Skip("it runs in the guest of tests/rdma")
	}
	j := newTCPJob(t, 2, Config{Transport: TransportVerbs, Stall: 10 * time.Second, NoSharedMemory: true})
	within, cancel := context.WithTimeoutCause(ctx, 5*time.Minute, errors.New("the ranks hang"))
	defer cancel()
	j.groups[0].cfg.VerbsDevice, j.groups[1].cfg.VerbsDevice = "rxe0", "rxe1"
	j.ready()
	vectors := [2][]float32{make([]float32, 100_000), make([]float32, 100_000)}
	j.each(func(rank int) error {
		if !strings.HasPrefix(j.groups[rank].Verbs(), j.groups[rank].cfg.VerbsDevice) {
			return errors.New("not over its device: " + j.groups[rank].Verbs())
		}
		return j.groups[rank].AllReduce(ctx, Vec(vectors[rank]), Sum)
	})
	taking := exec.Command("/bin/ip", "link", "delete", "veth1")
	started := make(chan time.Time, 1)
	go func() {
		time.Sleep(100 * time.Millisecond)
		begun := time.Now()
		if err := taking.Start(); err != nil {
			t.Error(err)
		}
		started <- begun
	}()
	errs := j.all(func(rank int) error {
		for {
			if err := j.groups[rank].AllReduce(within, Vec(vectors[rank]), Sum); err != nil {
				return err
			}
		}
	})
	begun := <-started
	for rank, err := range errs {
		t.Logf("rank %d, after %v: %v", rank, time.Since(begun).Round(time.Millisecond), err)
		_, late := errors.AsType[*DeadlineError](err)
		if _, lost := errors.AsType[*LostError](err); !late && !lost && !strings.Contains(err.Error(), "rxe") {
			t.Errorf("rank %d: got %v, want an error of the device, or the deadline's", rank, err)
		}
	}
	j.close()
	if err := taking.Wait(); err != nil {
		t.Errorf("the interface was not deleted: %v", err)
	}
	if out, err := exec.Command("/bin/sh", "/devices").CombinedOutput(); err != nil {
		t.Errorf("the devices cannot be made anew: %v\n%s", err, out)
	}
}
