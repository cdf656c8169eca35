// SPDX-License-Identifier: Apache-2.0

package run

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/gvw-project/gvw/hdfsio"
	"github.com/gvw-project/gvw/internal/cli"
	"github.com/gvw-project/gvw/internal/flags"
	"github.com/gvw-project/gvw/internal/tempname"
)

// testTable has the options of the learner and of gvw run.
func testTable() *cli.Table {
	return cli.NewTable(&cli.FlagSet{Specs: flags.Learn}, []*cli.Command{{Name: "run", Sets: []*cli.FlagSet{{Specs: flags.Run}}}})
}

// planFor returns the plan of two workers for a learner's command line.
func planFor(line, shard string) (*plan, error) {
	s, err := cli.Parse(testTable().Learner, strings.Fields(line), nil, os.ReadFile)
	if err != nil {
		return nil, err
	}
	j := localJob{workers: 2, shard: "bytes", id: "ID", uniqueID: 7, serverPort: 99, logDir: "logs"}
	if shard != "" {
		j.shard, j.shardGiven = shard, true
	}
	return makePlan(j, s)
}

// rankArgs returns the arguments of each rank without those that all ranks get.
func rankArgs(p *plan) [2]string {
	var out [2]string
	for rank, w := range p.workers {
		var own []string
		for _, a := range w.Args() {
			name, _, _ := strings.Cut(a, "=")
			switch name {
			case "--span_server", "--span_server_port", "--unique_id", "--total", "--node", "--run_id", "--run_dir", "--bind":
			default:
				own = append(own, a)
			}
		}
		out[rank] = strings.Join(own, " ")
	}
	return out
}

