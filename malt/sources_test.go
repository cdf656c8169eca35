// SPDX-License-Identifier: Apache-2.0

package malt

import (
	"bytes"
	"context"
	"fmt"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/gvw-project/gvw/internal/members"
	"github.com/gvw-project/gvw/malt/graph"
)

// TestNeighbours lists the sources that rank 0 names for each new rank.
func TestNeighbours(t *testing.T) {
	get := func(name string, n int) *graph.Graph {
		g, err := graph.New(name, n)
		if err != nil {
			t.Fatal(err)
		}
		return g
	}
	ring, all, star := get("ring", 6), get("all", 6), get("star", 6)
	for _, test := range []struct {
		name   string
		graphs []*graph.Graph
		live   members.Set
		to     int
		want   []int
	}{
		{"a neighbour itself", []*graph.Graph{ring}, members.All(6), 1, nil},
		{"two neighbours", []*graph.Graph{ring}, members.All(6), 3, []int{2, 4}},
		{"all are", []*graph.Graph{all}, members.All(6), 3, nil},
		{"most graphs first", []*graph.Graph{all, ring, star}, members.All(6), 5, nil},
		{"rank 0 in one of two", []*graph.Graph{ring, all}, members.All(6), 2, []int{1, 3}},
		{"the ring without ranks 2 and 3", []*graph.Graph{ring}, members.Set{0, 1, 4, 5}, 4, []int{1, 5}},
		{"no member", []*graph.Graph{ring}, members.Set{0, 1, 4, 5}, 3, nil},
		{"no vectors yet", nil, members.All(6), 3, nil},
	} {
		if diff := cmp.Diff(test.want, neighbours(test.graphs, test.live, 6, 0, test.to)); diff != "" {
			t.Errorf("%s: -want +got:\n%s", test.name, diff)
		}
	}
}

// TestSourcesRead draws answers: those of this package are read, and any other bytes give ranks that are members or
// an error.
func TestSourcesRead(t *testing.T) {
	live := members.Set{0, 2, 3, 5, 7, 8, 9, 11, 12}
	rapid.Check(t, func(t *rapid.T) {
		want := rapid.SliceOfNDistinct(rapid.SampledFrom(live[1:]), 1, maxSources, rapid.ID).Draw(t, "ranks")
		b := appendSources(nil, want)
		got, err := readSources(bytes.NewReader(b[1:]), live, 0)
		if err != nil || !cmp.Equal(got, want) {
			t.Fatalf("got %v and %v, want %v", got, err, want)
		}
		b[rapid.IntRange(1, len(b)-1).Draw(t, "at")] = rapid.Byte().Draw(t, "byte")
		got, err = readSources(bytes.NewReader(b[1:]), live, 0)
		for _, rank := range got {
			if err == nil && (rank == 0 || live.Position(rank) < 0) {
				t.Fatalf("got rank %d, which is no other member", rank)
			}
		}
	})
}

// TestValuesOfANeighbour loses ranks of a ring of six and starts them again. Each begins with the values of a
// neighbour, or with those of rank 0 if both neighbours have none.
func TestValuesOfANeighbour(t *testing.T) {
	for _, test := range []struct {
		lost []int
		want map[int][]float32 // origins of the values, by lost rank
	}{
		// Rank 2 is asked first, and rank 4 if that transfer fails.
		{[]int{3}, map[int][]float32{3: {2, 4}}},
		// Each may have values before the others do, and pass them on.
		{[]int{2, 3, 4}, map[int][]float32{2: {0, 1, 5}, 3: {0, 1, 5}, 4: {0, 1, 5}}},
	} {
		bubble(t, fmt.Sprint(test.lost), func(t *testing.T) {
			c := newCluster(t, 6, Config{OnLoss: Wait})
			var trained, gone sync.WaitGroup
			trained.Add(len(test.lost))
			gone.Add(len(test.lost))
			c.must(func(g *Group) error {
				ctx := context.Background()
				create := func(g *Group) (*Vector[float32], error) {
					return NewVector[float32](g, "v", 2, VectorConfig{ObjectConfig: ObjectConfig{Graph: "ring"}})
				}
				v, err := create(g)
				if err != nil {
					return err
				}
				v.Values()[0] = float32(g.Rank())
				train := func(rounds int) error {
					for range rounds {
						if err := v.Scatter(ctx); err != nil {
							return err
						}
						time.Sleep(10 * time.Millisecond)
						if _, err := v.Gather(ctx, func(*Vector[float32], []Incoming[float32]) {}); err != nil {
							return err
						}
					}
					return nil
				}
				if err := train(50); err != nil {
					return err
				}
				if want, lost := test.want[g.Rank()]; lost {
					rank := g.Rank()
					trained.Done()
					trained.Wait()
					g.Close()
					gone.Done()
					gone.Wait()
					if g, err = c.join(rank, c.fabric.Host(fmt.Sprint("spare", rank))); err != nil {
						return err
					}
					if v, err = create(g); err != nil {
						return err
					}
					if got := v.Values()[0]; !slices.Contains(want, got) {
						return fmt.Errorf("it has the values of rank %v, want those of one of %v", got, want)
					}
				}
				if err := train(200); err != nil {
					return err
				}
				return g.Done(ctx)
			})
		})
	}
}

// TestResidueStays replaces a rank that sends zeros, with compression. Its next attempt has the values of rank 0,
// but not what the updates of rank 0 have dropped so far: rank 0 still sends that itself.
func TestResidueStays(t *testing.T) {
	bubble(t, "", func(t *testing.T) {
		c := newCluster(t, 2, Config{OnLoss: Wait})
		c.must(func(g *Group) error {
			ctx := context.Background()
			sent := []float32{1, 2, 3, 4} // only the largest entry of the sum so far
			if g.Rank() == 1 {
				clear(sent)
			}
			var sums [4]float32
			train := func(g *Group, rounds uint64) (*Vector[float32], error) {
				v, err := NewVector[float32](g, "v", len(sent), VectorConfig{ObjectConfig: ObjectConfig{Sync: "bsp"}, Format: Format{Top: 1}})
				for err == nil && v.Iteration() < rounds {
					if err = v.ScatterValues(ctx, sent); err != nil {
						break
					}
					_, err = v.Gather(ctx, func(_ *Vector[float32], in []Incoming[float32]) {
						for _, u := range in {
							for i, at := range u.Indices {
								sums[at] += u.Values[i]
							}
						}
					})
				}
				return v, err
			}
			rounds := uint64(41)
			if g.Rank() == 1 {
				rounds = 20
			}
			v, err := train(g, rounds)
			if err == nil && g.Rank() == 1 {
				g.Close()
				if g, err = c.join(1, c.fabric.Host("spare")); err == nil {
					v, err = train(g, 41)
				}
			}
			switch {
			case err != nil:
				return err
			case g.Rank() == 0 && sums != [4]float32{}:
				return fmt.Errorf("the updates of rank 1 add up to %v, want zeros", sums)
			case g.Rank() == 1 && (v.Iteration() < 41 || sums[0] == 0 || sums[3] == 0):
				return fmt.Errorf("rank 1 has %v after %d updates: rank 0 has kept its residue", sums, v.Iteration())
			}
			return g.Done(ctx)
		})
	})
}
