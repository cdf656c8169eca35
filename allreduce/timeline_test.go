// SPDX-License-Identifier: Apache-2.0

package allreduce

import (
	"bytes"
	"errors"
	"testing"
	"time"

	"github.com/gvw-project/gvw/internal/timeline"
)

// A timeline has the collectives of its rank, and within them the parts that it sends and receives.
func TestTimeline(t *testing.T) {
	var out [2]bytes.Buffer
	j := newTCPJob(t, 2, Config{NoSharedMemory: true, Chunk: 1 << 10})
	for rank, g := range j.groups {
		g.cfg.Timeline = &out[rank]
		g.timeline = timeline.New(&out[rank], rank, timeline.NewClock(""))
		g.renewEpoch()
	}
	const n = 1 << 12
	j.ready()
	j.each(func(rank int) error {
		return j.groups[rank].ReduceScatter(ctx, Vec(make([]float32, n)).Named("weights"), Sum)
	})
	j.each(func(rank int) error { return j.groups[rank].Done(ctx) })
	for rank, g := range j.groups {
		if err := g.Close(); err != nil {
			t.Fatal(err)
		}
		spans, err := timeline.Read(&out[rank])
		if err != nil {
			t.Fatal(err)
		}
		var call timeline.Span
		for _, s := range spans {
			if s.Name == "reduce-scatter weights" {
				call = s
			}
		}
		if call.Row != timeline.Collectives || call.Rank != rank || call.Args.Bytes != 4*n {
			t.Fatalf("rank %d: got %+v", rank, spans)
		}
		bytes := map[timeline.Row]int{}
		for _, s := range spans {
			if s.Row >= timeline.Sends && s.Began >= call.Began && s.Began+s.Took <= call.Began+call.Took {
				bytes[s.Row] += s.Args.Bytes
			}
		}
		// Half of the vector, and the words by which the ranks agree on the call.
		if got := bytes[timeline.Sends]; got < 2*n || bytes[timeline.Receives] < 2*n {
			t.Errorf("rank %d sent %d bytes and received %d, want at least %d", rank, got, bytes[timeline.Receives], 2*n)
		}
	}
}

// A writer that fails does not end the job, and the log names the loss.
func TestBrokenTimeline(t *testing.T) {
	j := newTCPJob(t, 2, Config{})
	j.ready()
	g := j.groups[0]
	g.timeline = timeline.New(fullDisk{}, 0, timeline.NewClock(""))
	g.timeline.Span(timeline.Steps, "work", time.Now(), 0)
	if err := g.Close(); err != nil {
		t.Fatal(err)
	}
	if log := j.logs[0].String(); !bytes.Contains([]byte(log), []byte("the timeline is incomplete")) {
		t.Errorf("the log lacks the timeline:\n%s", log)
	}
}

type fullDisk struct{}

func (fullDisk) Write([]byte) (int, error) { return 0, errors.New("no space left on device") }
