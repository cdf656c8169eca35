// SPDX-License-Identifier: Apache-2.0

package model

import (
	"bytes"
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func sampleRegularizer() *Regularizer {
	return &Regularizer{
		Header:    Header{MinLabel: -1, MaxLabel: 1, Bits: 2, Options: []Option{{"bfgs", ""}}},
		Precision: []float32{1.5, 0, 2, 1},
		Mean:      []float32{0, 0.25, -3, 0},
	}
}

func encodedRegularizer(t testing.TB, r *Regularizer) []byte {
	var b bytes.Buffer
	if err := WriteRegularizer(&b, r); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func TestRegularizerRoundTrip(t *testing.T) {
	want := sampleRegularizer()
	got, err := ReadRegularizer(bytes.NewReader(encodedRegularizer(t, want)), Limits{})
	if err != nil {
		t.Fatal(err)
	}
	want.Header.Version = got.Header.Version
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("(-want +got)\n%s", d)
	}
}

func TestRegularizerText(t *testing.T) {
	var b strings.Builder
	if err := WriteRegularizerText(&b, sampleRegularizer()); err != nil {
		t.Fatal(err)
	}
	if want := ":1\n0:1.5\n3:0.25\n4:2\n5:-3\n6:1\n"; !strings.HasSuffix(b.String(), want) || !strings.Contains(b.String(), "\noptions: --bfgs\n") {
		t.Errorf("got %q, want it to end in %q", b.String(), want)
	}
}

// TestRegularizerIsNoModel: the readers distinguish both kinds of files.
func TestRegularizerIsNoModel(t *testing.T) {
	if _, err := Read(bytes.NewReader(encodedRegularizer(t, sampleRegularizer())), Limits{}); !errors.Is(err, ErrNotModel) || !strings.Contains(err.Error(), "learn.Config.Reg.Input") {
		t.Errorf("as a model: %v", err)
	}
	if _, err := ReadRegularizer(bytes.NewReader(encoded(t, sample(false))), Limits{}); !errors.Is(err, ErrNotModel) || !strings.Contains(err.Error(), "learn.Config.Model.Initial") {
		t.Errorf("a model as regularisers: %v", err)
	}
}

func TestRegularizerFaults(t *testing.T) {
	file := encodedRegularizer(t, sampleRegularizer())
	if _, err := ReadRegularizer(bytes.NewReader(file[:len(file)-3]), Limits{}); !errors.Is(err, ErrTruncated) {
		t.Errorf("cut short: %v", err)
	}
	bad := bytes.Clone(file)
	bad[len(bad)-8] = 8 // 2^2 weights have the indices 0 to 7
	if _, err := ReadRegularizer(bytes.NewReader(bad), Limits{}); !errors.Is(err, ErrDamaged) {
		t.Errorf("number out of range: %v", err)
	}
	r := sampleRegularizer()
	r.Mean = r.Mean[1:]
	if err := WriteRegularizer(&bytes.Buffer{}, r); err == nil {
		t.Error("3 centres for 4 weights were written")
	}
}

// FuzzReadRegularizer reads arbitrary bytes. An accepted file is written to the same bytes
// twice.
func FuzzReadRegularizer(f *testing.F) {
	f.Add(encodedRegularizer(f, sampleRegularizer()))
	limits := Limits{Bits: 10}
	f.Fuzz(func(t *testing.T, file []byte) {
		r, err := ReadRegularizer(bytes.NewReader(file), limits)
		if err != nil {
			return
		}
		var b bytes.Buffer
		if err := WriteRegularizer(&b, r); err != nil {
			return // files of vw may have contents that we refuse to write
		}
		again, err := ReadRegularizer(bytes.NewReader(b.Bytes()), limits)
		if err != nil {
			t.Fatalf("written by us, not readable by us: %v", err)
		}
		if !bytes.Equal(b.Bytes(), encodedRegularizer(t, again)) {
			t.Fatal("written twice, two different files")
		}
	})
}
