// SPDX-License-Identifier: Apache-2.0

package allreduce

import (
	"go/ast"
	"go/doc"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/gvw-project/gvw/allreduce/auth"
)

// environment is a lookup function over a map.
func environment(env map[string]string) func(string) (string, bool) {
	return func(name string) (string, bool) {
		value, ok := env[name]
		return value, ok
	}
}

func TestConfigFromTheEnvironment(t *testing.T) {
	least := map[string]string{"GVW_SPAN_SERVER": "gateway", "GVW_TOTAL": "4", "GVW_NODE": "3"}
	with := func(more ...string) map[string]string {
		env := map[string]string{}
		for name, value := range least {
			env[name] = value
		}
		for i := 0; i < len(more); i += 2 {
			env[more[i]] = more[i+1]
		}
		return env
	}
	for _, c := range []struct {
		name string
		env  map[string]string
		want Config
		err  string // "": none
	}{
		{"the least", least, Config{Server: "gateway", Total: 4, Rank: 3}, ""},
		{"a port", with("GVW_SPAN_SERVER_PORT", "99"), Config{Server: "gateway:99", Total: 4, Rank: 3}, ""},
		{"an IPv6 address and a port", with("GVW_SPAN_SERVER", "::1", "GVW_SPAN_SERVER_PORT", "99"), Config{Server: "[::1]:99", Total: 4, Rank: 3}, ""},
		{
			"everything",
			with("GVW_SPAN_SERVER", "gateway:1", "GVW_SPAN_SERVER_PORT", "99", "GVW_UNIQUE_ID", "18446744073709551615", "GVW_RUN_ID", "spam",
				"GVW_GENERATION", "2", "GVW_ON_LOSS", "wait", "GVW_BIND", "::1", "GVW_LAUNCHER_FD", "0"),
			Config{
				Server: "gateway:99", Total: 4, Rank: 3, Job: Job{UniqueID: 1<<64 - 1, RunKey: "spam"}, Generation: 2, OnLoss: Wait,
				Listen: "[::1]:0", ServerTimeout: 2 * time.Minute,
			},
			"",
		},
		{"empty variables", with("GVW_SPAN_SERVER_PORT", "", "GVW_ON_LOSS", "", "GVW_SECRET_FD", ""), Config{Server: "gateway", Total: 4, Rank: 3}, ""},
		{"nothing", nil, Config{}, "gvw run -n N -- PROGRAM"},
		{"no total and no rank", map[string]string{"GVW_SPAN_SERVER": "gateway"}, Config{}, "GVW_TOTAL: got \"\""},
		{"a rank that is no number", with("GVW_NODE", "x"), Config{}, `GVW_NODE: got "x"`},
		{"a rank outside the job", with("GVW_NODE", "4"), Config{}, "Rank: got 4, want 0 to Total-1 = 3"},
		{"a policy that does not exist", with("GVW_ON_LOSS", "retry"), Config{}, "want abort, wait, shrink or grow"},
		{"a descriptor that is no number", with("GVW_SECRET_FD", "x"), Config{}, "want the number of a file descriptor"},
	} {
		got, err := ConfigFromEnv(environment(c.env))
		if c.err == "" && err != nil || c.err != "" && (err == nil || !strings.Contains(err.Error(), c.err)) {
			t.Errorf("%s: got error %v, want %q", c.name, err, c.err)
		}
		if diff := cmp.Diff(c.want, got, cmpopts.IgnoreUnexported(Config{})); diff != "" {
			t.Errorf("%s (-want +got):\n%s", c.name, diff)
		}
	}
	if _, err := ConfigFromEnv(environment(nil)); err == nil || !strings.Contains(err.Error(), "GVW_SPAN_SERVER is not set: start the program by gvw run") {
		t.Errorf("without variables: got %v, want the name of the missing one", err)
	}
}

// The secret is passed by a descriptor, which other processes cannot read, and only once.
func TestSecretFromTheEnvironment(t *testing.T) {
	for server, loopback := range map[string]bool{"gateway": false, "10.0.0.1:7": false, "127.0.0.1": true, "127.0.0.1:7": true, "[::1]:7": true} {
		secretFromEnvironment(t, server, loopback)
	}
}

