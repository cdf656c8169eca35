// SPDX-License-Identifier: Apache-2.0

package model

import (
	"bytes"
	"encoding/binary"
	"errors"
	"io"
	"strings"
	"testing"
	"testing/iotest"
)

// sample returns a small model with every field of a header.
func sample(resume bool) *Regressor {
	r := &Regressor{
		Header: Header{
			ID: "id", MinLabel: -1, MaxLabel: 1, Bits: 3, NGrams: []string{"a2"}, Skips: []string{"1"},
			Options: []Option{{"link", "logistic"}, {"noconstant", ""}, {"quadratic", "ab"}},
		},
		Weights: View{Data: make([]float32, 24), Stride: 3, Slots: []int{0, 1, 2}},
	}
	for _, i := range []int{0, 3, 4, 5, 22} {
		r.Weights.Data[i] = float32(i) + 0.5
	}
	if resume {
		r.Resume = &Resume{T: 5, TotalWeight: 5, Contraction: 1}
	}
	return r
}

func encoded(t testing.TB, r *Regressor) []byte {
	t.Helper()
	var b bytes.Buffer
	if err := Write(&b, r); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// TestTruncatedAnywhere truncates a file at every byte. Only a cut between two weights cannot
// be detected.
func TestTruncatedAnywhere(t *testing.T) {
	for _, resume := range []bool{false, true} {
		b := encoded(t, sample(resume))
		head, _ := NewDecoder(bytes.NewReader(b), Limits{})
		body, size := int(head.offset), 4+4*head.Floats
		for n := range b {
			_, err := Read(bytes.NewReader(b[:n]), Limits{})
			if n >= body && (n-body)%size == 0 {
				if err != nil {
					t.Errorf("cut at %d between weights: %v", n, err)
				}
				continue
			}
			if !errors.Is(err, ErrTruncated) && !(n < 11 && errors.Is(err, ErrNotModel)) {
				t.Errorf("cut at %d of %d: got %v", n, len(b), err)
			}
		}
	}
}

// TestFlippedHeader flips every bit of the header in turn: the checksum or an earlier check
// detects it.
func TestFlippedHeader(t *testing.T) {
	b := encoded(t, sample(false))
	d, _ := NewDecoder(bytes.NewReader(b), Limits{})
	for i := 4 + len(Version) + 1; i < int(d.offset)-1; i++ {
		for bit := range 8 {
			bad := bytes.Clone(b)
			bad[i] ^= 1 << bit
			if _, err := NewDecoder(bytes.NewReader(bad), Limits{}); err == nil {
				t.Errorf("bit %d of byte %d flipped: nothing noticed", bit, i)
			}
		}
	}
}

func TestReadFaults(t *testing.T) {
	good := encoded(t, sample(true))
	at := func(offset int, p ...byte) []byte {
		b := bytes.Clone(good)
		copy(b[offset:], p)
		return b
	}
	old := func(version, rest string) []byte { return append(appendText(nil, version), rest...) }
	flag := int(bytes.Index(good, []byte("ab\x00\x04"))) + 3 + 8
	for _, tc := range []struct {
		name string
		file []byte
		kind error
		want string
	}{
		{"empty", nil, ErrNotModel, "does not begin with the version"},
		{"text", []byte("1 |a b c\n"), ErrNotModel, "is it a data file, a cache, or compressed?"},
		{"gzip", []byte("\x1f\x8b\x08\x00\x00\x00\x00\x00"), ErrNotModel, "compressed"},
		{"a version that is none", old("9.eleven", "m"), ErrNotModel, "byte 0"},
		{"a cache", old("9.11.9", "\x01\x00\x00\x00\x00c"), ErrNotModel, "got 'c', want 'm'"},
		{"version too old", old("7.5.0", "m"), ErrVersion, "written by vw 7.5.0"},
		{"version between", old("7.10.3", "m"), ErrVersion, "known are"},
		{"version too new", old("10.0.0", "m"), ErrVersion, "8.0.3 to 9.x"},
		{"a huge id", old("9.11.9", "\xff\xff\xff\x7f"), ErrLimit, "id at byte 11"},
		{"an empty id text", old("9.11.9", "\x00\x00\x00\x00"), ErrLimit, "want 1 to"},
		{"an id without NUL", old("9.11.9", "\x01\x00\x00\x00x"), ErrDamaged, "no NUL"},
		{"no bits", old("7.10.0", "m12345678\x00\x00\x00\x00"), ErrDamaged, "bits at byte 20"},
		{"too many pairs", old("7.10.0", "m12345678\x02\x00\x00\x00\xff\xff\x00\x00"), ErrLimit, "pairs at byte 24: over the limit: 65535 entries, at most 4096"},
		{"options without a name", old("7.10.0", "m12345678\x02"+strings.Repeat("\x00", 23)+"\x03\x00\x00\x00ab\x00"), ErrDamaged, `options begin with "ab"`},
		{"checksum's length", at(flag-8, 5), ErrDamaged, "its length is 5, want 4"},
		{"checksum", at(flag-4, 1, 2, 3, 4), ErrDamaged, "the file says 04030201"},
		{"resume flag", at(flag, 2), ErrDamaged, "2, want 0 or 1"},
		{"resume flag on a file without", at(flag, 0), ErrDamaged, "has index"},
		{"index", at(len(good)-16, 8), ErrDamaged, "has index 8, but the model has 2^3 weights"},
		{"trailing bytes", append(bytes.Clone(good), 1, 2, 3), ErrTruncated, "3 bytes follow 3 weights of 16 bytes"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			_, err := Read(bytes.NewReader(tc.file), Limits{})
			if !errors.Is(err, tc.kind) || !strings.Contains(err.Error(), tc.want) {
				t.Errorf("got %v, want %v with %q", err, tc.kind, tc.want)
			}
			var fe *FormatError
			if !errors.As(err, &fe) || fe.Field == "" {
				t.Errorf("%v names no field", err)
			}
		})
	}
}

