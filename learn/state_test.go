// SPDX-License-Identifier: Apache-2.0

package learn

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"pgregory.net/rapid"

	"github.com/gvw-project/gvw/allreduce"
	"github.com/gvw-project/gvw/internal/sampled"
	"github.com/gvw-project/gvw/learn/internal/snapshot"
	"github.com/gvw-project/gvw/learn/internal/trainer"
	"github.com/gvw-project/gvw/option"
)

// joined is a runner in its job.
func joined(ctx context.Context, c Config) (*runner, error) {
	r, err := newRunner(c.withDefaults())
	if err != nil {
		return nil, err
	}
	if err := r.join(ctx); err != nil {
		return nil, errors.Join(err, r.close())
	}
	return r, nil
}

// local returns a runner of one process and its machine.
func local(t testing.TB, c Config) (*runner, *trainer.Trainer) {
	t.Helper()
	r, err := joined(t.Context(), c)
	if err != nil {
		t.Fatal(err)
	}
	m, err := r.trainer()
	if err != nil {
		t.Fatal(err)
	}
	return r, m
}

// Training continues from a state only with the data and the model that it was made from.
func TestStateOfAnotherOrigin(t *testing.T) {
	var made files
	text := randomText(120)
	config := func(text, from string) Config {
		c := Config{
			Data:     DataConfig{Inputs: []Input{textInput("text", text)}, Cache: filepath.Join(t.TempDir(), "c")},
			Features: FeatureConfig{Bits: 8},
			Loss:     LossConfig{Function: "logistic"},
			Holdout:  HoldoutConfig{Off: true},
			Passes:   3,
			Output:   OutputConfig{Create: made.create},
		}
		if c.Model.Initial = from; from != "" {
			c.Model.Open = func(name string) (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(made.m[name])), nil }
		}
		return c
	}
	for _, name := range []string{"a", "b"} {
		c := config(text[:len(text)/2]+"1 |a "+name+"\n", "")
		c.Model.Final = name
		if _, err := Run(t.Context(), c); err != nil {
			t.Fatal(err)
		}
	}
	var state bytes.Buffer
	r, m := local(t, config(text, "a"))
	step(t, r, m)
	if err := errors.Join(m.WriteState(&state), r.close()); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		text, from, says string
	}{
		{text, "a", ""},
		{text, "b", "a model of CRC"},
		{text + "1 |a x\n", "a", "120 examples in"},
	} {
		r, m := local(t, config(c.text, c.from))
		if err := m.Work(t.Context()); err != nil {
			t.Fatal(err)
		}
		err := m.ReadState(bytes.NewReader(state.Bytes()))
		origin, strange := errors.AsType[*ProvenanceError](err)
		if strange != (c.says != "") || strange && !strings.Contains(origin.Error(), c.says) || !strange && err != nil {
			t.Errorf("from %s: %v; want %q", c.from, err, c.says)
		}
		if err := r.close(); err != nil {
			t.Error(err)
		}
	}
}

// step does one; false: there is none.
func step(t testing.TB, r *runner, m *trainer.Trainer) bool {
	t.Helper()
	if _, more := m.Next(); !more {
		return false
	}
	if err := errors.Join(m.Work(t.Context()), m.Exchange(t.Context(), r.job.Group), m.Commit()); err != nil {
		t.Fatal(err)
	}
	return true
}

