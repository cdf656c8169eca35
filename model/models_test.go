// SPDX-License-Identifier: Apache-2.0

package model

import (
	"bytes"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// The sums of several models in a file are read in the order of vw's text.
func TestSumsOfSeveralModels(t *testing.T) {
	r := sample(true)
	r.Options = append(r.Options, Option{"oaa", "3"}, Option{"per_model_save_load", ""})
	r.Resume.Models = []ModelSums{{1.5, 2}, {3, 4}, {5, 6.25}}
	got, err := Read(bytes.NewReader(encoded(t, r)), Limits{})
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(r.Resume.Models, got.Resume.Models); diff != "" {
		t.Error(diff)
	}
	if got.Resume.CurrentPass != r.Resume.CurrentPass || got.Resume.T != r.Resume.T {
		t.Errorf("the fields around them: %+v", got.Resume)
	}
	var text bytes.Buffer
	if err := WriteReadable(&text, r); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"norm normalizer_0 1.5\nnorm normalizer_1 3\nnorm normalizer_2 5\nt ", "total_weight_2 6.25\nsd::oec"} {
		if !strings.Contains(text.String(), want) {
			t.Errorf("no %q in\n%s", want, text.String())
		}
	}
	r.Resume.Models = r.Resume.Models[:2]
	if err := Write(&text, r); err == nil || !strings.Contains(err.Error(), "sums of 2 models, but the kept options ask for 3") {
		t.Errorf("got %v", err)
	}
}
