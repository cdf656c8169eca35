// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

func TestContextHasTypedValues(t *testing.T) {
	flags := &FlagSet{Specs: []*Spec{
		{Name: "flag"},
		{Name: "word", Kind: Text},
		{Name: "words", Kind: List},
		{Name: "again", Kind: Text, Repeat: true},
		{Name: "count", Kind: Integer},
		{Name: "rate", Kind: Float},
		{Name: "wait", Kind: Duration},
	}}
	type values struct {
		Flag         bool
		Word         string
		Words, Again []string
		Count        uint64
		Rate         float64
		Wait         time.Duration
	}
	for _, c := range []struct {
		args []string
		want values
	}{
		{},
		{[]string{"--flag", "--word", "x"}, values{Flag: true, Word: "x"}},
		{[]string{"--words", "a", "b", "--words", "c"}, values{Words: []string{"a", "b", "c"}}},
		{[]string{"--again", "a", "--again", "b"}, values{Again: []string{"a", "b"}}},
		{[]string{"--count", "007", "--rate", "1e-1", "--wait", "90"}, values{Count: 7, Rate: 0.1, Wait: 90 * time.Second}},
	} {
		s, err := Parse(flags, c.args, nil, nil)
		if err != nil {
			t.Fatal(err)
		}
		err = s.Dispatch(t.Context(), func(c2 *Context) error {
			got := values{
				c2.Bool("flag"), c2.String("word"), c2.StringSlice("words"), c2.StringSlice("again"),
				c2.Uint64("count"), c2.Float64("rate"), c2.Duration("wait"),
			}
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Errorf("%q (-want +got):\n%s", c.args, diff)
			}
			if c2.String("absent") != "" || c2.IsSet("absent") {
				t.Errorf("%q: an option that the command does not have has a value", c.args)
			}
			return nil
		})
		if err != nil {
			t.Error(err)
		}
	}
}

// A value read as another kind is a fault of the program.
func TestContextRefusesOtherKinds(t *testing.T) {
	s := &Settings{Flags: &FlagSet{Specs: []*Spec{{Name: "count", Kind: Integer}}}}
	c := &Context{t.Context(), s}
	for name, read := range map[string]func(){
		"Bool":        func() { c.Bool("count") },
		"String":      func() { c.String("count") },
		"StringSlice": func() { c.StringSlice("count") },
		"Float64":     func() { c.Float64("count") },
	} {
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("%s of an integer option does not panic", name)
				}
			}()
			read()
		}()
	}
}