func TestReaderErrorsPassThrough(t *testing.T) {
	good := encoded(t, sample(true))
	for n := range good {
		r := io.MultiReader(bytes.NewReader(good[:n]), iotest.ErrReader(errors.ErrUnsupported))
		if _, err := Read(r, Limits{}); !errors.Is(err, errors.ErrUnsupported) {
			t.Fatalf("failing after %d bytes: got %v", n, err)
		}
	}
	// Slow readers give the same model.
	if _, err := Read(iotest.OneByteReader(bytes.NewReader(good)), Limits{}); err != nil {
		t.Error(err)
	}
}

func TestLimitBits(t *testing.T) {
	b := encoded(t, sample(false))
	if _, err := Read(bytes.NewReader(b), Limits{Bits: 2}); !errors.Is(err, ErrLimit) || !strings.Contains(err.Error(), "2^3 weights, at most 2^2") {
		t.Errorf("got %v", err)
	}
	if err := (&Header{Bits: 18}).CheckBits(20); err == nil || !strings.Contains(err.Error(), "trained with 18 bits, but 20 were given") {
		t.Errorf("got %v", err)
	}
	if err := (&Header{Bits: 18}).CheckBits(18); err != nil {
		t.Error(err)
	}
}

func TestUnreadResume(t *testing.T) {
	for _, k := range []string{"many", "0", "99999999"} {
		head := appendHeader(nil, &Header{Bits: 3, Options: []Option{{"oaa", k}, {"per_model_save_load", ""}}})
		if _, err := NewDecoder(bytes.NewReader(append(head, 1)), Limits{}); !errors.Is(err, ErrDamaged) || !strings.Contains(err.Error(), "--per_model_save_load") {
			t.Errorf("sums of %s models: got %v", k, err)
		}
	}
}

// TestWriteRefuses: a model that would give an unreadable file is refused before the first
// byte.
func TestWriteRefuses(t *testing.T) {
	for want, spoil := range map[string]func(*Regressor){
		"0 bits, want 1 to 32":               func(r *Regressor) { r.Bits = 0 },
		"does not hold 2^4 weights":          func(r *Regressor) { r.Bits = 4 },
		"slot 3 lies outside the stride":     func(r *Regressor) { r.Weights.Slots = []int{0, 1, 3} },
		"0 slots per weight":                 func(r *Regressor) { r.Weights.Slots = []int{} },
		"the kept options ask for 3":         func(r *Regressor) { r.Weights.Slots = []int{0} },
		"the kept options ask for 1":         func(r *Regressor) { r.Options = append(r.Options, Option{"sgd", ""}) },
		"vw refuses a model of --bfgs":       func(r *Regressor) { r.Options = append(r.Options, Option{"bfgs", ""}) },
		"want less than 65536 bytes, no NUL": func(r *Regressor) { r.ID = "a\nb" },
		`n-gram or skip "a22"`:               func(r *Regressor) { r.NGrams[0] = "a22" },
		`option --link "a b"`:                func(r *Regressor) { r.Options[0].Value = "a b" },
		`option -- ""`:                       func(r *Regressor) { r.Options[1].Name = "" },
		"bytes of options, at most 65535":    func(r *Regressor) { r.Options[0].Value = strings.Repeat("x", 1<<16) },
	} {
		r := sample(true)
		spoil(r)
		var b bytes.Buffer
		if err := Write(&b, r); err == nil || !strings.Contains(err.Error(), want) || b.Len() > 0 {
			t.Errorf("got %v and %d bytes, want an error with %q and none", err, b.Len(), want)
		}
		if err := WriteReadable(&b, r); err == nil || b.Len() > 0 {
			t.Errorf("readable: got %v and %d bytes", err, b.Len())
		}
	}
}

// failWriter fails after n bytes.
type failWriter struct{ n int }

func (w *failWriter) Write(p []byte) (int, error) {
	if w.n -= len(p); w.n < 0 {
		return 0, io.ErrShortWrite
	}
	return len(p), nil
}

func TestWriteErrors(t *testing.T) {
	r := &Regressor{Header: Header{Bits: 15}, Weights: View{Data: make([]float32, 1<<15)}}
	for i := range r.Weights.Data {
		r.Weights.Data[i] = 1
	}
	total := len(encoded(t, r))
	readableTotal := len(readable(t, r))
	for _, n := range []int{0, 1 << 16, total - 1} {
		if err := Write(&failWriter{n}, r); !errors.Is(err, io.ErrShortWrite) {
			t.Errorf("a writer that takes %d of %d bytes: got %v", n, total, err)
		}
	}
	for _, n := range []int{0, 1 << 16, readableTotal - 1} {
		if err := WriteReadable(&failWriter{n}, r); !errors.Is(err, io.ErrShortWrite) {
			t.Errorf("a writer that takes %d of %d readable bytes: got %v", n, readableTotal, err)
		}
	}
	if _, err := WriteDigest(&failWriter{0}, r); err == nil {
		t.Error("a digest of a file that was not written")
	}
}

// TestWideIndices: from 31 bits on an index has 8 bytes. A table of 2^31 weights would need 8
// GiB, so the test checks only the record.
func TestWideIndices(t *testing.T) {
	if got := appendIndex(nil, 7, 30); len(got) != 4 {
		t.Errorf("30 bits: %d bytes", len(got))
	}
	if got := appendIndex(nil, 1<<31, 32); len(got) != 8 || binary.LittleEndian.Uint64(got) != 1<<31 {
		t.Errorf("32 bits: % x", got)
	}
}
