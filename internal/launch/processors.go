// SPDX-License-Identifier: Apache-2.0

package launch

import (
	"runtime"
	"strconv"
	"strings"
)

// envProcessors is the variable by which the Go runtime takes its number of processors.
const envProcessors = "GOMAXPROCS"

// leastShare is the least number of processors of a worker, if the machine has them. With one a rank's parser and its learner
// take turns, and the processor is idle while the rank waits for others: two ranks on two processors then took 15 % longer
// for a pass and 29 % for 20 passes of L-BFGS, with the same processor time.
const leastShare = 2

// ShareProcessors returns the environment of a worker that shares the processors of this process with others: ranks
// workers in all, each of which has so many learning threads. A worker that used all processors would parse with as many
// goroutines as if it were the only one. A number that env has already remains. env itself is not changed.
func ShareProcessors(env []string, ranks, threads int) []string {
	return shareOf(runtime.GOMAXPROCS(0), env, ranks, threads)
}

func shareOf(processors int, env []string, ranks, threads int) []string {
	for _, kv := range env {
		if given, ok := strings.CutPrefix(kv, envProcessors+"="); ok && given != "" {
			return env
		}
	}
	// Rounded up, so that no processor is left over.
	ranks = max(ranks, 1)
	share := max((processors+ranks-1)/ranks, threads, leastShare)
	if share >= processors {
		return env
	}
	return append(env[:len(env):len(env)], envProcessors+"="+strconv.Itoa(share))
}
