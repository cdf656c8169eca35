// SPDX-License-Identifier: Apache-2.0

package maltstage

import (
	"slices"
	"strings"
	"testing"

	"github.com/gvw-project/gvw/malt"
	"github.com/gvw-project/gvw/malt/graph"
	"github.com/gvw-project/gvw/optim/outer"
	"github.com/gvw-project/gvw/optim/sgd"
	"pgregory.net/rapid"
)

func TestFaultsNameEachField(t *testing.T) {
	plain, adaptive := sgd.Flags{SGD: true}.Config(), sgd.Flags{}.Config()
	edges := func(list string, ranks int) *graph.Graph {
		g, err := graph.Read(strings.NewReader(list), "edges", ranks)
		if err != nil {
			t.Fatal(err)
		}
		return g
	}
	good := Config{Graph: "all", Sync: "asp", Every: 1000}
	for _, c := range []struct {
		change func(*Config)
		rule   sgd.Config
		want   string // fields
	}{
		{func(*Config) {}, adaptive, ""},
		{func(c *Config) { c.Graph = "line" }, adaptive, "Graph"},
		{func(c *Config) { c.Sync = "soon" }, adaptive, "Sync"},
		{func(c *Config) { c.Custom = edges("0 1\n1 2\n2 3\n3 0\n", 4) }, adaptive, ""},
		{func(c *Config) { c.Custom, c.Send = edges("0 1\n1 2\n2 3\n3 0\n", 4), Gradients }, adaptive, "Send"},
		{func(c *Config) { c.Custom = edges("0 1 0.9\n1 2 0.9\n2 3 0.9\n3 0 0.9\n", 4) }, adaptive, "Graph"},
		{func(c *Config) { c.Custom = edges("0 1\n1 0\n", 2) }, adaptive, "Graph"},
		{func(c *Config) { c.Every, c.MaxDelay = 0, -1 }, adaptive, "Every MaxDelay"},
		{func(c *Config) { c.Outer.Momentum = 1 }, adaptive, "OuterRate"},
		{func(c *Config) { c.Send, c.Outer = Gradients, outer.Config{Rate: 0.5} }, adaptive, "OuterRate"},
		{func(c *Config) { c.Send = Gradients }, adaptive, ""},
		{func(c *Config) { c.Graph, c.Send = "ring", Gradients }, adaptive, "Send"},
		{func(c *Config) { c.Graph, c.Send, c.Whole = "ring", Deltas, 4 }, adaptive, ""},
		{func(c *Config) { c.Format.Code = malt.F16 }, adaptive, "Compress"},
		{func(c *Config) { c.Format.Code = malt.F16 }, plain, ""},
		{func(c *Config) { c.Format.Top = 3 }, plain, "Compress"},
		{func(c *Config) { c.Format.Top, c.Send = 3, Gradients }, plain, ""},
	} {
		cfg := good
		c.change(&cfg)
		var fields []string
		for _, f := range slices.Concat(cfg.Faults(), cfg.Conflicts(4, c.rule)) {
			fields = append(fields, f.Field)
		}
		if !slices.Equal(fields, strings.Fields(c.want)) {
			t.Errorf("%+v: got faults of %v, want %q", cfg, fields, c.want)
		}
	}
}

func TestParseSend(t *testing.T) {
	for text, want := range map[string]struct {
		kind  Kind
		whole int
	}{"models": {Models, 0}, "gradients": {Gradients, 0}, "deltas": {Deltas, 0}, "deltas:8": {Deltas, 8}} {
		if kind, whole, err := ParseSend(text); kind != want.kind || whole != want.whole || err != nil {
			t.Errorf("%q: got %v, %d and %v, want %+v", text, kind, whole, err, want)
		}
	}
	for _, text := range []string{"", "model", "models:3", "gradients:2", "deltas:", "deltas:1", "deltas:x"} {
		if _, _, err := ParseSend(text); err == nil {
			t.Errorf("%q was accepted", text)
		}
	}
}

func TestParseFormat(t *testing.T) {
	for text, want := range map[string]malt.Format{"": {}, "f16": {Code: malt.F16}, "q8": {Code: malt.Q8}, "top:9": {Top: 9}} {
		if got, err := ParseFormat(text); got != want || err != nil {
			t.Errorf("%q: got %v and %v, want %v", text, got, err, want)
		}
	}
	for _, text := range []string{"f8", "top", "top:0", "top:-1"} {
		if _, err := ParseFormat(text); err == nil {
			t.Errorf("%q was accepted", text)
		}
	}
}

// Deltas of a sender that is as far ahead as the synchrony allows fit into its queue.
func TestDepthHoldsTheDeltasOfSSP(t *testing.T) {
	for sync, want := range map[string]int{"bsp": 0, "notify_ack": 0, "ssp:0": 4, "ssp:3": 8, "asp": 32} {
		if got := (Config{Sync: sync, Send: Deltas}).depth(); got != want {
			t.Errorf("%s: got %d, want %d", sync, got, want)
		}
	}
}

func TestTouchedIsASet(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		set := newTouched(200)
		var want []uint32
		for _, i := range rapid.SliceOf(rapid.Uint32Range(0, 199)).Draw(t, "weights") {
			if set.add(i); !slices.Contains(want, i) {
				want = append(want, i)
			}
		}
		if !slices.Equal(set.list, want) {
			t.Fatalf("got %v, want %v", set.list, want)
		}
		even := func(i uint32) bool { return i%2 == 0 }
		set.keep(even)
		for i := range uint32(200) {
			if got := set.has(i); got != (slices.Contains(want, i) && even(i)) {
				t.Fatalf("weight %d: got %v", i, got)
			}
		}
		if set.clear(); len(set.list) > 0 || slices.ContainsFunc(set.bits, func(w uint64) bool { return w != 0 }) {
			t.Fatal("the set is not empty")
		}
	})
}
