// SPDX-License-Identifier: Apache-2.0

package job

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/gvw-project/gvw/internal/spantree/protocol"
)

// usual is a job of which one rank is lost in the tests, in the middle of its third step.
var usual = Config{
	Ranks: 4, Steps: 10, Step: 10 * time.Second, Load: time.Minute, Restart: 30 * time.Second, Fetch: 2 * time.Second,
	LostAfter: 10 * time.Second, OnLoss: protocol.Wait,
}

// The time that a loss costs follows by hand: the part of the step that is made again, and the time until the rank is
// there again.
func TestOneLossByHand(t *testing.T) {
	const half = 5 * time.Second
	for _, c := range []struct {
		name   string
		change func(*Config)
		silent bool
		want   time.Duration
		slack  time.Duration
		left   int
	}{
		{"wait", func(*Config) {}, false, half + 30*time.Second + time.Minute + 2*time.Second, 0, 4},
		{"wait, and the new attempt loads while the old one is silent", func(*Config) {}, true, half + 30*time.Second + time.Minute + 2*time.Second, 0, 4},
		{"spare", func(c *Config) { c.Spares = 1 }, false, half + time.Minute + 2*time.Second, 0, 4},
		{"spare, which begins when the silence is detected", func(c *Config) { c.Spares = 1 }, true, half + 10*time.Second + time.Minute + 2*time.Second, time.Second, 4},
		{"silence that lasts longer than the restart", func(c *Config) { c.Restart, c.Load = 0, time.Second }, true, half + 10*time.Second + 2*time.Second, time.Second, 4},
		// The lease of the lost rank may last for half of LostAfter: until then another holder must not begin.
		{"shrink", func(c *Config) { c.OnLoss = protocol.Shrink }, false, half, half + time.Second, 3},
		{"shrink after silence", func(c *Config) { c.OnLoss = protocol.Shrink }, true, half + 10*time.Second, time.Second, 3},
	} {
		cfg := usual
		c.change(&cfg)
		s := newCluster(cfg)
		s.startAll()
		s.end(s.attempts[2], cfg.Load+25*time.Second, c.silent)
		r, err := s.run()
		if err != nil {
			t.Errorf("%s: %v", c.name, err)
			continue
		}
		if r.Lost < c.want || r.Lost > c.want+c.slack || r.Losses != 1 || r.Epochs != 2 || r.Left != c.left {
			t.Errorf("%s: got %+v, want %v (up to %v more) lost by one loss, two epochs, %d ranks", c.name, *r, c.want, c.slack, c.left)
		}
	}
}

// Without losses a job takes the time of its loading and its steps.
func TestUndisturbed(t *testing.T) {
	for _, onLoss := range []protocol.OnLoss{protocol.Wait, protocol.Shrink} {
		cfg := usual
		cfg.Ranks, cfg.OnLoss = 200, onLoss
		want := &Result{Time: time.Minute + 100*time.Second, Epochs: 1, Left: 200}
		got, err := Run(cfg)
		if d := cmp.Diff(want, got); d != "" || err != nil {
			t.Errorf("%v: %v %s", onLoss, err, d)
		}
	}
}

// A job ends however its ranks are lost, and in the same way when it is simulated again. It is no faster than without
// losses.
func TestJobsEnd(t *testing.T) {
	losses := 0
	rapid.Check(t, func(t *rapid.T) {
		seconds := func(name string, most int) time.Duration {
			return time.Duration(rapid.IntRange(0, most).Draw(t, name)) * time.Second
		}
		cfg := Config{
			Ranks: rapid.IntRange(1, 12).Draw(t, "ranks"), Steps: rapid.IntRange(1, 40).Draw(t, "steps"), Step: time.Second + seconds("step", 20),
			Load: seconds("load", 100), Restart: seconds("restart", 100), Fetch: seconds("fetch", 10), LostAfter: 5*time.Second + seconds("lost after", 20),
			Between: 20 * time.Minute, Silent: rapid.Float64Range(0, 1).Draw(t, "silent"), Seed: rapid.Uint64().Draw(t, "seed"),
			OnLoss: rapid.SampledFrom([]protocol.OnLoss{protocol.Wait, protocol.Shrink}).Draw(t, "on loss"),
		}
		if cfg.OnLoss == protocol.Wait {
			cfg.Spares = rapid.IntRange(0, 3).Draw(t, "spares")
		}
		r, err := Run(cfg)
		if err != nil && strings.Contains(err.Error(), "the server has ended the job") {
			return // all ranks of a job that shrinks may be lost
		}
		if err != nil {
			t.Fatal(err)
		}
		losses += r.Losses
		if r.Lost < 0 || r.Losses > 0 && cfg.OnLoss == protocol.Wait && r.Left != cfg.Ranks {
			t.Errorf("got %+v, want no time gained, and %d ranks", *r, cfg.Ranks)
		}
		again, err := Run(cfg)
		if d := cmp.Diff(r, again); d != "" || err != nil {
			t.Errorf("the second time: %v %s", err, d)
		}
	})
	least := 20
	if testing.Short() { // rapid draws a fifth of the jobs
		least = 1
	}
	if losses < least {
		t.Errorf("got %d losses in all jobs, want more: the test covers little", losses)
	}
}

// A job that shrinks ends without an answer if its last rank is lost, silently or not: no rank is left to be told.
func TestAllRanksAreLost(t *testing.T) {
	for _, silent := range []float64{0, 1} {
		ended := 0
		for seed := range uint64(200) {
			_, err := Run(Config{Ranks: 1, Steps: 100, Step: 10 * time.Second, Between: 20 * time.Minute, Silent: silent, Seed: seed, OnLoss: protocol.Shrink})
			if err != nil && !strings.Contains(err.Error(), "the server has ended the job") {
				t.Fatalf("silent %g, seed %d: %v", silent, seed, err)
			}
			if err != nil {
				ended++
			}
		}
		if ended < 50 {
			t.Errorf("silent %g: %d of 200 jobs lost their rank, want more", silent, ended)
		}
	}
}

func TestFaultsOfConfigs(t *testing.T) {
	for _, c := range []struct {
		want   string
		change func(*Config)
	}{
		{"Ranks and Spares: got 0 and 0", func(c *Config) { c.Ranks = 0 }},
		{"Steps and Step: got 0 of 10s", func(c *Config) { c.Steps = 0 }},
		{"Load: got -1s", func(c *Config) { c.Load = -time.Second }},
		{"Between: got 1s", func(c *Config) { c.Between = time.Second }},
		{"Silent: got 1.5", func(c *Config) { c.Silent = 1.5 }},
		{"want wait, or shrink without spares", func(c *Config) { c.OnLoss, c.Spares = protocol.Shrink, 1 }},
	} {
		cfg := usual
		c.change(&cfg)
		if _, err := Run(cfg); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("got %v, want %q", err, c.want)
		}
	}
}
