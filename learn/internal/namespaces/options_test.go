// SPDX-License-Identifier: Apache-2.0

package namespaces

import (
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/gvw-project/gvw/learn/internal/usage"
	"github.com/gvw-project/gvw/model"
)

// The expected options are those in models that vw 9.11.9 wrote.
func TestNamespaceOptionsAreKeptAsVWKeepsThem(t *testing.T) {
	for _, c := range []struct {
		vw string
		n  Options
	}{
		{" --ignore ab --keep k", Options{Ignore: []string{"b", "a", "b"}, Keep: []string{"k"}}},
		{" --ignore ab --ignore_linear k", Options{Ignore: []string{"a", "b"}, IgnoreLinear: []string{"k"}}},
		{" --redefine b:=a --redefine x:=", Options{Redefine: []string{"b:=a", "x:="}, NGrams: []string{"2"}}},
		{" --cubic aab --interactions abk --interactions ak --interactions ab --quadratic ab --quadratic ab", Options{Quadratic: []string{"ab", "ab"}, Cubic: []string{"aab"}, Interactions: []string{"abk", "ak", "ab"}}},
		{" --affix +1,-2a --spelling a --spelling b --spelling _", Options{Affix: "+1,-2a", Spelling: []string{"a", "b", "_"}}},
		{" --chain_hash", Options{ChainHash: true, Limits: []string{"a1"}, Permutations: true, LeaveDuplicates: true}},
		// vw keeps a blank as it is, and cannot read it back.
		{` --quadratic \x20a --ignore \x20b`, Options{Quadratic: []string{" a"}, Ignore: []string{"b "}}},
	} {
		if diff := cmp.Diff(c.vw, string(model.AppendOptions(nil, c.n.Model()))); diff != "" {
			t.Errorf("%+v (-want +got):\n%s", c.n, diff)
		}
	}
}

// As vw 9.11.9: lists of the command line come before the model's, interactions
// replace it, --affix must agree.
func TestNamespaceOptionsWithThoseOfAModel(t *testing.T) {
	options, err := model.ParseOptions(" --affix +1 --cubic abc --interactions abcd --quadratic ab --redefine b:=k --spelling a --ignore a")
	if err != nil {
		t.Fatal(err)
	}
	h := &model.Header{Options: options, NGrams: []string{"b2"}, Skips: []string{"1"}}
	all := Options{
		Affix: "+1", Quadratic: []string{"ab"}, Cubic: []string{"abc"}, Interactions: []string{"abcd"}, Redefine: []string{"b:=k"},
		Spelling: []string{"a"}, Ignore: []string{"a"}, NGrams: []string{"b2"}, Skips: []string{"1"},
	}
	with := func(change func(n *Options)) Options {
		n := all
		change(&n)
		return n
	}
	for _, c := range []struct {
		name        string
		given, want Options
	}{
		{"nothing given", Options{}, all},
		{"lists", Options{Ignore: []string{"b"}, NGrams: []string{"b3"}, Redefine: []string{"b:=a"}, Spelling: []string{"b"}}, with(func(n *Options) {
			n.Ignore, n.NGrams, n.Redefine, n.Spelling = []string{"b", "a"}, []string{"b3", "b2"}, []string{"b:=a", "b:=k"}, []string{"b", "a"}
		})},
		{"interactions", Options{Quadratic: []string{"aa"}, Affix: "+1"}, with(func(n *Options) {
			n.Quadratic, n.Cubic, n.Interactions = []string{"aa"}, nil, nil
		})},
		{"not kept", Options{Permutations: true, Limits: []string{"3"}}, with(func(n *Options) {
			n.Permutations, n.Limits = true, []string{"3"}
		})},
	} {
		if err := c.given.Take("m", h); err != nil {
			t.Errorf("%s: %v", c.name, err)
		}
		if diff := cmp.Diff(c.want, c.given); diff != "" {
			t.Errorf("%s (-want +got):\n%s", c.name, diff)
		}
	}
	for want, n := range map[string]Options{
		"Disagreeing option values for 'affix': '+2' vs '+1' (of m)": {Affix: "+2"},
	} {
		var fault *usage.Error
		if err := n.Take("m", h); !errors.As(err, &fault) || !strings.Contains(err.Error(), want) {
			t.Errorf("got %v, want %s", err, want)
		}
	}
}
