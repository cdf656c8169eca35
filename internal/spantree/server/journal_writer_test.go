// SPDX-License-Identifier: Apache-2.0

package server

import (
	"errors"
	"net"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/gvw-project/gvw/allreduce/transport/mem"
	"github.com/gvw-project/gvw/internal/spantree/client"
	"github.com/gvw-project/gvw/internal/spantree/core"
	"github.com/gvw-project/gvw/internal/spantree/protocol"
)

// testDisk is a journal's file on a disk that a test freezes or breaks.
type testDisk struct {
	journalFile

	mu     sync.Mutex
	write  func([]byte) (int, error) // replaces the file's Write; nil: the file's
	fault  error                     // error of the next sync; later ones succeed, as on Linux
	frozen chan struct{}             // each sync waits until it is closed; nil: none waits
	syncs  int
}

func (d *testDisk) set(change func(*testDisk)) {
	d.mu.Lock()
	defer d.mu.Unlock()
	change(d)
}

func (d *testDisk) Write(b []byte) (int, error) {
	d.mu.Lock()
	write := d.write
	d.mu.Unlock()
	if write != nil {
		return write(b)
	}
	return d.journalFile.Write(b)
}

func (d *testDisk) Sync() error {
	d.mu.Lock()
	frozen, fault := d.frozen, d.fault
	d.fault = nil
	d.syncs++
	d.mu.Unlock()
	if frozen != nil {
		<-frozen
	}
	if fault != nil {
		return fault
	}
	return d.journalFile.Sync()
}

// freeze makes each sync wait until the function that it returns is called.
func (d *testDisk) freeze() (thaw func()) {
	frozen := make(chan struct{})
	d.set(func(d *testDisk) { d.frozen = frozen })
	return sync.OnceFunc(func() {
		d.set(func(d *testDisk) { d.frozen = nil })
		close(frozen)
	})
}

// onDisk puts the journal of a server that has no clients yet on a testDisk.
func onDisk(s *Server) *testDisk {
	d := &testDisk{journalFile: s.journal.j.file}
	s.journal.j.file = d
	return d
}

// serveOnDisk is serveTCP with a journal on a testDisk.
func serveOnDisk(t *testing.T, cfg ServerConfig) (*harness, *testDisk) {
	t.Helper()
	r := serveTCP(t, cfg)
	return r, onDisk(r.s)
}

// simulateOnDisk is simulate with a journal.
func simulateOnDisk(t *testing.T, cfg ServerConfig, story func(t *testing.T, n *mem.Network, r *harness, d *testDisk)) {
	t.Helper()
	cfg.StateFile = filepath.Join(t.TempDir(), "state")
	simulate(t, cfg, func(t *testing.T, n *mem.Network, r *harness) { story(t, n, r, onDisk(r.s)) })
}

// delivered runs a job of two ranks with a run key until only the record of its end is missing. The
// channel receives the results of Finish.
func delivered(t *testing.T, n *mem.Network, job protocol.Job) (all []*client.Member, byes chan error) {
	t.Helper()
	var ready sync.WaitGroup
	all, byes = make([]*client.Member, 2), make(chan error, 2)
	for rank := range all {
		ready.Go(func() {
			m, err := client.Join(t.Context(), simConfig(n, job, rank, len(all)))
			if err != nil {
				t.Error(err)
				return
			}
			all[rank] = m
			_, err = m.Ready(t.Context(), protocol.Shard{})
			if err == nil {
				_, err = m.Complete(t.Context(), sum("model"), []string{"model"})
			}
			if err == nil {
				err = m.Delivered(t.Context(), "model", sum("model"))
			}
			if err != nil {
				t.Error(err)
			}
		})
	}
	ready.Wait()
	if t.Failed() {
		t.FailNow()
	}
	for _, m := range all {
		go func() { byes <- m.Finish(t.Context()) }()
	}
	return all, byes
}

// lineTime returns the time of the first log line that contains words.
func lineTime(t *testing.T, log, words string) time.Time {
	t.Helper()
	for line := range strings.Lines(log) {
		if strings.Contains(line, words) {
			at, err := time.Parse(time.RFC3339Nano, strings.TrimPrefix(strings.Fields(line)[0], "time="))
			if err != nil {
				t.Fatal(err)
			}
			return at
		}
	}
	t.Fatalf("the log does not mention %q:\n%s", words, log)
	return time.Time{}
}

