// SPDX-License-Identifier: Apache-2.0

package pipe

import (
	"bytes"
	"context"
	"errors"
	"io"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/gvw-project/gvw/allreduce"
	"github.com/gvw-project/gvw/allreduce/transport/mem"
	"github.com/gvw-project/gvw/internal/spantree/protocol"
	"github.com/gvw-project/gvw/internal/spantree/server"
	"github.com/gvw-project/gvw/internal/vectorio"
)

// runJob runs one Run per input, all in one job, as gvw does.
func runJob(t *testing.T, cfg Config, inputs ...io.Reader) (outs []string, errs []error) {
	t.Helper()
	network := mem.New()
	l, err := network.Listen(t.Context(), "mem:26543")
	if err != nil {
		t.Fatal(err)
	}
	server, err := server.NewServer(server.ServerConfig{})
	if err != nil {
		t.Fatal(err)
	}
	var serving, ranks sync.WaitGroup
	serving.Go(func() {
		if err := server.Serve(context.Background(), l); err != nil {
			t.Error(err)
		}
	})
	outs, errs = make([]string, len(inputs)), make([]error, len(inputs))
	for rank, in := range inputs {
		ranks.Go(func() {
			var out bytes.Buffer
			errs[rank] = oneRank(t.Context(), network, cfg, rank, len(inputs), in, &out)
			outs[rank] = out.String()
		})
	}
	ranks.Wait()
	if err := server.Close(); err != nil {
		t.Error(err)
	}
	serving.Wait()
	return outs, errs
}

func oneRank(ctx context.Context, network *mem.Network, cfg Config, rank, total int, in io.Reader, out io.Writer) error {
	ctx, cancel := context.WithTimeout(ctx, 2*time.Minute)
	defer cancel()
	g, err := allreduce.Join(ctx, allreduce.Config{Server: "mem:26543", Network: network, Rank: rank, Total: total})
	if err != nil {
		return err
	}
	defer g.Close()
	if err := g.Ready(ctx, protocol.Shard{}); err != nil {
		return err
	}
	digest, err := Run(ctx, g, cfg, in, out)
	if err != nil {
		g.Fail(ctx, err)
		return err
	}
	return g.Finish(ctx, digest, nil, nil)
}

func TestResultsOfEveryOperation(t *testing.T) {
	for _, c := range []struct {
		cfg    Config
		inputs []string
		want   string
	}{
		{Config{Op: "sum", Type: "i64"}, []string{"1 2\n3 4\n", "10 20\n30 40\n", "100 200\n300 400"}, "111 222\n333 444\n"},
		{Config{Op: "sum"}, []string{"0.5", "0.25\n", "1e300\r\n"}, "1e+300\n"},
		{Config{Op: "sum", Type: "f32"}, []string{"0.1 2", "0.2 3"}, "0.3 5\n"},
		{Config{Op: "max", Type: "f32"}, []string{"-1 5", "1\t4"}, "1 5\n"},
		{Config{Op: "min", Type: "i64"}, []string{"-1 5", "1 4"}, "-1 4\n"},
		{Config{Op: "avg"}, []string{"1", "2", "6"}, "3\n"},
		{Config{Op: "weighted_avg"}, []string{"1 10 0", "3 20 4"}, "17.5 3\n"},
		{Config{Op: "sum", Type: "i64"}, []string{"\n\n", "\n\n"}, "\n\n"},
		{Config{Op: "sum"}, []string{"", ""}, ""},
		{Config{Op: "gather", Type: "text"}, []string{"a b\n", "\n", "c"}, "a b\n\nc\n"},
		{Config{Op: "gather", Type: "i64"}, []string{"1 2\n7", "3\n8"}, "1 2\n3\n7\n8\n"},
		{Config{Op: "sum", Type: "i64"}, []string{"7\n8\n"}, "7\n8\n"},
	} {
		t.Run(c.cfg.Op+" "+c.cfg.Type, func(t *testing.T) {
			readers := make([]io.Reader, len(c.inputs))
			for i, in := range c.inputs {
				readers[i] = strings.NewReader(in)
			}
			outs, errs := runJob(t, c.cfg, readers...)
			for rank, out := range outs {
				if errs[rank] != nil || out != c.want {
					t.Errorf("rank %d: got %q, %v, want %q", rank, out, errs[rank], c.want)
				}
			}
		})
	}
}

// Vectors longer than a record of the collectives are gathered whole.
func TestLongVectorsAreGathered(t *testing.T) {
	long := strings.Repeat("x", 3*allreduce.MaxRecord+5)
	outs, errs := runJob(t, Config{Op: "gather", Type: "text"}, strings.NewReader(long), strings.NewReader("short"))
	if err := errors.Join(errs...); err != nil {
		t.Fatal(err)
	}
	want := long + "\nshort\n"
	if outs[0] != want || outs[1] != want {
		t.Errorf("got %d and %d bytes, want %d", len(outs[0]), len(outs[1]), len(want))
	}
}

