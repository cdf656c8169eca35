// SPDX-License-Identifier: Apache-2.0

// Command malt measures how fast shared vectors move, beside peers that it measures in the same run:
// scatters within a host beside memcpy, scatters over TCP beside iperf3 (or a bare socket pair), and what
// a sparse scatter costs the learner.
//
//	go run ./bench/malt -mib 64 -rounds 9
//
// Ranks are goroutines of this process, with real sockets and segments. Rounds of product and peer
// alternate; the ratios are those of the medians.
package main

import (
	"context"
	"flag"
	"fmt"
	"math"
	"os"
	"os/signal"
	"slices"
	"time"
)

func main() {
	mib := flag.Int("mib", 64, "size of the dense vector, in MiB")
	rounds := flag.Int("rounds", 9, "measurements of each kind, of which the median counts")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := bench(ctx, *mib<<20, *rounds); err != nil {
		fmt.Fprintln(os.Stderr, "malt:", err)
		os.Exit(1)
	}
}

func bench(ctx context.Context, size, rounds int) error {
	fmt.Println("| measurement | gvw | peer | ratio |\n|---|--:|--:|--:|")
	if err := within(ctx, size, rounds); err != nil {
		return fmt.Errorf("measuring within a host: %w", err)
	}
	if err := over(ctx, size, rounds); err != nil {
		return fmt.Errorf("measuring over TCP: %w", err)
	}
	for _, network := range []bool{false, true} {
		if err := sparse(ctx, network, rounds); err != nil {
			return fmt.Errorf("sparse: %w", err)
		}
	}
	return nil
}

// rates are the bytes per second of several measurements.
type rates []float64

func (r *rates) add(bytes int, took time.Duration) { *r = append(*r, float64(bytes)/took.Seconds()) }

func (r rates) median() float64 {
	if len(r) == 0 {
		return math.NaN()
	}
	slices.Sort(r)
	return r[len(r)/2]
}

// row prints a comparison of two rates.
func row(what string, ours, peers rates, peer string) {
	a, b := ours.median(), peers.median()
	fmt.Printf("| %s | %.2f GB/s | %s %.2f GB/s | %.2f |\n", what, a/1e9, peer, b/1e9, a/b)
}
