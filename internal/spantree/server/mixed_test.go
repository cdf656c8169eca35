// SPDX-License-Identifier: Apache-2.0

package server

import (
	"encoding/binary"
	"fmt"
	"io"
	"net"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/gvw-project/gvw/allreduce/topo"
	"github.com/gvw-project/gvw/internal/spantree/client"
	"github.com/gvw-project/gvw/internal/spantree/protocol"
)

// vw and gvw workers form one job: each gets its place in vw's tree by its own
// protocol, and leaves by its own protocol.
func TestMixedJob(t *testing.T) {
	r := serveTCP(t, ServerConfig{})
	const n = 5 // vw's tree: 0, 2 below 1; 1, 4 below 3
	vw := map[int]*peer{0: nil, 3: nil}
	native := map[int]*client.Member{1: nil, 2: nil, 4: nil}
	for rank := range native {
		native[rank] = r.member(r.config(protocol.Job{UniqueID: 9, RunKey: "run"}, rank, n))
	}
	for rank := range vw {
		vw[rank] = r.vw(9, n, uint64(rank))
		vw[rank].reads("01000000")
	}
	wirings := map[int]*client.Wiring{}
	var mu sync.Mutex
	var wait sync.WaitGroup
	for rank, m := range native {
		wait.Go(func() {
			w, err := m.Ready(t.Context(), protocol.Shard{})
			if err != nil {
				t.Errorf("rank %d: %v", rank, err)
				return
			}
			mu.Lock()
			defer mu.Unlock()
			wirings[rank] = w
		})
	}
	vw[0].reads("0000")
	vw[3].reads("0200")
	vw[3].write([]byte{0x75, 0x33}) // 30003
	vw[0].write([]byte{0x75, 0x30})
	vw[0].reads("7f000001 7531") // 30001, of a native rank
	vw[3].reads("ffffffff ffffffff")
	vw[0].ends()
	wait.Wait()
	if t.Failed() {
		return
	}
	for rank, want := range map[int]client.Wiring{
		1: {Stream: true, Parent: "127.0.0.1:30003", Kids: 2},
		2: {Stream: true, Parent: "127.0.0.1:30001", Kids: 0},
		4: {Stream: true, Parent: "127.0.0.1:30003", Kids: 0},
	} {
		want.Epoch, want.Token = wirings[1].Epoch, wirings[1].Token
		if d := cmp.Diff(&want, wirings[rank], cmp.AllowUnexported(protocol.MemberList{})); d != "" {
			t.Errorf("rank %d, -want +got:\n%s", rank, d)
		}
	}
	// The end: the vw workers have closed their connections to the server after the wiring.
	for rank, m := range native {
		files, err := m.Complete(t.Context(), sum(fmt.Sprint(rank)), []string{"model"})
		if err != nil || len(files) != 1 {
			t.Errorf("rank %d: Complete: %v, %v", rank, files, err)
		}
		if err := m.Delivered(t.Context(), "model", sum("model")); err != nil {
			t.Errorf("rank %d: Delivered: %v", rank, err)
		}
		if err := m.Finish(t.Context()); err != nil {
			t.Errorf("rank %d: Finish: %v", rank, err)
		}
	}
	r.logged("job ended")
}

// The loss of a native rank is sent to the native ranks of a mixed job. vw workers have no
// connection to the server then.
func TestLossInAMixedJob(t *testing.T) {
	r := serveTCP(t, ServerConfig{})
	lives, dies := r.member(r.config(protocol.Job{UniqueID: 9}, 0, 3)), r.member(r.config(protocol.Job{UniqueID: 9}, 1, 3))
	vw := r.vw(9, 3, 2)
	go func() {
		_, _ = dies.Ready(t.Context(), protocol.Shard{})
		_ = dies.Disconnect()
	}()
	vw.reads("01000000")
	done := make(chan error, 1)
	go func() {
		_, err := lives.Ready(t.Context(), protocol.Shard{})
		done <- err
	}()
	vw.reads("0000")
	vw.write([]byte{0x75, 0x32})
	vw.reads("7f000001 7531")
	if err := <-done; err != nil {
		t.Fatal(err)
	}
	select {
	case <-lives.Over():
	case <-time.After(patience):
		t.Fatal("the survivor does not get EPOCH_END")
	}
	if lost := as[*protocol.LostError](t, lives.Cause()); lost.Rank != 1 {
		t.Errorf("cause: %v", lost)
	}
}

// fakeVWServer imitates vw's spanning_tree (spanning_tree.cc) for one job of n
// workers. It serves one connection after the other, blocks in each, and answers
// ok=0 to a worker with an invalid rank or one that is in the job.
func fakeVWServer(t *testing.T, n int) (addr string, ended chan error) {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	ended = make(chan error, 1)
	go func() { ended <- serveVW(l, n) }()
	return l.Addr().String(), ended
}

