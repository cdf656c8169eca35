// SPDX-License-Identifier: Apache-2.0

package model

import (
	"bytes"
	"errors"
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

// The golden models of testdata/models have the numbers of the real vw. A number that is out of range, and
// a learner whose number is not known, are refused: the fields after the sums would be misread.
func TestNumberOfModels(t *testing.T) {
	for options, want := range map[string]int{
		"": 1, "--sgd": 1, "--oaa 3": 3, "--csoaa 3": 3, "--multilabel_oaa 3": 3, "--bootstrap 3": 3, "--boosting 3": 3,
		"--nn 2": 3, "--new_mf 2": 5, "--log_multi 2": 1, "--log_multi 4": 3,
		"--ect 1 --error 3": 1, "--ect 2": 1, "--ect 4 --error 0": 3, "--ect 4 --error 1": 7, "--ect 9 --error 3": 35,
		"--lrq ab2 --lrq ba3": 4, "--lrqfa ab2": 5, "--lrqfa abc2": 7,
		"--ftrl": 0, "--pistol --oaa 3": 0, "--coin": 0, "--freegrad --oaa 3": 0, "--svrg": 0,
		"--bootstrap 2 --nn 2": 6, "--lrq ab2 --nn 2": 9, "--stage_poly": 1,
		"--oaa 0": -1, "--ect 4 --error x": -1, "--lrq a": -1, "--lrq ab": -1, "--lrqfa ab": -1, "--nn 1048576": -1,
		"--oaa 1048576 --bootstrap 2": -1, "--cb_explore 4": -1, "--plt 3": -1,
	} {
		var h Header
		var err error
		if h.Options, err = ParseOptions(options); err != nil {
			t.Fatal(err)
		}
		if got, err := h.readModels(0); (err != nil) != (want < 0) || err == nil && got != want {
			t.Errorf("%q: got %d, %v, want %d", options, got, err, want)
		}
	}
	var h Header
	h.Options = []Option{{"recall_tree", "4"}}
	if _, err := h.readModels(9); !errors.Is(err, ErrVersion) || !strings.Contains(err.Error(), "--recall_tree") {
		t.Errorf("got %v, want an error of the learner", err)
	}
}
