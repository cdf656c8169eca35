// SPDX-License-Identifier: Apache-2.0

package main

import (
	"io"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/gvw-project/gvw/allreduce/schedule"
	"github.com/gvw-project/gvw/hdfsio"
	"github.com/gvw-project/gvw/internal/cli"
	"github.com/gvw-project/gvw/internal/files"
	"github.com/gvw-project/gvw/internal/joinflags"
	"github.com/gvw-project/gvw/internal/train"
	"github.com/gvw-project/gvw/learn"
	"github.com/gvw-project/gvw/option"
)

// withContext calls f with the typed options of a command line.
func withContext(t *testing.T, line string, f func(*cli.Process, *cli.Context)) {
	t.Helper()
	s, err := parse(line)
	if err != nil {
		t.Fatalf("%s: %v", line, err)
	}
	p := &cli.Process{Stdout: io.Discard, Stderr: io.Discard}
	if p.Stdin, err = os.Open(os.DevNull); err != nil {
		t.Fatal(err)
	}
	defer p.Stdin.Close()
	err = s.Dispatch(t.Context(), func(c *cli.Context) error {
		f(p, c)
		return nil
	})
	if err != nil {
		t.Fatalf("%s: %v", line, err)
	}
}

// Every option sets the field that it is for.
func TestLearnConfig(t *testing.T) {
	f32 := func(x float32) float64 { return float64(x) }
	for line, want := range map[string]learn.Config{
		"":                                {},
		"-k --passes 3 -t":                {Data: learn.DataConfig{KillCache: true}, Passes: 3, TestOnly: true},
		"--holdout_off":                   {Holdout: learn.HoldoutConfig{Off: true}},
		"--holdout_period 5":              {Holdout: learn.HoldoutConfig{Period: 5}},
		"--holdout_after 6":               {Holdout: learn.HoldoutConfig{After: 6}},
		"--early_terminate 7":             {Holdout: learn.HoldoutConfig{EarlyTerminate: 7}},
		"-b 20 --hash all":                {Features: learn.FeatureConfig{Bits: 20, Hash: "all"}},
		"--hash strings":                  {Features: learn.FeatureConfig{Hash: "strings"}},
		"--hash_seed 4294967295":          {Features: learn.FeatureConfig{HashSeed: option.Some[uint32](1<<32 - 1)}},
		"--noconstant -q ab -q a,":        {Features: learn.FeatureConfig{NoConstant: true, Namespaces: learn.Namespaces{Quadratic: []string{"ab", "a,"}}}},
		"--sgd --adaptive":                {SGD: learn.SGDConfig{Plain: true, Adaptive: true}},
		"--normalized --invariant":        {SGD: learn.SGDConfig{Normalized: true, Invariant: true}},
		"-l 0 --power_t 0 --initial_t 0":  {SGD: learn.SGDConfig{LearningRate: option.Some[float32](0), PowerT: option.Some[float32](0), InitialT: option.Some[float32](0)}},
		"-l 0.1 --decay_learning_rate .9": {SGD: learn.SGDConfig{LearningRate: option.Some[float32](0.1), DecayLearningRate: 0.9}},
		"--power_t 0.3 --initial_t 2":     {SGD: learn.SGDConfig{PowerT: option.Some[float32](0.3), InitialT: option.Some[float32](2)}},
		"--l2 1e-3 --sgd_l2 1e-4":         {Reg: learn.RegConfig{L2: f32(1e-3), SGDL2: f32(1e-4)}},
		"--loss_function logistic":        {Loss: learn.LossConfig{Function: "logistic"}},
		"--link glf1 --binary":            {Loss: learn.LossConfig{Link: "glf1", Binary: true}},
		"--bfgs --mem 0":                  {Batch: learn.BatchConfig{BFGS: true, Mem: option.Some(0)}},
		"--mem 7 --termination 0.01":      {Batch: learn.BatchConfig{Mem: option.Some(7), Termination: option.Some[float64](f32(0.01))}},
		"--hybrid 2:20":                   {Hybrid: &learn.Hybrid{SGDPasses: 2, LBFGSPasses: 20}},
		"-f m -i n --readable_model r":    {Model: learn.ModelConfig{Final: "m", Initial: "n", Readable: "r"}},
		"--predict_only_model":            {Model: learn.ModelConfig{PredictOnly: true}},
		"-p p -r r":                       {Output: learn.OutputConfig{Predictions: "p", RawPredictions: "r"}},
		"--quiet -P 10":                   {Diagnostics: learn.DiagnosticsConfig{Quiet: true, Progress: "10"}},
	} {
		withContext(t, line, func(p *cli.Process, c *cli.Context) {
			got, err := train.Config(c)
			if err != nil {
				t.Errorf("%s: %v", line, err)
			}
			if diff := cmp.Diff(want, got, cmpopts.IgnoreUnexported(learn.Config{}, learn.LDAConfig{})); diff != "" {
				t.Errorf("%s (-want +got):\n%s", line, diff)
			}
		})
	}
}

