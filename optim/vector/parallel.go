// SPDX-License-Identifier: Apache-2.0

package vector

import (
	"runtime"
	"sync"
	"sync/atomic"
)

// parallelLen is the length from which several goroutines are worth their
// start: half a million elements are a tenth of a millisecond of work.
const parallelLen = 4 * blockLen

func parallel(n int) bool { return n >= parallelLen && runtime.GOMAXPROCS(0) > 1 }

// eachBlock calls f once for each block of n elements, from several
// goroutines, and returns when all calls have.
func eachBlock(n int, f func(lo, hi int)) {
	var next atomic.Int64
	work := func() {
		for {
			hi := int(next.Add(blockLen))
			lo := hi - blockLen
			if lo >= n {
				return
			}
			f(lo, min(hi, n))
		}
	}
	var wg sync.WaitGroup
	blocks := (n + blockLen - 1) / blockLen
	for range min(runtime.GOMAXPROCS(0), blocks) - 1 {
		wg.Go(work)
	}
	work()
	wg.Wait()
}

// sumBlocks adds f's results for each block in the order of the blocks.
func sumBlocks(n int, f func(lo, hi int) float64) float64 {
	parts := make([]float64, (n+blockLen-1)/blockLen)
	eachBlock(n, func(lo, hi int) { parts[lo/blockLen] = f(lo, hi) })
	var sum float64
	for _, v := range parts {
		sum += v
	}
	return sum
}
