// SPDX-License-Identifier: Apache-2.0

package launch

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestShareProcessors(t *testing.T) {
	for name, c := range map[string]struct {
		processors, ranks, threads int
		env, want                  []string
	}{
		"even":                     {8, 2, 1, nil, []string{"GOMAXPROCS=4"}},
		"rounded up":               {8, 3, 1, nil, []string{"GOMAXPROCS=3"}},
		"more ranks than cores":    {4, 5, 1, []string{"A=1"}, []string{"A=1", "GOMAXPROCS=2"}},
		"two processors":           {2, 2, 1, nil, nil},
		"one rank":                 {8, 1, 1, []string{"A=1"}, []string{"A=1"}},
		"one processor":            {1, 4, 1, nil, nil},
		"threads need more":        {8, 4, 3, nil, []string{"GOMAXPROCS=3"}},
		"threads need all":         {8, 4, 16, nil, nil},
		"threads need less":        {8, 2, 3, nil, []string{"GOMAXPROCS=4"}},
		"given by the user":        {8, 2, 1, []string{"GOMAXPROCS=7"}, []string{"GOMAXPROCS=7"}},
		"empty: the runtime's own": {8, 2, 1, []string{"GOMAXPROCS="}, []string{"GOMAXPROCS=", "GOMAXPROCS=4"}},
		"unknown number of ranks":  {8, 0, 0, nil, nil},
	} {
		if diff := cmp.Diff(c.want, shareOf(c.processors, c.env, c.ranks, c.threads)); diff != "" {
			t.Errorf("%s: -want +got:\n%s", name, diff)
		}
	}
}

// Workers share one environment: none may write into the memory of another.
func TestShareProcessorsCopies(t *testing.T) {
	env := append(make([]string, 0, 4), "A=1")
	one, other := shareOf(8, env, 2, 1), shareOf(8, env, 4, 1)
	if one[1] != "GOMAXPROCS=4" || other[1] != "GOMAXPROCS=2" {
		t.Errorf("environments are %q and %q", one, other)
	}
}