func TestClusterConfig(t *testing.T) {
	const rank = " --unique_id 18446744073709551615 --total 4 --node 3"
	withContext(t, "--span_server ::1 --span_server_port 99 --run_id r --start_timeout 5 --heartbeat 2s --lost_after 1m --schedule ring --checksum off --shm off --trace_dir file:///tmp/traces"+rank, func(p *cli.Process, c *cli.Context) {
		at, ok, err := joinflags.Place(p, c)
		if err != nil || !ok || at.Rank != 3 || at.Total != 4 {
			t.Fatalf("%+v, %v, %v", at, ok, err)
		}
		cfg, err := joinflags.Config(c, at)
		if err != nil {
			t.Fatal(err)
		}
		if cfg.Server != "[::1]:99" || cfg.Job.UniqueID != 1<<64-1 || cfg.Job.RunKey != "r" || cfg.Rank != 3 || cfg.Total != 4 ||
			cfg.StartTimeout.Seconds() != 5 || cfg.Heartbeat.Seconds() != 2 || cfg.LostAfter.Minutes() != 1 ||
			cfg.Schedule != schedule.Ring || !cfg.NoChecksum || !cfg.NoSharedMemory || cfg.TraceDir != "/tmp/traces" {
			t.Errorf("%+v", cfg)
		}
	})
	withContext(t, "--span_server gateway"+rank, func(p *cli.Process, c *cli.Context) {
		at, _, _ := joinflags.Place(p, c)
		if cfg, err := joinflags.Config(c, at); err != nil || cfg.Server != "gateway:26543" || cfg.Schedule != schedule.Auto || cfg.NoChecksum || cfg.NoSharedMemory {
			t.Errorf("%+v, %v", cfg, err)
		}
	})
	withContext(t, "--span_server gateway:99"+rank, func(p *cli.Process, c *cli.Context) {
		at, _, _ := joinflags.Place(p, c)
		if _, err := joinflags.Config(c, at); err == nil || !strings.Contains(err.Error(), "--span_server_port") {
			t.Errorf("a port in the host: %v", err)
		}
	})
}

func TestCacheName(t *testing.T) {
	for line, want := range map[string]string{
		"-d x":                   "",
		"-d x -c":                "x.cache",
		"-d x -d y -c":           "x.cache",
		"-d x -c --cache_file f": "f",
		"--cache_file f":         "f",
		"-c":                     ".cache",
		"-d - -c":                "--cache: data from stdin has no name",
	} {
		withContext(t, line, func(p *cli.Process, c *cli.Context) {
			got, err := files.CacheName(c, hdfsio.Shard{})
			if err != nil {
				got = err.Error()
			}
			if !strings.HasPrefix(got, want) || want == "" && got != "" {
				t.Errorf("%s: %q, want %q", line, got, want)
			}
		})
	}
	withContext(t, "-d x -c", func(p *cli.Process, c *cli.Context) {
		if got, err := files.CacheName(c, hdfsio.Shard{Kind: hdfsio.Lines, Rank: 3, Total: 4}); got != "x.cache.3" || err != nil {
			t.Errorf("of a shard: %q, %v", got, err)
		}
	})
}
