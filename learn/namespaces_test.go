// SPDX-License-Identifier: Apache-2.0

package learn

import (
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/gvw-project/gvw/model"
)

// The expected options are those in models that vw 9.11.9 wrote.
func TestNamespaceOptionsAreKeptAsVWKeepsThem(t *testing.T) {
	for _, c := range []struct {
		vw string
		n  Namespaces
	}{
		{" --ignore ab --keep k", Namespaces{Ignore: []string{"b", "a", "b"}, Keep: []string{"k"}}},
		{" --ignore ab --ignore_linear k", Namespaces{Ignore: []string{"a", "b"}, IgnoreLinear: []string{"k"}}},
		{" --redefine b:=a --redefine x:=", Namespaces{Redefine: []string{"b:=a", "x:="}, NGrams: []string{"2"}}},
		{" --cubic aab --interactions abk --interactions ak --interactions ab --quadratic ab --quadratic ab", Namespaces{Quadratic: []string{"ab", "ab"}, Cubic: []string{"aab"}, Interactions: []string{"abk", "ak", "ab"}}},
		{" --affix +1,-2a --spelling a --spelling b --spelling _", Namespaces{Affix: "+1,-2a", Spelling: []string{"a", "b", "_"}}},
		{" --chain_hash", Namespaces{ChainHash: true, Limits: []string{"a1"}, Permutations: true, LeaveDuplicates: true}},
		// vw keeps a blank as it is, and cannot read it back.
		{` --quadratic \x20a --ignore \x20b`, Namespaces{Quadratic: []string{" a"}, Ignore: []string{"b "}}},
	} {
		if diff := cmp.Diff(c.vw, string(model.AppendOptions(nil, c.n.modelOptions()))); diff != "" {
			t.Errorf("%+v (-want +got):\n%s", c.n, diff)
		}
	}
}

// As vw 9.11.9: lists of the command line come before the model's, interactions
// replace it, --affix must agree.
func TestNamespaceOptionsMeetThoseOfAModel(t *testing.T) {
	options, err := model.ParseOptions(" --affix +1 --cubic abc --interactions abcd --quadratic ab --redefine b:=k --spelling a --ignore a")
	if err != nil {
		t.Fatal(err)
	}
	h := &model.Header{Options: options, NGrams: []string{"b2"}, Skips: []string{"1"}}
	all := Namespaces{
		Affix: "+1", Quadratic: []string{"ab"}, Cubic: []string{"abc"}, Interactions: []string{"abcd"}, Redefine: []string{"b:=k"},
		Spelling: []string{"a"}, Ignore: []string{"a"}, NGrams: []string{"b2"}, Skips: []string{"1"},
	}
	with := func(change func(n *Namespaces)) Namespaces {
		n := all
		change(&n)
		return n
	}
	for _, c := range []struct {
		name        string
		given, want Namespaces
	}{
		{"nothing given", Namespaces{}, all},
		{"lists", Namespaces{Ignore: []string{"b"}, NGrams: []string{"b3"}, Redefine: []string{"b:=a"}, Spelling: []string{"b"}}, with(func(n *Namespaces) {
			n.Ignore, n.NGrams, n.Redefine, n.Spelling = []string{"b", "a"}, []string{"b3", "b2"}, []string{"b:=a", "b:=k"}, []string{"b", "a"}
		})},
		{"interactions", Namespaces{Quadratic: []string{"aa"}, Affix: "+1"}, with(func(n *Namespaces) {
			n.Quadratic, n.Cubic, n.Interactions = []string{"aa"}, nil, nil
		})},
		{"not kept", Namespaces{Permutations: true, Limits: []string{"3"}}, with(func(n *Namespaces) {
			n.Permutations, n.Limits = true, []string{"3"}
		})},
	} {
		if err := c.given.take("m", h); err != nil {
			t.Errorf("%s: %v", c.name, err)
		}
		if diff := cmp.Diff(c.want, c.given); diff != "" {
			t.Errorf("%s (-want +got):\n%s", c.name, diff)
		}
	}
	for want, n := range map[string]Namespaces{
		"Disagreeing option values for 'affix': '+2' vs '+1' (of m)": {Affix: "+2"},
	} {
		var fault *UsageError
		if err := n.take("m", h); !errors.As(err, &fault) || !strings.Contains(err.Error(), want) {
			t.Errorf("got %v, want %s", err, want)
		}
	}
}