// secretFromEnvironment passes a secret to a rank. Frames need no tags if all connections are on the loopback interface.
func secretFromEnvironment(t *testing.T, server string, loopback bool) {
	t.Helper()
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	text := "a secret of many bytes"
	if _, err := w.WriteString(text); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	fd := int(r.Fd())
	env := environment(map[string]string{"GVW_SPAN_SERVER": server, "GVW_TOTAL": "1", "GVW_NODE": "0", "GVW_SECRET_FD": strconv.Itoa(fd)})
	got, err := ConfigFromEnv(env)
	_ = r.Close() // its descriptor is closed already
	if err != nil {
		t.Fatal(err)
	}
	want, err := auth.NewSecret([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	if *got.Credentials.Secret != *want || got.NoTags != loopback {
		t.Errorf("server %s: got another secret than was written, or NoTags %v, want %v", server, got.NoTags, loopback)
	}
}

func TestServerWithoutAPort(t *testing.T) {
	for server, want := range map[string]string{
		"gateway": "gateway:26543", "gateway:1": "gateway:1", "gateway:": "gateway:26543", "127.0.0.1": "127.0.0.1:26543",
		"::1": "[::1]:26543", "[::1]": "[::1]:26543", "[::1]:7": "[::1]:7",
	} {
		c := Config{Server: server, Total: 1}
		if err := c.Validate(); err != nil {
			t.Errorf("%q: %v", server, err)
		}
		if got := c.withDefaults().Server; got != want {
			t.Errorf("Server %q: got %q, want %q", server, got, want)
		}
	}
	for _, server := range []string{"", ":26543", "a:b:c"} {
		if err := (Config{Server: server, Total: 1}).Validate(); err == nil || !strings.Contains(err.Error(), "want host or host:port") {
			t.Errorf("Server %q: got error %v", server, err)
		}
	}
}

// go doc abbreviates a group of constants to the first one, so the type's own comment
// explains each.
func TestTypesDocumentTheirConstants(t *testing.T) {
	p := documentation(t)
	types := map[string][]string{"OnLoss": {"Abort", "Wait", "Shrink"}, "Transport": {"TransportTCP", "TransportVerbs", "TransportAuto"}}
	for _, typ := range p.Types {
		want := types[typ.Name]
		delete(types, typ.Name)
		var names []string
		for _, c := range typ.Consts {
			names = append(names, c.Names...)
		}
		for _, name := range want {
			if !slices.Contains(names, name) {
				t.Errorf("go doc %s does not list %s", typ.Name, name)
			}
			if !strings.Contains(typ.Doc, "- ["+name+"] ") {
				t.Errorf("the comment of %s does not explain %s", typ.Name, name)
			}
		}
	}
	if len(types) > 0 {
		t.Errorf("types not found: %v", types)
	}
}

// documentation returns the package as go doc sees it.
func documentation(t *testing.T) *doc.Package {
	t.Helper()
	fset := token.NewFileSet()
	files, err := filepath.Glob("*.go")
	if err != nil {
		t.Fatal(err)
	}
	var parsed []*ast.File
	for _, name := range files {
		f, err := parser.ParseFile(fset, name, nil, parser.ParseComments)
		if err != nil {
			t.Fatal(err)
		}
		parsed = append(parsed, f)
	}
	p, err := doc.NewFromFiles(fset, parsed, "github.com/gvw-project/gvw/allreduce")
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// TestTypesDocumentTheirFields: go doc shows no fields of a type that is declared in an internal
// package, so the comments list them.
func TestTypesDocumentTheirFields(t *testing.T) {
	comments := map[string]string{}
	for _, typ := range documentation(t).Types {
		comments[typ.Name] = typ.Doc
	}
	for name, v := range map[string]any{
		"Where": Where{}, "LostError": LostError{}, "DeadlineError": DeadlineError{}, "MismatchError": MismatchError{},
		"InterruptedError": InterruptedError{}, "Job": Job{}, "Shard": Shard{}, "Progress": Progress{}, "RefusedError": RefusedError{},
		"FinishedError": FinishedError{}, "ExcludedError": ExcludedError{}, "StartError": StartError{}, "ServerError": ServerError{},
		"Owner": Owner{}, "Point": Point{},
	} {
		for _, f := range reflect.VisibleFields(reflect.TypeOf(v)) {
			listed := regexp.MustCompile(`(?m)^\t(\w+, )*` + f.Name + `(,| )`)
			if f.IsExported() && !listed.MatchString(comments[name]) {
				t.Errorf("the comment of %s does not list the field %s:\n%s", name, f.Name, comments[name])
			}
		}
	}
}