// While the disk of the journal hangs, heartbeats are answered and other jobs continue. A job that
// has delivered its files waits for the record of its end, and its report names the journal.
func TestSimFrozenJournal(t *testing.T) {
	simulateOnDisk(t, ServerConfig{}, func(t *testing.T, n *mem.Network, r *harness, d *testDisk) {
		thaw := d.freeze()
		defer thaw()
		froze := time.Now()
		ending, byes := delivered(t, n, protocol.Job{UniqueID: 7, RunKey: "run"})
		other := simWired(t, n, 3)
		time.Sleep(60*time.Second - time.Since(froze))
		select {
		case err := <-byes:
			t.Fatalf("a job has ended before its record is on the disk: %v", err)
		default:
		}
		for _, m := range append(ending, other...) {
			if err := m.Cause(); err != nil {
				t.Error(err)
			}
		}
		if s := r.s.Status(); !strings.Contains(s.Jobs[0].Report, "every file is delivered, waiting for the server's journal for 1m0s") {
			t.Errorf("report %q", s.Jobs[0].Report)
		}
		at := lineTime(t, r.log.String(), "waiting for the disk of the journal")
		if after := at.Sub(froze); after > 10*time.Second {
			t.Errorf("the log mentions the wait after %v", after)
		}
		thaw()
		for range ending {
			if err := <-byes; err != nil {
				t.Error(err)
			}
		}
		r.logged("journal written again")
		closeAll(t, ending)
		closeAll(t, other)
	})
}

// If the disk remains frozen, the jobs that wait for it fail after JournalTimeout, with an error
// that names the journal. Their files are delivered: once the disk has the record, late attempts
// are refused as those of a finished run.
func TestSimJournalTimeout(t *testing.T) {
	simulateOnDisk(t, ServerConfig{JournalTimeout: 2 * time.Minute}, func(t *testing.T, n *mem.Network, r *harness, d *testDisk) {
		thaw := d.freeze()
		defer thaw()
		began := time.Now()
		job := protocol.Job{UniqueID: 7, RunKey: "run"}
		all, byes := delivered(t, n, job)
		for range all {
			no := as[*protocol.RefusedError](t, <-byes)
			if no.Code != protocol.ServerFault || !strings.Contains(no.Reason, "the journal has not recorded the end of the job within 2m0s") {
				t.Error(no)
			}
		}
		if took := time.Since(began); took > 121*time.Second {
			t.Errorf("after %v", took)
		}
		closeAll(t, all)
		thaw()
		synctest.Wait()
		_, err := client.Join(t.Context(), simConfig(n, job, 0, 2))
		if no := as[*protocol.RefusedError](t, err); no.Code != protocol.JobFinished {
			t.Error(no)
		}
	})
}

// Records that are queued while the disk is slow are synced together.
func TestSimJournalBatches(t *testing.T) {
	simulateOnDisk(t, ServerConfig{}, func(t *testing.T, n *mem.Network, r *harness, d *testDisk) {
		thaw := d.freeze()
		defer thaw()
		var all []*client.Member
		var byes []chan error
		for id := range uint64(5) {
			m, bye := delivered(t, n, protocol.Job{UniqueID: id, RunKey: strings.Repeat("r", int(id)+1)})
			all, byes = append(all, m...), append(byes, bye)
		}
		time.Sleep(time.Second)
		thaw()
		for _, bye := range byes {
			if err := errors.Join(<-bye, <-bye); err != nil {
				t.Error(err)
			}
		}
		if d.set(func(d *testDisk) {
			if d.syncs != 2 {
				t.Errorf("%d syncs for 5 jobs, want 2", d.syncs)
			}
		}); r.s.Status().Finished != 5 {
			t.Error("not all runs are remembered")
		}
		closeAll(t, all)
	})
}