func TestPlan(t *testing.T) {
	logs := "logs" + string(filepath.Separator)
	for name, c := range map[string]struct {
		line, shard string
		want        [2]string
	}{
		"one input is shared out": {
			"-d x.vw -b 20", "",
			[2]string{"--data=x.vw --bit_precision=20 --shard=bytes", "--data=x.vw --bit_precision=20 --shard=bytes"},
		},
		"by lines": {
			"-d x.vw", "lines",
			[2]string{"--data=x.vw --shard=lines", "--data=x.vw --shard=lines"},
		},
		"own files, own caches": {
			"-d part.{rank} -c", "",
			[2]string{"--data=part.0 --cache", "--data=part.1 --cache"},
		},
		"caches get the rank": {
			"-d x.vw --cache_file c -k", "",
			[2]string{"--data=x.vw --cache_file=c.0 --kill_cache --shard=bytes", "--data=x.vw --cache_file=c.1 --kill_cache --shard=bytes"},
		},
		"the default cache, too": {
			"-d x.vw -d y.vw -c", "",
			[2]string{"--data=x.vw --data=y.vw --cache_file=x.vw.cache.0 --shard=bytes", "--data=x.vw --data=y.vw --cache_file=x.vw.cache.1 --shard=bytes"},
		},
		"caches by name": {
			"-d x.vw --cache_file {rank}/c", "",
			[2]string{"--data=x.vw --cache_file=0/c --shard=bytes", "--data=x.vw --cache_file=1/c --shard=bytes"},
		},
		"rank 0 writes the model": {
			"-d x.vw -f m --readable_model r --predict_only_model", "",
			[2]string{
				"--data=x.vw --final_regressor=m --readable_model=r --predict_only_model --shard=bytes",
				"--data=x.vw --predict_only_model --shard=bytes",
			},
		},
		"or every rank its own": {
			"-d x.vw -f m.{rank} -i start.{rank}", "",
			[2]string{"--data=x.vw --final_regressor=m.0 --initial_regressor=start.0 --shard=bytes", "--data=x.vw --final_regressor=m.1 --initial_regressor=start.1 --shard=bytes"},
		},
		"predictions in pieces": {
			"-d x.vw -p out/p -r stdout", "",
			[2]string{
				"--data=x.vw --predictions=out/p.ID.0 --raw_predictions=" + logs + "raw_predictions.ID.0 --shard=bytes",
				"--data=x.vw --predictions=out/p.ID.1 --raw_predictions=" + logs + "raw_predictions.ID.1 --shard=bytes",
			},
		},
		"or every rank its own predictions": {
			"-d x.vw -p p.{rank}", "",
			[2]string{"--data=x.vw --predictions=p.0 --shard=bytes", "--data=x.vw --predictions=p.1 --shard=bytes"},
		},
	} {
		p, err := planFor(c.line, c.shard)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if diff := cmp.Diff(c.want, rankArgs(p)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}

func TestPlanMakesRanks(t *testing.T) {
	p, err := planFor("-d x.vw -p p", "")
	if err != nil {
		t.Fatal(err)
	}
	want := "--span_server=127.0.0.1 --span_server_port=99 --unique_id=7 --total=2 --node=1 --shard=bytes --run_id=ID --run_dir=- --bind=127.0.0.1"
	if got := strings.Join(p.workers[1].Args(), " "); !strings.HasSuffix(got, want) {
		t.Errorf("%s does not end in %s", got, want)
	}
	if diff := cmp.Diff([]gathering{{name: "p", pieces: []string{"p.ID.0", "p.ID.1"}}}, p.gathered, cmp.AllowUnexported(gathering{})); diff != "" {
		t.Errorf("to gather (-want +got):\n%s", diff)
	}
	if p.kind != hdfsio.Bytes || p.own {
		t.Errorf("%+v", p)
	}
}

// All ranks take part in the pass that output regularisers need, and rank 0 writes the files.
func TestRegularizersPlan(t *testing.T) {
	p, err := planFor("-d x --bfgs --passes 4 --output_feature_regularizer_binary r --output_feature_regularizer_text r.{rank}", "")
	if err != nil {
		t.Fatal(err)
	}
	for rank, w := range p.workers {
		want := []string{map[bool]string{true: "r"}[rank == 0]}
		if got := w.All("output_feature_regularizer_binary"); !slices.Equal(got, want) {
			t.Errorf("rank %d writes %q, want %q", rank, got, want)
		}
		if got, want := w.Get("output_feature_regularizer_text"), fmt.Sprintf("r.%d", rank); got != want {
			t.Errorf("rank %d writes %q, want %q", rank, got, want)
		}
	}
}

func TestRefusedPlans(t *testing.T) {
	for line, want := range map[string]string{
		"":                         "there is no data",
		"-d -":                     "cannot share stdin",
		"-d x -d part.{rank}":      "some of -d have {rank}",
		"-d x --node 1":            "--node is set by gvw run itself",
		"-d x --run_dir d":         "--run_dir is set by gvw run itself",
		"-d x --span_server h":     "--span_server is set by gvw run itself",
		"-d x --shard lines":       "--shard comes before --",
		"-d x --skips 2":           "--skips would be ignored",
		"-d x --extra_metrics e":   "--extra_metrics cannot go with gvw run: it counts the calls of one learner",
		"-d x --examples 3":        "--examples cannot go with gvw run: ",
		"-d x --bfgs --hybrid 2:3": "cannot go with --hybrid",
	} {
		if _, err := planFor(line, ""); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %s", line, err, want)
		}
	}
	if _, err := planFor("-d part.{rank}", "bytes"); err == nil || !strings.Contains(err.Error(), "--shard bytes would be ignored") {
		t.Errorf("--shard beside {rank}: %v", err)
	}
}

func TestWorkerEnvironment(t *testing.T) {
	env := []string{"HOME=/", "GVW_PASSES=3", "GVW_WORKERS=2", "GVW_FAULT=x", "GVW_LAUNCHER_FD=7", "GVWX=1"}
	want := []string{"HOME=/", "GVW_FAULT=x", "GVWX=1"}
	if diff := cmp.Diff(want, WorkerEnv(env, testTable())); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// Workers on other machines listen for each other, know this machine by its address, and end without it.
func TestPlanForHosts(t *testing.T) {
	for address, want := range map[string]string{
		"10.0.0.7":  "--span_server=10.0.0.7 --span_server_port=99 --unique_id=7 --total=2 --node=1 --shard=bytes --run_id=ID --run_dir=- --server_timeout=1m0s ",
		"127.0.0.1": "--span_server=127.0.0.1 --span_server_port=99 --unique_id=7 --total=2 --node=1 --shard=bytes --run_id=ID --run_dir=- --server_timeout=1m0s --bind=127.0.0.1 ",
	} {
		s, err := cli.Parse(testTable().Learner, strings.Fields("-d t.vw -f m"), nil, os.ReadFile)
		if err != nil {
			t.Fatal(err)
		}
		j := localJob{workers: 2, shard: "bytes", id: "ID", uniqueID: 7, serverPort: 99, hosts: &remoteHosts{of: []string{"a", "b"}, address: address}}
		p, err := makePlan(j, s)
		if err != nil {
			t.Fatal(err)
		}
		args := p.workers[1].Args()
		for _, word := range strings.Fields(want) {
			if !slices.Contains(args, word) {
				t.Errorf("%s: %v lacks %s", address, args, word)
			}
		}
		if got := slices.ContainsFunc(args, func(a string) bool { return strings.HasPrefix(a, "--bind") }); got != strings.Contains(want, "--bind") {
			t.Errorf("%s: %v: --bind is there: %v", address, args, got)
		}
		s.Set("predictions", "stdout")
		if _, err := makePlan(j, s); err == nil || !strings.Contains(err.Error(), "does not see the parts of other machines") {
			t.Errorf("predictions to stdout: %v", err)
		}
		s.Set("predictions")
		s.Set("encrypt", "true")
		if _, err := makePlan(j, s); err == nil || !strings.Contains(err.Error(), "under gvw run --hosts a secret") {
			t.Errorf("--encrypt: %v", err)
		}
	}
}

// removeAsides removes the temporary files of a dead process beside its outputs and its cache, and no others.
func TestTemporaryFilesOfADeadWorker(t *testing.T) {
	t.Parallel()
	for options, left := range map[string]string{
		"-d %/t.vw -f %/m -c":                         "t.vw.cache",
		"-d %/t.vw -f %/m --cache_file %/c -k":        "c",
		"-d file://%/t.vw -f %/m -c":                  "t.vw.cache",
		"-d %/t.vw -f %/m --cache_file file://%/c -k": "c",
		"-d %/t.vw -f %/m --cache_file %/c -p %/pred": "c",
	} {
		dir := t.TempDir()
		s, err := cli.Parse(testTable().Learner, strings.Fields(strings.ReplaceAll(options, "%", dir)), nil, os.ReadFile)
		if err != nil {
			t.Fatal(err)
		}
		own := tempname.Infix(7)
		kept := []string{left, left + tempname.Infix(8) + "0", left + ".writing-0000000f-7-0"}
		for _, name := range append(kept, left+own+"0", left+own+"1", ".m"+own+"00000001") {
			if err := os.WriteFile(filepath.Join(dir, name), nil, 0o600); err != nil {
				t.Fatal(err)
			}
		}
		if err := removeAsides(&hdfsio.URLs{}, s, 7); err != nil {
			t.Fatal(err)
		}
		entries, err := os.ReadDir(dir)
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, e := range entries {
			got = append(got, e.Name())
		}
		slices.Sort(kept)
		if !slices.Equal(got, kept) {
			t.Errorf("%s: %q are left, want %q", options, got, kept)
		}
	}
}

// A worker that could not be started leaves no temporary files, and those of other processes remain.
func TestTemporaryFilesWithoutAProcess(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	s, err := cli.Parse(testTable().Learner, []string{"--checkpoint", filepath.Join(dir, "ck")}, nil, os.ReadFile)
	if err != nil {
		t.Fatal(err)
	}
	pl := &plan{workers: []*cli.Settings{s}}
	others := filepath.Join(dir, ".ck.r0.g0.e0.0.s1"+tempname.Infix(8)+"1")
	if err := os.WriteFile(others, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := pl.removeLeft(&hdfsio.URLs{}, 0, 0); err != nil {
		t.Error(err)
	}
	if _, err := os.Stat(others); err != nil {
		t.Error(err)
	}
}
