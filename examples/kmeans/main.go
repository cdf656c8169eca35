// SPDX-License-Identifier: Apache-2.0

// Command kmeans finds K clusters of points by Lloyd's algorithm, on one machine or on several:
//
//	kmeans -k 3 points.txt                       one process
//	gvw run -n 4 -- ./kmeans -k 3 points.txt     four ranks with shared vectors
//
// Each line of a file is a point: its coordinates, separated by blanks. The ranks share the lines, and add up the sums
// of their points in each step. So the clusters are those of one process, up to rounding.
package main

import (
	"context"
	"flag"
	"fmt"
	"math"
	"os"
	"slices"
	"strconv"
	"strings"

	"github.com/gvw-project/gvw/malt"
)

func main() {
	k := flag.Int("k", 2, "number of clusters")
	steps := flag.Int("steps", 20, "number of steps")
	flag.Parse()
	if err := run(context.Background(), *k, *steps, flag.Args()); err != nil {
		fmt.Fprintln(os.Stderr, "kmeans:", err)
		os.Exit(1)
	}
}

// run reads the points of this rank, finds the clusters, and prints them on rank 0.
func run(ctx context.Context, k, steps int, files []string) error {
	job := malt.Config{Total: 1}
	if os.Getenv("GVW_SPAN_SERVER") != "" { // a rank of gvw run
		var err error
		if job, err = malt.ConfigFromEnv(os.LookupEnv); err != nil {
			return err
		}
	}
	points, err := read(ctx, malt.DataConfig{Names: files, Rank: job.Rank, Of: job.Total})
	if err != nil {
		return err
	}
	if len(points) < k {
		return fmt.Errorf("rank %d has %d points, want at least %d: give more points, or fewer clusters", job.Rank, len(points), k)
	}
	var first [][]float64 // the centers at the start, which rank 0 chooses
	if job.Rank == 0 {
		first = spread(points, k)
	}
	add, done := func([]float64) error { return nil }, func() error { return nil }
	if job.Total > 1 {
		g, err := malt.Join(ctx, job)
		if err != nil {
			return err
		}
		defer g.Close()
		if add, err = shared(ctx, g, k*(len(points[0])+1)); err != nil {
			return err
		}
		done = func() error { return g.Done(ctx) }
	}
	centers, err := cluster(points, first, k, steps, add)
	if err == nil {
		err = done()
	}
	if err != nil || job.Rank > 0 {
		return err
	}
	slices.SortFunc(centers, slices.Compare[[]float64])
	for _, c := range centers {
		fmt.Println(strings.Trim(fmt.Sprintf("%.2f", c), "[]"))
	}
	return nil
}

// shared returns a function that replaces numbers by their sums over all ranks.
func shared(ctx context.Context, g *malt.Group, length int) (func([]float64) error, error) {
	v, err := malt.NewVector[float64](g, "sums", length, malt.VectorConfig{ObjectConfig: malt.ObjectConfig{Graph: "all", Sync: "bsp"}})
	if err != nil {
		return nil, err
	}
	return func(sums []float64) error {
		copy(v.Values(), sums)
		if err := v.Scatter(ctx); err != nil {
			return err
		}
		_, err := v.Gather(ctx, malt.Sum)
		copy(sums, v.Values())
		return err
	}, nil
}

// cluster makes steps of Lloyd's algorithm from the first centers, which only one rank has. add adds up numbers over
// all ranks.
func cluster(points, first [][]float64, k, steps int, add func([]float64) error) ([][]float64, error) {
	d := len(points[0])
	centers := make([][]float64, k)
	sums := make([]float64, k*(d+1)) // of each cluster: its coordinates and its number of points
	for i, p := range first {
		count(sums, i, p)
	}
	for step := range steps {
		if step > 0 {
			clear(sums)
			for _, p := range points {
				count(sums, nearest(centers, p), p)
			}
		}
		if err := add(sums); err != nil {
			return nil, err
		}
		for c := range centers {
			s := sums[c*(d+1) : (c+1)*(d+1)]
			if n := s[d]; n > 0 {
				centers[c] = make([]float64, d)
				for j := range d {
					centers[c][j] = s[j] / n
				}
			}
		}
	}
	return centers, nil
}

// spread returns k points that are far from each other: each is the farthest from those before it.
func spread(points [][]float64, k int) [][]float64 {
	chosen := points[:1:1]
	for len(chosen) < k {
		var next []float64
		most := -1.0
		for _, p := range points {
			if d := distance(p, chosen[nearest(chosen, p)]); d > most {
				most, next = d, p
			}
		}
		chosen = append(chosen, next)
	}
	return chosen
}

// count adds a point to the sums of a cluster.
func count(sums []float64, cluster int, p []float64) {
	s := sums[cluster*(len(p)+1):]
	for j, x := range p {
		s[j] += x
	}
	s[len(p)]++
}

// nearest returns the cluster whose center is nearest to a point.
func nearest(centers [][]float64, p []float64) int {
	best, least := 0, math.Inf(1)
	for c, center := range centers {
		if d := distance(p, center); d < least {
			best, least = c, d
		}
	}
	return best
}

// distance returns the square of the distance between two points.
func distance(a, b []float64) (sum float64) {
	for j, x := range a {
		sum += (x - b[j]) * (x - b[j])
	}
	return sum
}

// read returns the points of a rank.
func read(ctx context.Context, c malt.DataConfig) (points [][]float64, err error) {
	data, err := malt.LoadData(ctx, c)
	if err != nil {
		return nil, err
	}
	for line, err := range data.Lines(ctx, 0) {
		if err != nil {
			return nil, err
		}
		var p []float64
		for word := range strings.FieldsSeq(string(line)) {
			x, err := strconv.ParseFloat(word, 64)
			if err != nil {
				return nil, fmt.Errorf("%q is no number", word)
			}
			p = append(p, x)
		}
		if len(points) > 0 && len(p) != len(points[0]) {
			return nil, fmt.Errorf("%q has %d coordinates, another point has %d", line, len(p), len(points[0]))
		}
		points = append(points, p)
	}
	return points, nil
}