// A run of one process can continue after any step, as from a checkpoint. It ends with the
// bytes of the uninterrupted run, including the position of the table in the model.
func TestRunContinuesFromAState(t *testing.T) {
	methods := append([]method{
		{"decay at half a pass", func(c *Config) {
			c.Data.PassLength, c.SGD.DecayLearningRate, c.Passes, c.Model.PredictOnly = 50, 0.5, 1, false
		}},
		{"labels decide", func(c *Config) { c.OAA.Classes, c.Passes, c.Model.PredictOnly = 2, 3, false }},
	}, recovered...)
	steps := map[string]int{} // of methods whose steps are shorter than a pass
	for _, m := range averaged {
		methods, steps[m.name] = append(methods, m.method), m.steps
	}
	for _, m := range sampled.Race(t, methods, 0, 4) {
		t.Run(m.name, func(t *testing.T) {
			config := func(out *files) Config {
				c := Config{
					Data:        DataConfig{Inputs: []Input{textInput("text", randomText(120))}},
					Features:    FeatureConfig{Bits: 8},
					Loss:        LossConfig{Function: "logistic"},
					Holdout:     HoldoutConfig{Off: true},
					Output:      OutputConfig{Create: out.create},
					Model:       ModelConfig{Final: "m"},
					Diagnostics: DiagnosticsConfig{Writer: io.Discard},
				}
				m.change(&c)
				c.Output.Predictions = ""
				return c
			}
			var whole files
			report, err := Run(t.Context(), config(&whole))
			if err != nil {
				t.Fatal(err)
			}
			every := 1
			if testing.Short() {
				every = 3
				t.Log("sampled: every third step")
			}
			for at := 0; at <= max(report.Passes, steps[m.name]); at += every {
				var out files
				r, m := local(t, config(&out))
				for range at {
					step(t, r, m)
				}
				want, _ := m.Next()
				var state bytes.Buffer
				if err := errors.Join(m.WriteState(&state), r.close()); err != nil {
					t.Fatal(err)
				}
				r, m = local(t, config(&out))
				if err := m.ReadState(&state); err != nil {
					t.Fatal(err)
				}
				if got, _ := m.Next(); got != want {
					t.Errorf("taken up before %q, the next step is %q", want, got)
				}
				for step(t, r, m) {
				}
				if err := r.finish(m.Stage()); err != nil {
					t.Fatal(err)
				}
				again, err := r.end(t.Context())
				if err = errors.Join(err, r.close()); err != nil {
					t.Fatal(err)
				}
				if diff := diffFiles(whole.m, out.m); diff != "" {
					t.Errorf("taken up after step %d of %d: the files differ: %s", at, report.Passes, diff[:min(len(diff), 300)])
				}
				if diff := cmp.Diff(report, again, cmpopts.EquateNaNs(), cmpopts.IgnoreFields(Report{}, "Loss", "Shard")); diff != "" {
					t.Errorf("taken up after step %d of %d: the reports differ: %s", at, report.Passes, diff)
				}
			}
		})
	}
}

// small is a configuration whose state is a few hundred bytes.
func small(method func(*Config)) Config {
	c := Config{
		Data:     DataConfig{Inputs: []Input{textInput("text", randomText(20))}},
		Features: FeatureConfig{Bits: 3},
		Loss:     LossConfig{Function: "logistic"},
		Holdout:  HoldoutConfig{Off: true},
		Passes:   5,
	}
	method(&c)
	return c
}

var smallMethods = []func(*Config){
	func(c *Config) { c.Holdout.Off, c.Holdout.Period = false, 3 },
	func(c *Config) { c.OAA.Classes, c.Metrics.Measures = 3, []string{"accuracy"} },
	func(c *Config) { c.Batch.BFGS, c.Reg.L2, c.Batch.Mem = true, 1, option.Some(2) },
	func(c *Config) { c.Batch.BFGS, c.Reg.L2, c.Batch.Mem = true, 1, option.Some(0) },
	func(c *Config) {
		c.Hybrid, c.Reg.L2, c.Batch.Mem = &Hybrid{SGDPasses: 1, LBFGSPasses: 5}, 1, option.Some(2)
	},
	func(c *Config) {
		c.Average, c.Metrics.Measures = AverageConfig{Aggregate: "model", Every: "random:0.2"}, []string{"accuracy"}
	},
	func(c *Config) {
		c.Average, c.Outer = AverageConfig{Aggregate: "model", Every: "7", Batch: "0.1"}, OuterConfig{Momentum: 0.5}
	},
	func(c *Config) { c.Average, c.Holdout.Off = AverageConfig{Aggregate: "gradient", Batch: "0.3"}, false },
}

// states returns the states that the machine of each small method writes after its n-th step.
func states(t testing.TB, n int) [][]byte {
	var all [][]byte
	for _, method := range smallMethods {
		r, m := local(t, small(method))
		for range n {
			step(t, r, m)
		}
		var b bytes.Buffer
		if err := errors.Join(m.WriteState(&b), r.close()); err != nil {
			t.Fatal(err)
		}
		all = append(all, b.Bytes())
	}
	return all
}

