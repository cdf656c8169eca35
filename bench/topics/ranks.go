// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"strconv"
)

// ranks measures how fast several ranks reach the perplexity of one process: with an average at the
// end of each pass, and with one after every batch. A batch is then divided among the ranks, so that the
// average is the step of the whole batch.
func (s *settings) ranks(c *corpus, set set, p plan, size int) error {
	alone, err := s.train("gvw", c, set.topics, p, upTo(passes, s.most), set.goal)
	if err != nil {
		return err
	}
	one := alone[len(alone)-1]
	fmt.Printf("\n%s, ranks: %v\n\n", set.name, p)
	fmt.Println("| ranks | average | passes | rounds | perplexity | CPU s | CPU s a rank | wall s | CPU s a rank / one process |")
	fmt.Println("|--:|---|--:|--:|--:|--:|--:|--:|--:|")
	fmt.Printf("| 1 | | %d | | %.1f | %.2f | %.2f | %.2f | |\n", one.passes, one.perplexity, one.cpu, one.cpu, one.wall)
	for _, every := range []string{"pass", "batch"} {
		of, own := *s, p
		of.size, of.every = size, "pass"
		rounds := 1
		if every == "batch" {
			if p.batch == 0 {
				continue // all documents are one batch
			}
			own.batch = max(1, p.batch/size)
			of.every = strconv.Itoa(own.batch)
			shard := (c.documents + size - 1) / size
			rounds = (shard + own.batch - 1) / own.batch
		}
		curve, err := of.train("gvw", c, set.topics, own, upTo(passes, s.most), one.perplexity)
		if err != nil {
			return err
		}
		r := curve[len(curve)-1]
		each := r.cpu / float64(size)
		fmt.Printf("| %d | %s | %d | %d | %.1f | %.2f | %.2f | %.2f | **%.2f** |\n", size, every, r.passes, r.passes*rounds, r.perplexity, r.cpu, each, r.wall, each/one.cpu)
	}
	return nil
}