func TestFrames(t *testing.T) {
	in := vectorio.Encode(vectorio.Encode(nil, []float64{1, 2}), []float64{})
	outs, errs := runJob(t, Config{Op: "sum", Frames: true}, bytes.NewReader(in), bytes.NewReader(in))
	if err := errors.Join(errs...); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(vectorio.Encode(vectorio.Encode(nil, []float64{2, 4}), []float64{})), outs[1]); diff != "" {
		t.Error(diff)
	}
	outs, errs = runJob(t, Config{Op: "gather", Type: "text", Frames: true},
		strings.NewReader("\x02\x00\x00\x00\x00\x00\x00\x00a\n"), strings.NewReader("\x00\x00\x00\x00\x00\x00\x00\x00"))
	if err := errors.Join(errs...); err != nil {
		t.Fatal(err)
	}
	if want := "\x02\x00\x00\x00\x00\x00\x00\x00a\n\x00\x00\x00\x00\x00\x00\x00\x00"; outs[0] != want {
		t.Errorf("got %q, want %q", outs[0], want)
	}
}

// waits is an input that blocks until done.
type waits struct{ done <-chan struct{} }

func (w waits) Read([]byte) (int, error) {
	<-w.done
	return 0, io.EOF
}

// Every rank ends with the same error. It names both sides of a disagreement, or the rank
// whose input is at fault.
func TestEveryRankReportsTheFault(t *testing.T) {
	for _, c := range []struct {
		name   string
		cfg    Config
		inputs []string
		want   string // part of the error of every rank
		by     int    // the rank at fault; -1: all ranks find it
	}{
		{"lengths", Config{Op: "sum"}, []string{"1\n1 2", "1\n1", "1\n1 2"}, "line 2: the vectors differ in length: 2 elements on rank 2, 1 on rank 1", -1},
		{"ends", Config{Op: "sum"}, []string{"1\n2", "1", "1\n2"}, "that of rank 1 ends after 1 lines, that of rank 2 continues", -1},
		{"number", Config{Op: "sum", Type: "i64"}, []string{"1", "1.5", "1"}, `rank 1: line 1 of the input: "1.5" is not a number of type i64`, 1},
		{"weights", Config{Op: "weighted_avg"}, []string{"0 1", "0 1"}, "add up to 0", -1},
		{"no weight", Config{Op: "weighted_avg"}, []string{"", "\n"}, "want a weight first", 1},
		{"frame", Config{Op: "sum", Frames: true}, []string{"", "\x01\x00\x00\x00\x00\x00\x00\x00a"}, "frame 1 of the input: its length of 1 bytes is not a multiple of type f64", 1},
		{"truncated", Config{Op: "sum", Frames: true}, []string{"", "\x08\x00\x00\x00\x00\x00\x00\x00a"}, "ends after 1 of 8 bytes", 1},
		{"long", Config{Op: "gather", Type: "text", MaxVector: 3}, []string{"", "abcd\n"}, "more than 3 bytes", 1},
		{"no length", Config{Op: "sum", Frames: true, MaxVector: 1 << 20}, []string{"", "1 2 3 4 5\n"}, "a frame begins with its length", 1},
	} {
		t.Run(c.name, func(t *testing.T) {
			readers := make([]io.Reader, len(c.inputs))
			for i, in := range c.inputs {
				readers[i] = strings.NewReader(in)
			}
			_, errs := runJob(t, c.cfg, readers...)
			for rank, err := range errs {
				if err == nil || !strings.Contains(err.Error(), c.want) {
					t.Errorf("rank %d: got %v, want %q", rank, err, c.want)
				}
				if _, data := errors.AsType[*DataError](err); data != (c.by < 0 || c.by == rank) {
					t.Errorf("rank %d: %v is a *DataError: %v", rank, err, data)
				}
			}
		})
	}
}

// A rank that waits for its input ends with its context.
func TestAWaitingRankIsInterrupted(t *testing.T) {
	done := make(chan struct{})
	defer close(done)
	ctx, cancel := context.WithCancelCause(t.Context())
	cause := errors.New("enough")
	time.AfterFunc(10*time.Millisecond, func() { cancel(cause) })
	if _, err := Run(ctx, allreduce.Local(), Config{Op: "sum"}, waits{done}, io.Discard); !errors.Is(err, cause) {
		t.Errorf("got %v", err)
	}
}

// It also ends when another rank fails, even if no input ever arrives.
func TestAWaitingRankEndsWithTheJob(t *testing.T) {
	done := make(chan struct{})
	defer close(done)
	_, errs := runJob(t, Config{Op: "sum", Type: "i64"}, waits{done}, strings.NewReader("x\n"), waits{done})
	for rank, err := range errs {
		if want := `rank 1: line 1 of the input: "x" is not a number of type i64`; err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("rank %d: got %v, want %q", rank, err, want)
		}
	}
}

func TestValidateReportsAllFaults(t *testing.T) {
	err := Config{Op: "mean", Type: "f16", MaxVector: -1}.Validate()
	for _, word := range []string{"Op", "Type", "MaxVector"} {
		if err == nil || !strings.Contains(err.Error(), word) {
			t.Errorf("%s is not in %v", word, err)
		}
	}
	for _, bad := range []Config{{Op: "sum", Type: "text"}, {Op: "avg", Type: "i64"}, {Op: "weighted_avg", Type: "i64"}, {}} {
		if bad.Validate() == nil {
			t.Errorf("%+v is accepted", bad)
		}
	}
}