// Reading any bytes as a state ends with an error, or with a machine that writes the same bytes
// and can continue.
func FuzzState(f *testing.F) {
	for n := range 4 {
		for i, b := range states(f, n) {
			f.Add(i, b)
		}
	}
	f.Fuzz(func(t *testing.T, which int, b []byte) {
		if which < 0 {
			which = 0
		}
		r, m := local(t, small(smallMethods[which%len(smallMethods)]))
		defer r.close()
		rest := bytes.NewReader(b)
		if m.ReadState(rest) != nil {
			return
		}
		read := b[:len(b)-rest.Len()]
		var again bytes.Buffer
		if err := m.WriteState(&again); err != nil {
			t.Fatal(err)
		}
		if len(again.Bytes()) != len(read) {
			t.Errorf("read %d bytes, wrote %d", len(read), again.Len())
		}
		if _, more := m.Next(); more {
			_ = errors.Join(m.Work(t.Context()), m.Exchange(t.Context(), r.job.Group), m.Commit()) // wild numbers may diverge
		}
	})
}

// A state of another training is refused with the difference. A large length in the input
// allocates no memory.
func TestRefusedStates(t *testing.T) {
	good := states(t, 2)
	change := func(which int, f func(b []byte) []byte) []byte { return f(bytes.Clone(good[which])) }
	le := binary.LittleEndian
	for _, c := range []struct {
		name  string
		state []byte
		want  string
	}{
		{"empty", nil, "its head: cut off"},
		{"results", change(0, func(b []byte) []byte { return append([]byte("gvwR"), b[4:]...) }), `it begins with "gvwR", want "gvwS"`},
		{"version", change(0, func(b []byte) []byte { b[4] = 9; return b }), "version 9, this gvw reads 3"},
		{"phase", change(0, func(b []byte) []byte { b[8] = 1; return b }), "it is of phase 2, and this rank is in phase 1"},
		{"damaged", change(0, func(b []byte) []byte { le.PutUint64(b[24:], 1<<60); return b }), "it is damaged"},
		{"long", change(0, func(b []byte) []byte { le.PutUint64(b[24:], 1<<32); return b }), "its small fields: cut off"},
		{"arrays", change(0, func(b []byte) []byte { le.PutUint32(b[12:], 7); return b }), "it has 7 arrays, want 2 (weights, best weights)"},
		{"cut off", change(0, func(b []byte) []byte { return b[:len(b)-1] }), "best weights: cut off"},
		{"other method", good[2], "do all ranks"},
		{"another length", change(0, func(b []byte) []byte {
			at := len(b) - 2*(8+4*32)
			le.PutUint64(b[at:], 1<<40)
			return b
		}), "weights: got 1099511627776 numbers, want 32"},
	} {
		r, m := local(t, small(smallMethods[0]))
		err := m.ReadState(bytes.NewReader(c.state))
		if err == nil || !strings.Contains(err.Error(), c.want) && c.name != "other method" {
			t.Errorf("%s: got %v, want %q", c.name, err, c.want)
		}
		if err := r.close(); err != nil {
			t.Error(err)
		}
	}
	r, m := local(t, small(smallMethods[0]))
	step(t, r, m)
	if err := m.ReadState(bytes.NewReader(states(t, 0)[0])); err == nil || !strings.Contains(err.Error(), "the initial state") {
		t.Errorf("a state of the start after a step: got %v", err)
	}
	if err := m.WriteResults(io.Discard); !errors.Is(err, allreduce.ErrNoResults) {
		t.Errorf("results of a machine that keeps none: got %v", err)
	}
	if err := r.close(); err != nil {
		t.Error(err)
	}
}

