// SPDX-License-Identifier: Apache-2.0

package main

import (
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/gvw-project/gvw/feature"
	"github.com/gvw-project/gvw/model"
)

func TestScores(t *testing.T) {
	spam := []bool{true, true, true, false, false}
	got := newScores(spam, []float64{2, 1, -1, -2, 1})
	// Of six pairs, four are in order and one is a tie.
	if want := 4.5 / 6; math.Abs(got.auc-want) > 1e-12 {
		t.Errorf("AUC %v, want %v", got.auc, want)
	}
	if got.errors != 2 {
		t.Errorf("%d errors, want 2", got.errors)
	}
	loss := func(p float64) float64 { return -math.Log(p) }
	sigmoid := func(m float64) float64 { return 1 / (1 + math.Exp(-m)) }
	want := (loss(sigmoid(2)) + loss(sigmoid(1)) + loss(sigmoid(-1)) + loss(1-sigmoid(-2)) + loss(1-sigmoid(1))) / 5
	if math.Abs(got.logLoss-want) > 1e-12 {
		t.Errorf("log-loss %v, want %v", got.logLoss, want)
	}
}

func TestAUCOfPerfectAndUselessScores(t *testing.T) {
	spam := []bool{false, true, false, true}
	for _, c := range []struct {
		margins []float64
		want    float64
	}{
		{[]float64{1, 3, 2, 4}, 1}, {[]float64{4, 2, 3, 1}, 0}, {[]float64{7, 7, 7, 7}, 0.5},
	} {
		if got := auc(spam, c.margins); got != c.want {
			t.Errorf("%v: %v, want %v", c.margins, got, c.want)
		}
	}
}

func TestReadMarginsNamesTheLine(t *testing.T) {
	path := filepath.Join(t.TempDir(), "p")
	if err := os.WriteFile(path, []byte("0.5 spam-1/00001\nnonsense\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := readMargins(path); err == nil || !strings.Contains(err.Error(), path+":2:") {
		t.Errorf("error %v, want one that names %s:2", err, path)
	}
}

// Words are found by the two known weights of a model.
func TestStrongestFindsWordsByTheirHash(t *testing.T) {
	dir := t.TempDir()
	train := filepath.Join(dir, "train.vw")
	line := "1 'a|s:0.5 offer |b:0.7 money the\n"
	if err := os.WriteFile(train, []byte(strings.Repeat(line, minMessages)+"1 'b|s |b rare\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	cfg := feature.Config{Bits: 10}
	weights := make([]float32, 1<<10)
	weights[cfg.Index("s", "offer")] = 3
	weights[cfg.Index("b", "money")] = 2
	weights[cfg.Index("b", "the")] = -1
	weights[cfg.Index("b", "rare")] = 100
	path := filepath.Join(dir, "model")
	f, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if err := model.Write(f, &model.Regressor{Header: model.Header{Bits: 10}, Weights: model.View{Data: weights}}); err != nil {
		t.Fatal(err)
	}
	spam, ham, err := strongest(path, train, 1)
	if err != nil {
		t.Fatal(err)
	}
	if got := strings.Join(append(spam, ham...), " "); got != "subject:offer the" {
		t.Errorf("%q, want %q", got, "subject:offer the")
	}
}
