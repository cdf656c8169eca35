// SPDX-License-Identifier: Apache-2.0

package run

import (
	"os"
	"strings"
	"testing"

	"github.com/gvw-project/gvw/internal/cli"
	"github.com/gvw-project/gvw/internal/site"
	"github.com/gvw-project/gvw/internal/spantree/protocol"
)

// joinedAs returns the options of a rank's worker, by what precedes the "--" and what follows it.
func joinedAs(t *testing.T, at site.Rank, before, after string) (*joined, *cli.Settings, error) {
	t.Helper()
	table := testTable()
	s, err := cli.Parse(table.Command("run").Sets[0], strings.Fields(before), nil, os.ReadFile)
	if err != nil {
		t.Fatal(err)
	}
	job, err := cli.Parse(table.Learner, strings.Fields(after), nil, os.ReadFile)
	if err != nil {
		t.Fatal(err)
	}
	j := &joined{at: at, job: protocol.Job{UniqueID: 7, RunKey: "seven"}, restarts: defaultRestarts}
	if s.Has("max_restarts") {
		j.restarts = int(s.Number("max_restarts"))
	}
	j.follow(job.Get("on_loss"))
	if err := j.meet(s, ""); err != nil {
		return j, nil, err
	}
	w, err := j.settings(s, job)
	return j, w, err
}

func TestJoin(t *testing.T) {
	const all = " --span_server n1 --span_server_port 16391 --unique_id 7 --run_id seven --total 3 "
	n1 := site.Rank{Launcher: "X", Rank: 1, Total: 3, First: "n1"}
	n0 := n1
	n0.Rank = 0
	again := n1
	again.Generation = 2
	rank := n1
	rank.Restarts = site.EachRank
	for name, c := range map[string]struct {
		at            site.Rank
		before, after string
		want          string
		serves        bool
	}{
		"the first rank":         {n0, "--join", "-d t.vw -f m -c", all + "--node 0 --shard bytes --on_loss wait -d t.vw -f m --cache_file t.vw.cache.0", true},
		"another rank":           {n1, "--join", "-d t.vw -f m", all + "--node 1 --shard bytes --on_loss wait -d t.vw", false},
		"files of its own":       {n1, "--join", "-d p.{rank} -p q.{rank}", all + "--node 1 --on_loss wait -d p.1 -p q.1", false},
		"lines":                  {n1, "--join --shard lines", "-d t.vw", all + "--node 1 --shard lines --on_loss wait -d t.vw", false},
		"without restarts":       {n1, "--join --max_restarts 0", "-d t.vw", all + "--node 1 --shard bytes --on_loss abort -d t.vw", false},
		"the launcher restarts":  {rank, "--join --max_restarts 0", "-d t.vw", all + "--node 1 --shard bytes --on_loss wait -d t.vw", false},
		"a whole job again":      {again, "--join", "-d t.vw", all + "--node 1 --generation 2 --shard bytes --on_loss wait -d t.vw", false},
		"shrink: all write":      {n1, "--join", "-d t.vw -f m --on_loss shrink", all + "--node 1 --shard bytes --on_loss shrink -d t.vw -f m", false},
		"a port":                 {n0, "--join --port 99", "-d t.vw", strings.Replace(all, "16391", "99", 1) + "--node 0 --shard bytes --on_loss wait -d t.vw", true},
		"a server without ranks": {n0, "--join=gw:99", "-d t.vw", strings.NewReplacer("16391", "99", "n1", "gw").Replace(all) + "--node 0 --shard bytes --on_loss wait -d t.vw", false},
		"the usual port":         {n0, "--join=::1", "-d t.vw", strings.NewReplacer("16391", "26543", "n1", "::1").Replace(all) + "--node 0 --shard bytes --on_loss wait -d t.vw", false},
	} {
		j, w, err := joinedAs(t, c.at, c.before, c.after)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		want, err := cli.Parse(testTable().Learner, strings.Fields(c.want), nil, os.ReadFile)
		if err != nil {
			t.Fatal(err)
		}
		if got, want := strings.Join(w.Args(), " "), strings.Join(want.Args(), " "); got != want {
			t.Errorf("%s: got\n%s, want\n%s", name, got, want)
		}
		if j.meeting.serves != c.serves {
			t.Errorf("%s: serves: got %v, want %v", name, j.meeting.serves, c.serves)
		}
	}
}

func TestJoinErrors(t *testing.T) {
	for name, c := range map[string]struct {
		first         string
		before, after string
		want          string
	}{
		"no first host":     {"", "--join", "-d t.vw", "X does not tell where rank 0 runs: give --join_dir DIR"},
		"two ways":          {"n", "--join=gw --join_dir d", "-d t.vw", "leave out --join_dir"},
		"a port twice":      {"n", "--join=gw:1 --port 2", "-d t.vw", "leave out --join_dir and --port"},
		"no address":        {"n", "--join=gw:x", "-d t.vw", "want HOST or HOST:PORT"},
		"a rank":            {"n", "--join", "-d t.vw --node 1", "--node is found by gvw run --join"},
		"one file for all":  {"n", "--join", "-d t.vw -p q", "all ranks would write it"},
		"a record for all":  {"n", "--join", "-d t.vw --record r", "--record r: all ranks would write it"},
		"no data":           {"n", "--join", "-f m", "there is no data"},
		"names of features": {"n", "--join", "-d t.vw --audit", "--audit needs names"},
	} {
		_, _, err := joinedAs(t, site.Rank{Launcher: "X", Total: 2, First: c.first}, c.before, c.after)
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: got %v, want %q", name, err, c.want)
		}
	}
}

func TestDomain(t *testing.T) {
	const hosts = "# Kubernetes-managed hosts file.\n127.0.0.1\tlocalhost\n10.1.2.3\ttrain-3.ranks.ml.svc.cluster.local\ttrain-3 # train-3.x\n"
	for host, want := range map[string]string{"train-3": "ranks.ml.svc.cluster.local", "train": "", "other": ""} {
		if got := domainOf(host, hosts); got != want {
			t.Errorf("%s: got %q, want %q", host, got, want)
		}
	}
}
