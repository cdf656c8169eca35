// SPDX-License-Identifier: Apache-2.0

package learn

import (
	"io"
	"strings"
	"testing"

	"github.com/gvw-project/gvw/allreduce"
)

// A process that joins before it knows its inputs, such as a spare, has the options of a rank with inputs, also those that come
// from files.
func TestEarlyOptionsAreThoseOfARank(t *testing.T) {
	var out files
	kept := trainConfig(&out, "m")
	kept.Features.Namespaces.Dictionary = []string{"f:words"}
	if _, err := Run(t.Context(), kept); err != nil {
		t.Fatal(err)
	}
	for name, change := range map[string]func(*Config){
		"dictionary":            func(c *Config) { c.Features.Namespaces.Dictionary = []string{"words", "f:words"} },
		"dictionary of a model": func(c *Config) { c.Model.Initial = "m" },
	} {
		t.Run(name, func(t *testing.T) {
			c := trainConfig(&out, "n")
			c.Cluster.Join = &allreduce.Config{Total: 2, Server: "localhost:1"}
			change(&c)
			early, err := c.earlyConfig()
			if err != nil {
				t.Fatal(err)
			}
			r, err := newRunner(c.withDefaults())
			if err != nil {
				t.Fatal(err)
			}
			defer r.close()
			if want := r.cfg.member(r.rule).Options; early.Options != want || !strings.Contains(want, "dictionary=") {
				t.Errorf("got  %s\nwant %s", early.Options, want)
			}
		})
	}
}

// trainConfig returns a configuration that trains a model in out, from whose files and a dictionary it also reads.
func trainConfig(out *files, model string) Config {
	c := Config{Data: DataConfig{Inputs: []Input{textInput("text", randomText(20))}}, Diagnostics: DiagnosticsConfig{Writer: io.Discard}}
	c.Model.Final, c.Output.Create = model, out.create
	c.Model.Open = func(name string) (io.ReadCloser, error) {
		if name == "words" {
			return io.NopCloser(strings.NewReader("w1 :0.5\nw2 a b:2\n")), nil
		}
		return io.NopCloser(strings.NewReader(string(out.m[name]))), nil
	}
	return c
}
