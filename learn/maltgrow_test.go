// SPDX-License-Identifier: Apache-2.0

package learn

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/gvw-project/gvw/allreduce"
	"github.com/gvw-project/gvw/internal/spantree/client"
	"github.com/gvw-project/gvw/internal/spantree/protocol"
)

// growing returns the configuration of a rank of four whose vectors grow.
func growing(server string, rank int, part string) Config {
	return Config{
		Data:     DataConfig{Inputs: []Input{textInput(fmt.Sprintf("part %d", rank), part)}},
		Features: FeatureConfig{Bits: 10}, Loss: LossConfig{Function: "logistic"}, Holdout: HoldoutConfig{Off: true},
		Passes: 6, Malt: MaltConfig{Graph: "halton", Sync: "bsp", Every: 10},
		Cluster: ClusterConfig{Join: &allreduce.Config{
			Server: server, Job: allreduce.Job{UniqueID: 9, RunKey: "run"}, Rank: rank, Total: 4, Listen: "127.0.0.1:0",
			OnLoss: allreduce.Open,
		}},
	}
}

// onOpen returns an input that calls act before it is opened for the n-th time, from 1.
func onOpen(in Input, n int, act func()) Input {
	open := in.Open
	in.Open = func(ctx context.Context) (io.ReadCloser, error) {
		if n--; n == 0 {
			act()
		}
		return open(ctx)
	}
	return in
}

// awaitVectors waits until the job of the shared vectors of job is as have reports.
func awaitVectors(t *testing.T, server string, job allreduce.Job, have func(protocol.JobStatus) bool) {
	id := VectorsJob(job)
	for end := time.Now().Add(time.Minute); time.Now().Before(end); time.Sleep(10 * time.Millisecond) {
		st, err := client.Status(t.Context(), nil, server, nil)
		if err != nil {
			t.Error(err)
			return
		}
		if slices.ContainsFunc(st.Jobs, func(j protocol.JobStatus) bool { return j.UniqueID == id.UniqueID && have(j) }) {
			return
		}
	}
	t.Error("no rank has joined the vectors")
}

// complete reports whether a job has all of its ranks.
func complete(j protocol.JobStatus) bool { return len(j.Removed) == 0 }

// replaced reports whether a job has all of its ranks after the loss of one.
func replaced(j protocol.JobStatus) bool {
	return j.LastLoss != nil && j.State == "wired" && complete(j)
}

// A job starts without a rank, which joins while the others train. It begins with their weights, and takes part in the
// mean of the models.
func TestRankJoinsLate(t *testing.T) {
	all := strings.SplitAfter(randomText(4000), "\n")
	parts, held := deal(strings.Join(all[:3000], ""), 4), strings.Join(all[3000:], "")
	var out files
	var want float64
	for _, late := range []bool{false, true} {
		server := serve(t)
		reports, errs := make([]*Report, 4), make([]error, 4)
		var ranks sync.WaitGroup
		var run func(rank int)
		run = func(rank int) {
			c := growing(server, rank, parts[rank])
			if late {
				c.Cluster.Join.Elastic, c.Cluster.Join.StartTimeout = true, 3*time.Second
			}
			if late && rank == 0 {
				c.Data.Inputs[0] = onOpen(c.Data.Inputs[0], 3, func() {
					ranks.Go(func() { run(3) })
					awaitVectors(t, server, c.Cluster.Join.Job, complete)
				})
			}
			if rank == 0 {
				c.Output.Create, c.Model.Final = out.create, fmt.Sprint(late)
			}
			reports[rank], errs[rank] = Run(t.Context(), c)
		}
		first := 4
		if late {
			first = 3
		}
		for rank := range first {
			ranks.Go(func() { run(rank) })
		}
		ranks.Wait()
		if err := errors.Join(errs...); err != nil {
			t.Fatal(err)
		}
		for rank, r := range reports {
			if r.Digest != reports[0].Digest {
				t.Errorf("rank %d has another model than rank 0", rank)
			}
		}
		got := lossOf(t, &out, fmt.Sprint(late), held)
		if !late {
			want = got
			continue
		}
		if n := reports[0].Stats.Examples; n <= 6*3000*3/4 || n >= 6*3000 {
			t.Errorf("%d examples are counted, want all of three ranks and some of the late one", n)
		}
		if math.Abs(got-want) > 0.05*want {
			t.Errorf("loss: got %.5f, want that of a job whose ranks all come in time, %.5f, within 5 %%", got, want)
		} else {
			t.Logf("loss %.5f, of a job whose ranks all come in time %.5f", got, want)
		}
	}
}

// The others end without a lost rank that does not return.
func TestGrowingJobEndsWithoutALostRank(t *testing.T) {
	parts, server := deal(randomText(2000), 4), serve(t)
	reports, errs := make([]*Report, 4), make([]error, 4)
	var ranks sync.WaitGroup
	for rank := range 4 {
		ranks.Go(func() {
			c := growing(server, rank, parts[rank])
			if rank == 1 {
				c.Data.Inputs[0] = failsOn(c.Data.Inputs[0], 3)
			}
			reports[rank], errs[rank] = Run(t.Context(), c)
		})
	}
	ranks.Wait()
	for rank, err := range errs {
		switch {
		case rank == 1 && err == nil:
			t.Error("rank 1 has not failed")
		case rank != 1 && (err != nil || reports[rank].Digest != reports[0].Digest || reports[rank].Stats.Examples != 6*1500):
			t.Errorf("rank %d: got %v, want the same model as rank 0 from %d examples", rank, err, 6*1500)
		}
	}
}

// The server shows the passes, the examples and the losses of ranks while they train, in the job of the shared vectors, too.
func TestVectorsHaveProgress(t *testing.T) {
	t.Parallel()
	server, parts := serve(t), deal(randomText(2000), 2)
	job := allreduce.Job{UniqueID: 9}
	reported := func(id allreduce.Job, passes string) {
		for end := time.Now().Add(time.Minute); time.Now().Before(end); time.Sleep(10 * time.Millisecond) {
			st, err := client.Status(t.Context(), nil, server, nil)
			if err != nil {
				t.Error(err)
				return
			}
			for _, j := range st.Jobs {
				for _, r := range j.Ranks {
					if j.UniqueID == id.UniqueID && strings.Contains(j.Options, passes) && r.Rank == 0 && r.Pass == 2 && r.Examples > 1000 && r.Loss > 0 && r.Holdout > 0 {
						return
					}
				}
			}
		}
		t.Errorf("job %v has no progress", id)
	}
	errs := make([]error, 2)
	var ranks sync.WaitGroup
	for rank := range errs {
		ranks.Go(func() {
			c := growing(server, rank, parts[rank])
			c.Holdout.Off, c.Passes, c.Malt.Sync = false, 4, "asp"
			c.Cluster.Join.Total, c.Cluster.Join.OnLoss, c.Cluster.Join.Job, c.Cluster.Join.Heartbeat = 2, allreduce.Abort, job, 10*time.Millisecond
			if rank == 0 {
				c.Data.Inputs[0] = onOpen(c.Data.Inputs[0], 3, func() { reported(VectorsJob(job), "library=malt passes=4") })
			}
			_, errs[rank] = Run(t.Context(), c)
		})
	}
	ranks.Wait()
	if err := errors.Join(errs...); err != nil {
		t.Fatal(err)
	}
}
