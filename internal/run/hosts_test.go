// SPDX-License-Identifier: Apache-2.0

package run

import (
	"encoding/json"
	"os"
	"strings"
	"testing"

	"github.com/gvw-project/gvw/internal/cli"
	"github.com/gvw-project/gvw/internal/remote"
)

// A list of hosts may be longer than the name of a file.
func TestLongListOfHosts(t *testing.T) {
	table := testTable()
	s, err := cli.Parse(table.Commands[0].Sets[0], []string{"--hosts", strings.Repeat("127.0.0.1,", 500), "--address", "127.0.0.1"}, nil, os.ReadFile)
	if err != nil {
		t.Fatal(err)
	}
	h, err := hostsOf(s)
	if err != nil || len(h.of) != 500 {
		t.Errorf("got %+v, %v; want 500 hosts", h, err)
	}
}

// The ranks of a host share its processors, and a spare has the share of a rank.
func TestOrdersHaveTheRanksOfTheHost(t *testing.T) {
	w, err := cli.Parse(testTable().Learner, []string{"-d", "x", "--hogwild", "3"}, nil, os.ReadFile)
	if err != nil {
		t.Fatal(err)
	}
	h := &remoteHosts{of: []string{"a", "b", "b", "b", "c"}}
	for process, want := range []int{1, 2, 2, 2, 0} { // ranks 0 to 2, and two spares
		_, words, err := h.command("gvw", "run", process, 3, w, nil)
		if err != nil {
			t.Fatal(err)
		}
		var call remote.Call
		if err := json.Unmarshal([]byte(strings.Join(words[2:], "")), &call); err != nil {
			t.Fatal(err)
		}
		if o := call.Order; o.Ranks != want || o.Threads != 3 {
			t.Errorf("process %d on %s: %d ranks, %d threads; want %d and 3", process, call.Host, o.Ranks, o.Threads, want)
		}
	}
}
