// SPDX-License-Identifier: Apache-2.0

package model

import (
	"bytes"
	"errors"
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// ReadText reads the text of WriteExact to a model with the same bytes.
func TestExactTextRoundTrip(t *testing.T) {
	for _, resume := range []bool{false, true} {
		r := sample(resume)
		r.Weights.Data[4], r.MaxLabel = 1.0/3, 0.1
		var text bytes.Buffer
		if err := WriteExact(&text, r); err != nil {
			t.Fatal(err)
		}
		got, err := ReadText(bytes.NewReader(text.Bytes()), Limits{}, nil)
		if err != nil {
			t.Fatalf("%v in\n%s", err, text.String())
		}
		if !bytes.Equal(encoded(t, got), encoded(t, r)) {
			t.Errorf("another model was read from\n%s", text.String())
		}
	}
}

// A text that is not the whole model is not written, and one that cannot be read gets an error that names the learner.
func TestModelsThatStayBinary(t *testing.T) {
	for option, value := range map[string]string{"stage_poly": "", "marginal": "a", "log_multi": "3", "rank": "2", "boosting": "3"} {
		h := Header{Bits: 4, Options: []Option{{Name: option, Value: value}, {Name: "alg", Value: "logistic"}}}
		var text bytes.Buffer
		if err := WriteExact(&text, &Regressor{Header: h}); err == nil || text.Len() > 0 || !strings.Contains(err.Error(), option) {
			t.Errorf("--%s: got %v and %d bytes, want an error that names it", option, err, text.Len())
		}
		head := appendReadableHeader(nil, &h, appendExact)
		_, err := ReadText(bytes.NewReader(head), Limits{}, nil)
		if named := err != nil && strings.Contains(err.Error(), "the kept option "+option); named != (option != "stage_poly") {
			t.Errorf("--%s: got %v", option, err)
		}
	}
}

// Recorded: printf '1 |a x:0.5 y |b z\n-1 |a x |b w:2\n1 | plain c:sv\n' |
// vw 9.11.9 --invert_hash inverted.txt --readable_model readable.txt -q ab --ngram a2 --id "my id"
func TestTextOfVW(t *testing.T) {
	plain, err := os.ReadFile("testdata/text/readable.txt")
	if err != nil {
		t.Fatal(err)
	}
	r, err := ReadText(bytes.NewReader(plain), Limits{}, func(uint32, string) { t.Error("a readable model has no names") })
	if err != nil {
		t.Fatal(err)
	}
	if r.ID != "my id" || r.Bits != 18 || r.Resume == nil || r.Resume.T != 3 || r.Weights.Data[3*38317] != 0.171863 {
		t.Errorf("header %+v, resume %+v", r.Header, r.Resume)
	}
	var again bytes.Buffer
	if err := WriteReadable(&again, r); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(plain), again.String()); diff != "" {
		t.Errorf("(-vw's +ours)\n%s", diff)
	}

	inverted, err := os.ReadFile("testdata/text/inverted.txt")
	if err != nil {
		t.Fatal(err)
	}
	names := map[string]uint32{}
	named, err := ReadText(bytes.NewReader(inverted), Limits{}, func(i uint32, name string) { names[name] = i })
	if err != nil {
		t.Fatal(err)
	}
	if len(names) != 12 || names["a^x^y*b^z"] != 163658 || names["c^sv"] != 38317 {
		t.Errorf("names %v", names)
	}
	if !bytes.Equal(encoded(t, named), encoded(t, r)) {
		t.Error("the inverted text has another model than the readable one")
	}
}

// A text that a test has written has one number for each weight, though its header is that of a model with sums.
func TestTextOfATest(t *testing.T) {
	text, err := os.ReadFile("testdata/text/readable.txt")
	if err != nil {
		t.Fatal(err)
	}
	whole, err := ReadText(bytes.NewReader(text), Limits{}, nil)
	if err != nil {
		t.Fatal(err)
	}
	short := regexp.MustCompile(`(?m)^(\d+:\S+) \S+ \S+$`).ReplaceAll(text, []byte("$1"))
	r, err := ReadText(bytes.NewReader(short), Limits{}, nil)
	if err != nil {
		t.Fatal(err)
	}
	if r.Resume != nil || len(r.Weights.Data) != 1<<18 {
		t.Errorf("resume %+v, %d floats", r.Resume, len(r.Weights.Data))
	}
	for i, w := range r.Weights.Data {
		if w != whole.Weights.Data[3*i] {
			t.Errorf("weight %d is %v, want %v", i, w, whole.Weights.Data[3*i])
		}
	}
}

func TestTextFaults(t *testing.T) {
	var b bytes.Buffer
	if err := WriteExact(&b, sample(true)); err != nil {
		t.Fatal(err)
	}
	good := b.String()
	for name, c := range map[string]struct {
		text string
		kind error
	}{
		"empty":           {"", ErrTruncated},
		"other":           {"1 | a\n", ErrNotModel},
		"old":             {strings.Replace(good, "9.11.9", "7.10.0", 1), ErrVersion},
		"header changed":  {strings.Replace(good, "Max label:1", "Max label:2", 1), ErrDamaged},
		"cut":             {good[:len(good)-1], ErrTruncated},
		"cut head":        {good[:60], ErrTruncated},
		"bits":            {strings.Replace(good, "bits:3", "bits:33", 1), ErrDamaged},
		"over the limit":  {strings.Replace(good, "bits:3", "bits:30", 1), ErrLimit},
		"index":           {good + "8:1 1 1\n", ErrDamaged},
		"no weight":       {good + "7\n", ErrDamaged},
		"few numbers":     {good + "7:1\n", ErrDamaged},
		"no number":       {good + "7:1 1 x\n", ErrDamaged},
		"resume flag":     {strings.Replace(good, "\n:1\n", "\n:2\n", 1), ErrDamaged},
		"endless line":    {good + strings.Repeat("x", maxLine+1), ErrLimit},
		"count of ngrams": {strings.Replace(good, "1 ngram:", "2 ngram:", 1), ErrDamaged},
	} {
		_, err := ReadText(strings.NewReader(c.text), Limits{Bits: 20}, nil)
		if !errors.Is(err, c.kind) {
			t.Errorf("%s: %v, want %v", name, err, c.kind)
		}
	}
}

// FuzzReadText reads arbitrary bytes. An accepted model can be written and read again as the
// same model.
func FuzzReadText(f *testing.F) {
	for _, resume := range []bool{false, true} {
		var b bytes.Buffer
		if err := WriteExact(&b, sample(resume)); err != nil {
			f.Fatal(err)
		}
		f.Add(b.Bytes())
	}
	limits := Limits{Bits: 12}
	f.Fuzz(func(t *testing.T, file []byte) {
		r, err := ReadText(bytes.NewReader(file), limits, func(uint32, string) {})
		if err != nil {
			return
		}
		var b bytes.Buffer
		if err := WriteExact(&b, r); err != nil {
			return // texts may have contents that Write refuses
		}
		again, err := ReadText(bytes.NewReader(b.Bytes()), limits, nil)
		if err != nil {
			t.Fatalf("written by us, not readable by us: %v\n%s", err, b.String())
		}
		if !bytes.Equal(encoded(t, r), encoded(t, again)) {
			t.Fatal("written and read, another model")
		}
	})
}
