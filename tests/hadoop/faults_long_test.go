// SPDX-License-Identifier: Apache-2.0

//go:build long

package hadoop

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// A fault that appears only in a running job ends it soon, with a clear message on the gateway.
func TestFaultsOfARunningJob(t *testing.T) {
	in := smallInput(t)
	c := hadoop(t)
	put := func(name string, content string) {
		t.Helper()
		if err := c.Put(t.Context(), name, []byte(content)); err != nil {
			t.Fatal(err)
		}
	}
	run := func(name string, args ...string) {
		t.Helper()
		if out, err := c.Command(t.Context(), name, args...).CombinedOutput(); err != nil {
			t.Fatalf("%s %v: %v\n%s", name, args, err, out)
		}
	}
	for r := range 4 {
		put(fmt.Sprint("/in-empty/part.", r), "")
		put(fmt.Sprint("/in-unlabelled/part.", r), strings.Repeat("1 |a x y\n-1 |a z\n", 40-r))
	}
	put("/in-unlabelled/part.3", "|a x\n|a y z\n")
	for _, k := range []struct {
		name string
		in   string
		args []string
		code int
		want []string
	}{
		{
			name: "more maps than the cluster has room for", in: in.hdfs, args: []string{"--memory", "1200", "--force", "--timeout", "8s", "--attempts", "1"},
			code: 3, want: []string{"of 4 ranks have joined, missing rank"},
		},
		{
			name: "the server is not where the ranks look for it", in: in.hdfs,
			args: []string{"-D", "gvw.span_server_port=1", "--timeout", "5s", "--attempts", "1"}, code: 3, want: []string{"cannot join a job with the server 127.0.0.1:1"},
		},
		{name: "a container that is too small", in: in.hdfs, args: []string{"-b", "24", "--hybrid", "1:5", "--attempts", "1"}, code: 3, want: []string{"a container of 256 MB leaves", "mapreduce.map.memory.mb="}},
		{name: "an input without examples", in: "/in-empty", args: append(hybrid(), "--attempts", "1"), code: 3, want: []string{"rank "}},
	} {
		t.Run(k.name, func(t *testing.T) {
			args := k.args
			if !slices.Contains(args, "--hybrid") {
				args = append(hybrid(), args...)
			}
			s := submit(t, k.in, args...)
			s.wait(k.code)
			s.said(k.want...)
		})
	}
	t.Run("one map without a labelled example", func(t *testing.T) {
		s := submit(t, "/in-unlabelled", hybrid()...)
		s.wait(0)
	})
	t.Run("a quota", func(t *testing.T) {
		run("hadoop", "fs", "-mkdir", "-p", "/narrow")
		run("hdfs", "dfsadmin", "-setSpaceQuota", "1", "/narrow")
		defer run("hdfs", "dfsadmin", "-clrSpaceQuota", "/narrow")
		s := submitTo(t, filepath.Join(shared.programs, "gvw"), "/narrow/out", in.hdfs, append(hybrid(), "--attempts", "1")...)
		s.wait(3)
		s.said("uota")
	})
	t.Run("permission denied", func(t *testing.T) {
		run("hadoop", "fs", "-mkdir", "-p", "/locked")
		run("hadoop", "fs", "-chmod", "755", "/locked")
		s := submitAs(t, "eve", filepath.Join(shared.programs, "gvw"), "/locked/out", in.hdfs, hybrid()...)
		s.wait(5)
		s.said("Permission denied", "eve", "/locked")
	})
	t.Run("safe mode", func(t *testing.T) {
		run("hdfs", "dfsadmin", "-safemode", "enter")
		defer run("hdfs", "dfsadmin", "-safemode", "leave")
		s := submit(t, in.hdfs, hybrid()...)
		s.wait(5)
		s.said("safe mode")
	})
}