// A state whose numbers of weights are out of order, or of none, is refused.
func TestRefusedNumbers(t *testing.T) {
	c := small(smallMethods[2])
	c.Features.Bits = 12
	r, m := local(t, c)
	step(t, r, m)
	var good bytes.Buffer
	if err := errors.Join(m.WriteState(&good), r.close()); err != nil {
		t.Fatal(err)
	}
	le := binary.LittleEndian
	at := snapshot.HeadSize + le.Uint64(good.Bytes()[24:]) + 8 // the first array has the indices
	for _, index := range []uint32{0, 1 << 12, 1<<32 - 1} {
		bad := bytes.Clone(good.Bytes())
		le.PutUint32(bad[at+4:], index)
		r, m := local(t, c)
		if err := m.ReadState(bytes.NewReader(bad)); err == nil || !strings.Contains(err.Error(), fmt.Sprintf("number 1 is of weight %d", index)) {
			t.Errorf("weight %d: got %v", index, err)
		}
		if err := r.close(); err != nil {
			t.Error(err)
		}
	}
}

// After a part of a state, a machine only accepts another state. It reads a refused state to
// its end.
func TestStateInPart(t *testing.T) {
	good := states(t, 2)[0]
	r, m := local(t, small(smallMethods[0]))
	if err := m.ReadState(bytes.NewReader(good[:len(good)-9])); err == nil {
		t.Fatal("half a state was taken over")
	}
	if err := m.Work(t.Context()); err == nil || !strings.Contains(err.Error(), "only part of a state") {
		t.Errorf("work after half a state: got %v", err)
	}
	if err := m.ReadState(bytes.NewReader(good)); err != nil {
		t.Fatal(err)
	}
	step(t, r, m)
	left := bytes.NewReader(states(t, 2)[2])
	if err := m.ReadState(left); err == nil || left.Len() > 0 {
		t.Errorf("a state of another method: error %v, %d bytes were left", err, left.Len())
	}
	if err := r.close(); err != nil {
		t.Error(err)
	}
}

// Every part of the state reports a failing writer.
func TestStateCannotBeWritten(t *testing.T) {
	r, m := local(t, small(smallMethods[0]))
	step(t, r, m)
	whole := len(states(t, 1)[0])
	for _, room := range []int{0, snapshot.HeadSize, whole - 1} {
		if err := m.WriteState(&narrow{room}); err == nil || !strings.Contains(err.Error(), "after step 1: the disk is full") && !strings.Contains(err.Error(), "weights: the disk is full") {
			t.Errorf("room for %d bytes: got %v", room, err)
		}
	}
	if err := r.close(); err != nil {
		t.Error(err)
	}
}

// narrow is a writer with room for a number of bytes.
type narrow struct{ room int }

func (n *narrow) Write(b []byte) (int, error) {
	if n.room -= len(b); n.room < 0 {
		return 0, errors.New("the disk is full")
	}
	return len(b), nil
}

// A coder reads all numbers that it writes.
func TestCoderRoundTrip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(0, 1<<40).Draw(t, "n")
		f, g := rapid.Float64().Draw(t, "f"), rapid.Float32().Draw(t, "g")
		flag := rapid.Bool().Draw(t, "flag")
		b := rapid.SliceOfN(rapid.Byte(), 0, 50).Draw(t, "bytes")
		v := rapid.SliceOfN(rapid.Float64(), 0, 9).Draw(t, "v")
		code := func(c *snapshot.Coder, n *int, f *float64, g *float32, flag *bool, b *[]byte, v []float64) {
			c.Number("n", n, 1<<40)
			c.F64("f", f)
			c.F32("g", g)
			c.Flag("flag", flag)
			c.Blob("bytes", b, 50)
			c.F64s("v", v)
		}
		w := snapshot.Encode(nil)
		code(&w, &n, &f, &g, &flag, &b, v)
		r := snapshot.Decode(w.Bytes())
		var n2 int
		var f2 float64
		var g2 float32
		var flag2 bool
		var b2 []byte
		v2 := make([]float64, len(v))
		code(&r, &n2, &f2, &g2, &flag2, &b2, v2)
		if err := r.End("it"); err != nil {
			t.Fatal(err)
		}
		got, want := fmt.Sprint(n2, math.Float64bits(f2), math.Float32bits(g2), flag2, b2, v2), fmt.Sprint(n, math.Float64bits(f), math.Float32bits(g), flag, b, v)
		if got != want {
			t.Fatalf("got %s, want %s", got, want)
		}
	})
}