func serveVW(l net.Listener, n int) error {
	type client struct {
		c    net.Conn
		ip   [4]byte
		port [2]byte
	}
	jobs := map[uint64]map[uint64]bool{}
	var clients []*client // by position: the order of arrival
	var rejected []net.Conn
	defer func() {
		for _, c := range rejected {
			c.Close() // vw's server leaves them open
		}
	}()
	for len(clients) < n {
		c, err := l.Accept()
		if err != nil {
			return err
		}
		var hello [24]byte
		if _, err := io.ReadFull(c, hello[:]); err != nil {
			return fmt.Errorf("nonce read failed, exiting: %w", err)
		}
		nonce, total, id := binary.LittleEndian.Uint64(hello[:]), binary.LittleEndian.Uint64(hello[8:]), binary.LittleEndian.Uint64(hello[16:])
		if jobs[nonce] == nil {
			jobs[nonce] = map[uint64]bool{}
		}
		if id >= total || jobs[nonce][id] {
			if _, err := c.Write([]byte{0, 0, 0, 0}); err != nil {
				return err
			}
			rejected = append(rejected, c)
			continue
		}
		jobs[nonce][id] = true
		clients = append(clients, &client{c: c, ip: c.RemoteAddr().(*net.TCPAddr).AddrPort().Addr().As4()})
		if _, err := c.Write([]byte{1, 0, 0, 0}); err != nil {
			return err
		}
	}
	tree := topo.VW(n)
	for i, c := range clients {
		if _, err := c.c.Write([]byte{byte(tree.Degree(i)), 0}); err != nil {
			return err
		}
	}
	for _, c := range clients {
		if _, err := io.ReadFull(c.c, c.port[:]); err != nil {
			return err
		}
	}
	for i, c := range clients {
		answer := []byte{0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff}
		if p := tree.Parent(i); p != topo.None {
			answer = append(clients[p].ip[:], clients[p].port[:]...)
		}
		if _, err := c.c.Write(answer); err != nil {
			return err
		}
		c.c.Close()
	}
	return nil
}

// At vw's own server a rank joins as a vw worker.
func TestJoinAtVWsOwnServer(t *testing.T) {
	t.Parallel()
	const n = 3
	addr, ended := fakeVWServer(t, n)
	got := make([]*client.Wiring, n)
	var wait sync.WaitGroup
	for rank := range n {
		m, err := client.Join(t.Context(), client.JoinConfig{Server: addr, Job: protocol.Job{UniqueID: 258}, Rank: rank, Total: n, Advertise: fmt.Sprintf(":%d", 30000+rank)})
		if err != nil {
			t.Fatal(err)
		}
		wait.Go(func() {
			w, err := m.Ready(t.Context(), protocol.Shard{})
			if err != nil {
				t.Errorf("rank %d: %v", rank, err)
				return
			}
			got[rank] = w
			m.Report(protocol.Progress{Pass: 1})
			files, err := m.Complete(t.Context(), sum("m"), []string{"model"})
			if err != nil || len(files) != 1 {
				t.Errorf("rank %d: Complete: %v, %v", rank, files, err)
			}
			for _, err := range []error{m.Delivered(t.Context(), "model", sum("m")), m.Finish(t.Context()), m.Fail(t.Context(), "x", ""), m.Cause(), m.Close(), m.Close()} {
				if err != nil {
					t.Errorf("rank %d: %v", rank, err)
				}
			}
		})
	}
	wait.Wait()
	if err := <-ended; err != nil {
		t.Fatalf("the server: %v", err)
	}
	if t.Failed() {
		return
	}
	root, parents := 0, map[string]int{}
	for rank, w := range got {
		if !w.Stream || w.Peers.Len() > 0 {
			t.Errorf("rank %d: %+v", rank, w)
		}
		if w.Parent == "" {
			root = rank
			if w.Kids != 2 {
				t.Errorf("the root has %d children", w.Kids)
			}
			continue
		}
		parents[w.Parent]++
	}
	if want := fmt.Sprintf("127.0.0.1:%d", 30000+root); len(parents) != 1 || parents[want] != 2 {
		t.Errorf("parents: %v, want two times %s", parents, want)
	}
}

func TestVWsOwnServerRefuses(t *testing.T) {
	t.Parallel()
	addr, _ := fakeVWServer(t, 2)
	cfg := client.JoinConfig{Server: addr, Rank: 0, Total: 2, StartTimeout: 10 * time.Second}
	first, err := client.Join(t.Context(), cfg)
	if err != nil {
		t.Fatal(err)
	}
	// vw's server does not report missing ranks.
	_, err = first.Ready(t.Context(), protocol.Shard{})
	if late := as[*protocol.StartError](t, err); !strings.Contains(late.Error(), "does not report missing ranks") {
		t.Errorf("Ready: %v", late)
	}
	// It never frees the rank of a worker that has disconnected.
	cfg.StartTimeout = patience
	second, err := client.Join(t.Context(), cfg)
	if err != nil {
		t.Fatal(err)
	}
	_, err = second.Ready(t.Context(), protocol.Shard{})
	if no := as[*protocol.RefusedError](t, err); no.Code != protocol.RankHeld || !strings.Contains(no.Reason, "use another unique_id") {
		t.Errorf("Ready: %v", no)
	}
	if _, err := client.Status(t.Context(), nil, addr, nil); err == nil || !strings.Contains(err.Error(), "which does not list its jobs") {
		t.Errorf("Status: %v", err)
	}
}
