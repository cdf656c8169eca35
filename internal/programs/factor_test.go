// SPDX-License-Identifier: Apache-2.0

package programs

import (
	"bytes"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// ratings returns the lines of ratings 5 and 1 of users who like even or odd items.
func ratings() (lines []string) {
	for user := range 20 {
		for item := range 10 {
			x := 1
			if user%2 == item%2 {
				x = 5
			}
			lines = append(lines, fmt.Sprintf("%d |u %d |i %d", x, user, item))
		}
	}
	return lines
}

func TestFactorIsDeterministicAndContinuesWithNewUsers(t *testing.T) {
	lines := ratings()
	half, all := written(t, lines[:100]...), written(t, lines...)
	model := filepath.Join(t.TempDir(), "m")
	common := []string{"-l", "0.05", "--lambda", "0.01", "--passes", "50", "--random_seed", "3", "-f"}
	succeed(t, append([]string{"factor", "-d", half}, append(common, model)...)...)
	succeed(t, append([]string{"factor", "-d", half}, append(common, model+"2")...)...)
	if !bytes.Equal(read(t, model), read(t, model+"2")) {
		t.Error("the same seed gave different models")
	}
	succeed(t, append([]string{"factor", "-d", all, "-i", model}, append(common, model+"3")...)...)
	if got := measured(t, "rmse", "factor", model+"3", all); got > 0.5 {
		t.Errorf("RMSE after training with new users: got %v, want 0.5", got)
	}
	if got := measured(t, "rmse", "factor", model, all); got < 1 {
		t.Errorf("RMSE with unknown users: got %v, want more than 1", got)
	}
}

// New users who rate new items differ in factors only: the mean of all ratings of each user and each item is the same.
func TestFactorLearnsNewUsersOfNewItems(t *testing.T) {
	old := ratings()
	more := slices.Clone(old)
	for i, line := range old {
		more[i] = strings.NewReplacer("|u ", "|u new", "|i ", "|i new").Replace(line)
	}
	model := filepath.Join(t.TempDir(), "m")
	succeed(t, "factor", "-d", written(t, old...), "-f", model, "-l", "0.05", "--lambda", "0.01", "--passes", "20")
	data := written(t, more...)
	run := func(total int) []byte {
		args := []string{"factor", "-d", data, "-i", model, "-f", model + "2", "--passes", "50"}
		if total == 1 {
			succeed(t, args...)
		} else {
			parallel(t, total, append(args, "--malt", "all", "--sync", "bsp", "--cb_size", "10")...)
		}
		if got := measured(t, "rmse", "factor", model+"2", data); got > 0.5 {
			t.Errorf("RMSE on new users and items, %d ranks: got %v, want 0.5", total, got)
		}
		return read(t, model+"2")
	}
	if !bytes.Equal(run(1), run(1)) {
		t.Error("the same seed gave different models")
	}
	run(3)
}

// The prediction for a pair with several ratings is their weighted mean.
func TestFactorWeighsRatings(t *testing.T) {
	model := filepath.Join(t.TempDir(), "m")
	var scores [2]float64
	for i, weights := range [][2]int{{1, 9}, {9, 1}} {
		data := written(t, fmt.Sprintf("5 %d |u a |i b", weights[0]), fmt.Sprintf("1 %d |u a |i b", weights[1]))
		succeed(t, "factor", "-d", data, "-f", model, "--lambda", "0.001", "--passes", "100")
		succeed(t, "factor", "-t", "-i", model, "-d", data, "-p", model+".p")
		if _, err := fmt.Sscan(string(read(t, model+".p")), &scores[i]); err != nil {
			t.Fatal(err)
		}
	}
	if math.Abs(scores[0]-1.4) > 0.3 || math.Abs(scores[1]-4.6) > 0.3 {
		t.Errorf("predictions: got %v, want about 1.4 and 4.6", scores)
	}
}

// The mean is that of ratings with a finite weight above 0.
func TestFactorMeanOfOtherWeights(t *testing.T) {
	for _, c := range []struct {
		ratings []string
		want    float64 // prediction for a new user and a new item
	}{
		{[]string{"5 inf |u 1 |i 2", "2 |u 2 |i 3", "4 -3 |u 2 |i 2", "5 nan |u 2 |i 2"}, 2},
		{[]string{"5 inf |u 1 |i 2", "4 inf |u 2 |i 2"}, 4}, // no mean, so 0, within the limits of the labels
	} {
		model := filepath.Join(t.TempDir(), "m")
		succeed(t, "factor", "-d", written(t, c.ratings...), "-f", model, "-l", "1e-9")
		predictions := filepath.Join(t.TempDir(), "p")
		succeed(t, "factor", "-t", "-i", model, "-d", written(t, "1 |u 8 |i 9"), "-p", predictions)
		text, err := os.ReadFile(predictions)
		if err != nil {
			t.Fatal(err)
		}
		if got, err := strconv.ParseFloat(strings.TrimSpace(string(text)), 64); err != nil || math.Abs(got-c.want) > 1e-3 {
			t.Errorf("%q: got %q, want %v", c.ratings, text, c.want)
		}
	}
}

func TestFactorOnSeveralRanks(t *testing.T) {
	data := written(t, ratings()...)
	model := filepath.Join(t.TempDir(), "m")
	for _, how := range []string{
		"--malt all --sync bsp", "--malt all --sync bsp --malt_compress f16", "--malt ring --sync notify_ack", "--malt halton --sync ssp:1",
	} {
		parallel(t, 3, append([]string{
			"factor", "-d", data, "-f", model, "-l", "0.05", "--lambda", "0.01", "--passes", "60", "--cb_size", "20",
		}, strings.Fields(how)...)...)
		if got := measured(t, "rmse", "factor", model, data); got > 0.7 {
			t.Errorf("RMSE of 3 ranks, %s: got %v, want 0.7", how, got)
		}
	}
}

func TestFactorRefusesExamplesWithoutUserAndItem(t *testing.T) {
	data := written(t, "5 |u 1 |i 2", "4 |u 1")
	if _, err := execute(t.Context(), "factor", "-d", data); err == nil || !strings.Contains(err.Error(), "example 2 of the input has 1 features, want two") {
		t.Errorf("got %v, want an error about the features", err)
	}
}

// libmf has 4.3357 with biases, and 4.0775 with factors.
func TestFactorOnJokes(t *testing.T) {
	train, test := dataSet(t, "jester")
	model := filepath.Join(t.TempDir(), "m")
	passes := "2" // of 15, which give 4.055
	succeed(t, "factor", "-d", train, "-f", model, "-l", "0.01", "--rate_decay", "0.1", "--lambda", "0.2", "--passes", passes)
	if got := measured(t, "rmse", "factor", model, test); got > 4.30 {
		t.Errorf("RMSE after %s passes: got %v, want 4.30", passes, got)
	}
}
