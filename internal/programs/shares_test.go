// SPDX-License-Identifier: Apache-2.0

package programs

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/gvw-project/gvw/feature"
	"github.com/gvw-project/gvw/malt"
)

// surveyed returns the shares of a rank after its survey, and the numbers of the examples that it has seen.
func surveyed(t *testing.T, name string, rank, total, most int) (s *shares, seen []int, sample []example) {
	t.Helper()
	data, err := malt.LoadData(t.Context(), malt.DataConfig{Names: []string{name}, Rank: rank, Of: total, Seed: 5})
	if err != nil {
		t.Fatal(err)
	}
	s = &shares{data: data, format: format(feature.Config{Bits: 18}, false)}
	sample, err = s.survey(t.Context(), rank, total, 5, most, func(ex example) error {
		seen = append(seen, ex.number)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return s, seen, sample
}

// numbers returns the numbers of examples in the input, sorted.
func numbers(examples []example) (out []int) {
	for _, ex := range examples {
		out = append(out, ex.number)
	}
	slices.Sort(out)
	return out
}

// size returns the number of features for which examples have room in memory.
func size(examples []example) (n int) {
	batches := map[*feature.Batch]bool{}
	for _, ex := range examples {
		if !batches[ex.Batch] {
			batches[ex.Batch] = true
			n += cap(ex.Batch.Features)
		}
	}
	return n
}

func TestARankKeepsOnlyItsShare(t *testing.T) {
	const total, lines, width = 4, 3000, 20
	var text []string
	var labelled []int
	for i := range lines {
		label := "1"
		if i%10 == 3 {
			label = ""
		} else {
			labelled = append(labelled, i+1)
		}
		words := strings.Builder{}
		for j := range width - 1 {
			fmt.Fprintf(&words, " w%d:%d", j, i+1)
		}
		text = append(text, label+" |"+words.String())
	}
	name := written(t, text...)
	var all, sampled []int
	for rank := range total {
		s, seen, sample := surveyed(t, name, rank, total, 100)
		if !slices.Equal(seen, labelled) {
			t.Errorf("rank %d has seen %d examples, want all %d", rank, len(seen), len(labelled))
		}
		mine := s.mine()
		if n := len(mine); n != s.counts[rank] || n > lines/total {
			t.Errorf("rank %d keeps %d examples, counted %d, want at most %d", rank, n, s.counts[rank], lines/total)
		}
		if n := size(mine); n > len(mine)*width*11/10 {
			t.Errorf("rank %d has room for %d features, want about %d", rank, n, len(mine)*width)
		}
		for _, ex := range mine {
			if x := ex.features(); len(x) != width || x[0].Value != float32(ex.number) {
				t.Fatalf("example %d has the features %v", ex.number, x)
			}
		}
		all = append(all, numbers(mine)...)
		if got := numbers(sample); len(slices.Compact(got)) != 100 || rank > 0 && !slices.Equal(got, sampled) {
			t.Errorf("rank %d has another sample of %d examples", rank, len(got))
		}
		sampled = numbers(sample)
	}
	slices.Sort(all)
	if !slices.Equal(all, labelled) {
		t.Errorf("all ranks keep %d examples, want each of %d once", len(all), len(labelled))
	}
}

// A rank reads the shares that it has taken over, and frees those that it has no more.
func TestSharesAreTakenOver(t *testing.T) {
	var text []string
	for i := range 100 {
		text = append(text, fmt.Sprintf("1 | x:%d", i+1))
	}
	name := written(t, text...)
	var want []int
	for rank := range 3 {
		s, _, _ := surveyed(t, name, rank, 3, 1)
		want = append(want, numbers(s.mine())...)
	}
	slices.Sort(want)
	s, _, _ := surveyed(t, name, 2, 3, 1)
	own := numbers(s.mine())
	for _, c := range []struct{ shares, read []int }{
		{[]int{2}, nil},
		{[]int{1, 2}, []int{1}},
		{[]int{0, 1, 2}, []int{0}},
		{[]int{2}, nil},
		{[]int{0, 1, 2}, []int{0, 1}},
	} {
		read, err := s.own(t.Context(), c.shares)
		if err != nil || !slices.Equal(read, c.read) {
			t.Errorf("shares %v: read %v and %v, want %v", c.shares, read, err, c.read)
		}
		if got := numbers(s.mine()); len(c.shares) == 1 && !slices.Equal(got, own) || len(c.shares) == 3 && !slices.Equal(got, want) {
			t.Errorf("shares %v: got the examples %v", c.shares, got)
		}
	}
}
