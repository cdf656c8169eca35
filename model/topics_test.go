// SPDX-License-Identifier: Apache-2.0

package model

import (
	"bytes"
	"errors"
	"io"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

// The file is of vw 9.11.9, as is its text; start.lda was made by hand, so that each topic has a theme:
//
//	vw -i start.lda -d train.vw --minibatch 40 --lda_D 240 --initial_t 10 -f themes.lda --readable_model themes.txt
//	vw -t -i themes.lda -d themes.vw -p themes.gamma --math-mode 1 --minibatch 24
func TestTopicModelOfVW(t *testing.T) {
	file := readFile(t, "testdata/lda/themes.lda")
	m, err := ReadTopics(bytes.NewReader(file), Limits{})
	if err != nil {
		t.Fatal(err)
	}
	if m.LDA != 3 || m.Bits != 7 || m.ID != "themes" || m.Alpha() != float64(float32(0.2)) || m.Eta() != float64(float32(0.1)) {
		t.Errorf("got %+v, alpha %v, eta %v", m.Header, m.Alpha(), m.Eta())
	}
	var again, text bytes.Buffer
	if err := errors.Join(WriteTopics(&again, m), WriteTopicsReadable(&text, m)); err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(file, again.Bytes()) {
		t.Error("the model that was read is written with other bytes")
	}
	if diff := cmp.Diff(string(readFile(t, "testdata/lda/themes.txt")), text.String()); diff != "" {
		t.Errorf("the readable model differs from vw's:\n%s", diff)
	}
	if _, err := Read(bytes.NewReader(file), Limits{}); !errors.Is(err, ErrNotModel) || !strings.Contains(err.Error(), "3 topics") {
		t.Errorf("Read of a topic model: got %v, want ErrNotModel and the number of topics", err)
	}
}

func TestTopicsRoundTrip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		m := &Topics{Header: Header{Bits: uint(rapid.IntRange(1, 6).Draw(t, "bits")), LDA: rapid.Uint32Range(1, 9).Draw(t, "lda")}}
		m.Weights = rapid.SliceOfN(rapid.Float32(), int(m.LDA)<<m.Bits, int(m.LDA)<<m.Bits).Draw(t, "weights")
		var b bytes.Buffer
		if err := WriteTopics(&b, m); err != nil {
			t.Fatal(err)
		}
		file := b.Bytes()
		got, err := ReadTopics(bytes.NewReader(file), Limits{})
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(m.Weights, got.Weights); diff != "" {
			t.Fatal(diff)
		}
		cut := rapid.IntRange(1, 7).Draw(t, "cut")
		if _, err := ReadTopics(bytes.NewReader(file[:len(file)-cut]), Limits{}); !errors.Is(err, ErrTruncated) {
			t.Fatalf("without the last %d bytes: got %v, want ErrTruncated", cut, err)
		}
	})
}

func TestTopicsRefuses(t *testing.T) {
	good := func() *Topics { return &Topics{Header: Header{Bits: 2, LDA: 3}, Weights: make([]float32, 12)} }
	for name, change := range map[string]func(*Topics){
		"no topics":     func(m *Topics) { m.LDA = 0 },
		"other weights": func(m *Topics) { m.Weights = m.Weights[1:] },
		"no bits":       func(m *Topics) { m.Bits = 0 },
	} {
		m := good()
		change(m)
		if err := WriteTopics(io.Discard, m); err == nil {
			t.Errorf("%s: written", name)
		}
	}
	var b bytes.Buffer
	if err := WriteTopics(&b, good()); err != nil {
		t.Fatal(err)
	}
	file := b.Bytes()
	bad := bytes.Clone(file)
	bad[len(bad)-20] = 4 // the index of the last word
	if _, err := ReadTopics(bytes.NewReader(bad), Limits{}); !errors.Is(err, ErrDamaged) {
		t.Errorf("an index beyond the words: got %v, want ErrDamaged", err)
	}
	huge := appendHeader(nil, &Header{Bits: 20, LDA: maxTopics})
	if _, err := ReadTopics(bytes.NewReader(huge), Limits{Bits: 20}); !errors.Is(err, ErrLimit) {
		t.Errorf("2^36 numbers: got %v, want ErrLimit", err)
	}
	var weights bytes.Buffer
	if err := Write(&weights, sample(false)); err != nil {
		t.Fatal(err)
	}
	if _, err := ReadTopics(&weights, Limits{}); !errors.Is(err, ErrNotModel) {
		t.Errorf("a model of weights: got %v, want ErrNotModel", err)
	}
}

// FuzzReadTopics reads arbitrary bytes. An accepted model is written and read as the same model.
func FuzzReadTopics(f *testing.F) {
	f.Add(readFile(f, "testdata/lda/themes.lda"))
	f.Fuzz(func(t *testing.T, file []byte) {
		m, err := ReadTopics(bytes.NewReader(file), Limits{Bits: 12})
		if err != nil {
			return
		}
		var b bytes.Buffer
		if err := WriteTopics(&b, m); err != nil {
			return // as in FuzzRead
		}
		again, err := ReadTopics(bytes.NewReader(b.Bytes()), Limits{Bits: 12})
		if err != nil {
			t.Fatalf("written by us, not readable by us: %v", err)
		}
		for i, v := range m.Weights {
			if math.Float32bits(v) != math.Float32bits(again.Weights[i]) {
				t.Fatalf("number %d: got %v, want %v", i, again.Weights[i], v)
			}
		}
	})
}

func TestLearnedPriors(t *testing.T) {
	h := Header{LDA: 3, Options: []Option{{Name: "lda_alpha", Value: "0.5"}, {Name: "lda_rho", Value: "0.2"}}}
	same, err := h.Alphas()
	if err != nil || h.LearnsAlpha() || !slices.Equal(same, []float64{0.5, 0.5, 0.5}) {
		t.Errorf("got %v, %v, want 0.5 for each topic, not learned", same, err)
	}
	want := []float64{0.25, 1.5, 0.5}
	h.SetAlphas([]float64{9, 9, 9})
	h.SetAlphas(want)
	got, err := h.Alphas()
	if err != nil || !h.LearnsAlpha() || !slices.Equal(got, want) || h.Alpha() != 0.75 || h.Eta() != float64(float32(0.2)) || len(h.Options) != 3 {
		t.Errorf("got %v, %v of %+v, want %v with the mean 0.75", got, err, h, want)
	}
	for _, bad := range []string{"1,2", "1,2,3,4", "1,0,2", "1,-1,2", "1,x,2", "1,,2", "1,NaN,2", "1,Inf,2"} {
		h.Options = []Option{{Name: "lda_alphas", Value: bad}}
		if got, err := h.Alphas(); err == nil {
			t.Errorf("priors %q: got %v, want an error", bad, got)
		}
	}
}
