// SPDX-License-Identifier: Apache-2.0

package deptest

import (
	"go/ast"
	"go/token"
	"go/types"
	"maps"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// finder finds the waits of one function.
type finder struct {
	function
	kinds map[string]int // number of waits by kind
}

// waitsOf returns the kinds of wait in a function that no deadline of its own bounds.
func waitsOf(f function) map[string]int {
	w := finder{f, map[string]int{}}
	ast.Inspect(f.decl.Body, w.node)
	return w.kinds
}

func (w *finder) node(n ast.Node) bool {
	switch n := n.(type) {
	case *ast.SelectStmt:
		if !w.bounded(n) {
			w.kinds["select"]++
		}
		for _, c := range n.Body.List { // the communications are part of the select
			for _, s := range c.(*ast.CommClause).Body {
				ast.Inspect(s, w.node)
			}
		}
		return false
	case *ast.SendStmt:
		w.kinds["send"]++
	case *ast.UnaryExpr:
		if n.Op == token.ARROW && !w.ticks(n.X) {
			w.kinds["receive"]++
		}
	case *ast.RangeStmt:
		if _, ok := w.pkg.info.TypeOf(n.X).Underlying().(*types.Chan); ok {
			w.kinds["range"]++
		}
	case *ast.CallExpr:
		if kind := waitingCalls[w.called(n)]; kind != "" {
			w.kinds[kind]++
		}
	}
	return true
}

// bounded reports whether a select ends without other goroutines: it has a default, or a case of
// a timer.
func (w *finder) bounded(s *ast.SelectStmt) bool {
	for _, c := range s.Body.List {
		bounded := c.(*ast.CommClause).Comm == nil
		if comm := c.(*ast.CommClause).Comm; comm != nil {
			ast.Inspect(comm, func(n ast.Node) bool {
				if u, ok := n.(*ast.UnaryExpr); ok && u.Op == token.ARROW {
					bounded = bounded || w.ticks(u.X)
				}
				return true
			})
		}
		if bounded {
			return true
		}
	}
	return false
}

// ticks reports whether an expression is the channel of a timer.
func (w *finder) ticks(e ast.Expr) bool {
	c, ok := w.pkg.info.TypeOf(e).Underlying().(*types.Chan)
	return ok && types.TypeString(c.Elem(), nil) == "time.Time"
}

// called returns the full name of the function that is called, or "" for a function value.
func (w *finder) called(call *ast.CallExpr) string {
	if f := w.pkg.callee(call); f != nil {
		return f.FullName()
	}
	return ""
}

// waitingCalls maps functions that wait for goroutines, processes or connections to kinds of waits.
var waitingCalls = map[string]string{
	"(*sync.WaitGroup).Wait":        "join",
	"(*sync.Cond).Wait":             "cond",
	"(*os/exec.Cmd).Wait":           "process",
	"(*os/exec.Cmd).Run":            "process",
	"(*os/exec.Cmd).Output":         "process",
	"(*os/exec.Cmd).CombinedOutput": "process",
	"(*os.Process).Wait":            "process",
	"net.Dial":                      "dial",
	"(*net.Dialer).Dial":            "dial",
	"(*net.Dialer).DialContext":     "dial",
	"(net.Listener).Accept":         "accept",
	"(*net.TCPListener).Accept":     "accept",
	"(*net/http.Client).Do":         "dial",
	"(*crypto/tls.Conn).Handshake":  "dial",
	"(github.com/gvw-project/gvw/allreduce/transport.Network).Dial": "dial",
}

// waiting are the packages whose waits are in the table.
var waiting = []string{"./allreduce/...", "./learn/...", "./hdfsio/...", "./cmd/...", "./internal/...", "./feature/..."}

// Every wait without a timer of its own is in the table: with its deadline and
// the text that is shown, or with the reason why it needs no deadline.
func TestEveryWaitHasANameAndADeadline(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("the table has the waits on Linux")
	}
	all := functions(typedPackages(t, waiting...))
	effects := findEffects(all)
	found := map[string]int{}
	for _, f := range all {
		if f.pkg.dir == "hdfsio/fstest" { // tests, for several packages
			continue
		}
		for kind, n := range waitsOf(f) {
			found[f.name+" "+kind] += n
		}
		if n := effects.locksAroundIO(f); n > 0 {
			found[f.name+" lock"] += n
		}
	}
	for _, at := range slices.Sorted(maps.Keys(found)) {
		switch w, known := waits[at]; {
		case !known:
			t.Errorf("%s (%d): a wait without a timer: give it a deadline, or a row in waits (waits_table_test.go) with the reason why it ends", at, found[at])
		case max(w.n, 1) != found[at]:
			t.Errorf("%s: got %d waits, but the row in waits has %d: check all of them, and correct the row", at, found[at], max(w.n, 1))
		}
	}
	for _, at := range slices.Sorted(maps.Keys(waits)) {
		if found[at] == 0 {
			t.Errorf("waits has a row for %s, which has no wait: remove the row", at)
		}
	}
}