// A sync that fails is final: the system reports the next one as a success although the
// data is lost. Jobs whose end cannot be recorded fail with the cause, new jobs with a run
// key are refused at once, and a restart heals the journal.
func TestSimFailedSync(t *testing.T) {
	path := filepath.Join(t.TempDir(), "state")
	synctest.Test(t, func(t *testing.T) {
		n := mem.New()
		listen := func() net.Listener {
			l, err := n.Host("gateway").Listen(t.Context(), ":26543")
			if err != nil {
				t.Fatal(err)
			}
			return l
		}
		r := serveOn(t, ServerConfig{StateFile: path}, listen())
		broken := errors.New("input/output error")
		onDisk(r.s).fault = broken
		job := protocol.Job{UniqueID: 7, RunKey: "run"}
		running := simConfig(n, protocol.Job{UniqueID: 8, RunKey: "other"}, 0, 1)
		other, err := client.Join(t.Context(), running)
		if err != nil {
			t.Fatal(err)
		}
		all, byes := delivered(t, n, job)
		for range all {
			if no := as[*protocol.RefusedError](t, <-byes); no.Code != protocol.ServerFault || !strings.Contains(no.Reason, "input/output error") {
				t.Error(no)
			}
		}
		closeAll(t, all)
		// The next sync would succeed: neither the same run nor another may be recorded.
		for _, key := range []string{"run", "new"} {
			_, err := client.Join(t.Context(), simConfig(n, protocol.Job{UniqueID: 7, RunKey: key}, 0, 2))
			if no := as[*protocol.RefusedError](t, err); no.Code != protocol.ServerFault || !strings.Contains(no.Reason, "its journal has failed: input/output error; restart the server") {
				t.Error(no)
			}
		}
		if _, err := other.Ready(t.Context(), protocol.Shard{}); err != nil {
			t.Fatal(err)
		}
		if _, err := other.Complete(t.Context(), sum("m"), nil); err != nil {
			t.Fatal(err)
		}
		if no := as[*protocol.RefusedError](t, other.Finish(t.Context())); no.Code != protocol.ServerFault {
			t.Error(no)
		}
		closeAll(t, []*client.Member{other})
		if s := r.s.Status(); s.Finished != 0 || !strings.Contains(s.Journal, "input/output error") {
			t.Errorf("%d runs are remembered, journal %q", s.Finished, s.Journal)
		}
		closeAll(t, simWired(t, n, 2)) // jobs without a run key need no journal
		if err := r.s.Close(); !errors.Is(err, broken) {
			t.Errorf("Close: %v", err)
		}

		s := serveOn(t, ServerConfig{StateFile: path, Grace: time.Second}, listen())
		time.Sleep(2 * time.Second)
		before := s.s.Status().Finished // the disk may have kept what it did not confirm
		all, byes = delivered(t, n, protocol.Job{UniqueID: 9, RunKey: "after"})
		if err := errors.Join(<-byes, <-byes); err != nil {
			t.Error(err)
		}
		closeAll(t, all)
		if st := s.s.Status(); st.Finished != before+1 || len(st.Ended) != before+1 {
			t.Errorf("%d runs are remembered, %d listed as ended; %d were before", st.Finished, len(st.Ended), before)
		}
	})
}

// Close waits at most closeTimeout for a frozen disk.
func TestSimCloseWithAFrozenJournal(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, err := NewServer(ServerConfig{StateFile: filepath.Join(t.TempDir(), "state")})
		if err != nil {
			t.Fatal(err)
		}
		thaw := onDisk(s).freeze()
		defer thaw()
		s.journal.add(core.Persist{Record: sampleRun("run"), Receipt: 1})
		began := time.Now()
		if err := s.Close(); err == nil || !strings.Contains(err.Error(), "has not stored 1 records of the journal") {
			t.Errorf("Close: %v", err)
		}
		if took := time.Since(began); took > closeTimeout {
			t.Errorf("Close took %v", took)
		}
		thaw()
		<-s.journal.done
	})
}

// While the disk is frozen, records of single files beyond maxUnwritten are omitted.
func TestJournalQueueIsBounded(t *testing.T) {
	s, err := NewServer(ServerConfig{StateFile: filepath.Join(t.TempDir(), "state")})
	if err != nil {
		t.Fatal(err)
	}
	thaw := onDisk(s).freeze()
	defer thaw()
	s.journal.add(core.Persist{Record: sampleRun("first"), Receipt: 1})
	for range 2 * maxUnwritten {
		s.journal.add(core.Persist{Record: &protocol.DeliveredRecord{RunKey: "run"}})
	}
	s.journal.add(core.Persist{Record: sampleRun("last"), Receipt: 2})
	s.journal.mu.Lock()
	queued := len(s.journal.queue)
	s.journal.mu.Unlock()
	if queued > maxUnwritten+2 {
		t.Errorf("%d records are queued", queued)
	}
	thaw()
	if err := s.Close(); err != nil {
		t.Error(err)
	}
	_, _, runs := open(t, s.cfg.StateFile, 10, born)
	if len(runs) == 0 || runs[len(runs)-1].Job.RunKey != "last" {
		t.Errorf("runs %v", keys(runs))
	}
}