// Deadlines in the table are names of constants and fields in the code, and the texts for users
// are parts of string literals.
func TestWaitsNameWhatExists(t *testing.T) {
	names, texts := map[string]bool{}, []string{}
	for _, s := range allSources(t) {
		if s.test {
			continue
		}
		ast.Inspect(s.file, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.Ident:
				names[n.Name] = true
			case *ast.BasicLit:
				if n.Kind == token.STRING {
					texts = append(texts, n.Value)
				}
			}
			return true
		})
	}
	for at, w := range waits {
		timed := w.ends == deadline || w.ends == short
		if timed == (len(w.by) == 0) || (w.ends == deadline) != (w.shown != "") || !timed && w.why == "" {
			t.Errorf("%s: a deadline has names in by and a text in shown, a short wait has names, all others have a reason: %+v", at, w)
		}
		for name := range strings.FieldsSeq(w.by) {
			if !names[name] {
				t.Errorf("%s: %s is not an identifier in the code", at, name)
			}
		}
		if w.shown != "" && !slices.ContainsFunc(texts, func(text string) bool { return strings.Contains(text, w.shown) }) {
			t.Errorf("%s: no string in the code has %q", at, w.shown)
		}
	}
}

// The finder finds each kind of wait, and ignores waits that a timer or a default ends.
func TestWaitsAreFound(t *testing.T) {
	const text = `package p

import ("context"; "net"; "os"; "sync"; "time")

type T struct { mu sync.Mutex; c chan int; wg sync.WaitGroup; cond *sync.Cond; l net.Listener; f *os.File }

func (t *T) receive() { <-t.c }
func (t *T) send() { t.c <- 1 }
func (t *T) ranges() { for range t.c {} }
func (t *T) selects(ctx context.Context) { select { case <-t.c: case <-ctx.Done(): } }
func (t *T) joins() { t.wg.Wait() }
func (t *T) conds() { t.cond.Wait() }
func (t *T) accepts() { t.l.Accept() }
func (t *T) dials(ctx context.Context) { new(net.Dialer).DialContext(ctx, "tcp", "h:1") }
func (t *T) locks() { t.mu.Lock(); defer t.mu.Unlock(); t.flush() }
func (t *T) flush() { t.f.Sync() }
func (t *T) locksAround() { t.mu.Lock(); t.receive(); t.mu.Unlock() }

func (t *T) sleeps() { <-time.After(time.Second) }
func (t *T) bounded() { select { case <-t.c: case <-time.After(time.Second): } }
func (t *T) tries() { select { case <-t.c: default: } }
func (t *T) locksShort() { t.mu.Lock(); t.c = nil; t.mu.Unlock(); t.flush() }
func (t *T) locksApart() { t.mu.Lock(); defer t.mu.Unlock(); go t.flush() }
`
	p := check(t, text)
	all := functions([]*typed{p})
	effects := findEffects(all)
	got := map[string][]string{}
	for _, f := range all {
		kinds := slices.Sorted(maps.Keys(waitsOf(f)))
		if effects.locksAroundIO(f) > 0 {
			kinds = append(kinds, "lock")
		}
		if len(kinds) > 0 {
			got[f.decl.Name.Name] = kinds
		}
	}
	want := map[string][]string{
		"receive": {"receive"}, "send": {"send"}, "ranges": {"range"}, "selects": {"select"}, "joins": {"join"}, "conds": {"cond"},
		"accepts": {"accept"}, "dials": {"dial"}, "locks": {"lock"}, "locksAround": {"lock"},
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
}
