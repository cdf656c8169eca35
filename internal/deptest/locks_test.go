// SPDX-License-Identifier: Apache-2.0

package deptest

import (
	"go/ast"
	"go/types"
	"slices"
	"strings"
)

// effects has the functions of this module that read, write or wait, directly or in a
// function that they call. Calls of function values are not followed.
type effects map[string]bool

// findEffects propagates reads, writes and waits from called functions to their callers.
func findEffects(all []function) effects {
	e := effects{}
	callers := map[string][]string{}
	var unseen []string
	for _, f := range all {
		name := f.pkg.info.Defs[f.decl.Name].(*types.Func).FullName()
		direct := len(waitsOf(f)) > 0
		calls(f.decl.Body, func(c *ast.CallExpr) {
			if callee := f.pkg.callee(c); callee != nil {
				callers[callee.FullName()] = append(callers[callee.FullName()], name)
				direct = direct || transfers(callee)
			}
		})
		if direct {
			unseen = append(unseen, name)
		}
	}
	for len(unseen) > 0 {
		name := unseen[len(unseen)-1]
		unseen = unseen[:len(unseen)-1]
		if !e[name] {
			e[name] = true
			unseen = append(unseen, callers[name]...)
		}
	}
	return e
}

// calls visits the calls in a body, except those in go statements, which another goroutine makes.
func calls(body ast.Node, visit func(*ast.CallExpr)) {
	ast.Inspect(body, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.GoStmt:
			return false
		case *ast.CallExpr:
			visit(n)
		}
		return true
	})
}

// transfers reports whether a function of another module, or a method of an
// interface, may wait for a file, a connection or a process.
func transfers(f *types.Func) bool {
	if f.Pkg() == nil {
		return false
	}
	switch f.Pkg().Path() {
	case "os":
		return !slices.Contains(memoryOnly, f.Name())
	case "io", "io/fs", "net", "crypto/tls", "net/http", "os/exec":
		recv := f.Signature().Recv()
		if f.Pkg().Path() == "net" && f.Name() == "Close" {
			return false // the system closes a connection in the background
		}
		return slices.Contains(transferring, f.Name()) && (recv == nil || !strings.Contains(recv.Type().String(), "Addr"))
	}
	recv := f.Signature().Recv()
	return recv != nil && types.IsInterface(recv.Type()) && slices.Contains(transferring, f.Name())
}

// memoryOnly are the functions of os that touch no file.
var memoryOnly = []string{"Getpid", "Getenv", "Geteuid", "Getuid", "IsNotExist", "IsExist", "Exit", "Name", "Fd", "Error", "Unwrap", "Size", "NewFile", "NewSyscallError", "Environ", "Timeout", "Mode", "IsDir", "ModTime", "IsRegular", "Perm", "Signal", "Kill", "FindProcess", "Getpagesize", "String", "Release", "Sys"}

// transferring are the names of methods and functions that read or write.
var transferring = []string{
	"Read", "ReadAt", "ReadFull", "ReadAll", "ReadFrom", "Write", "WriteTo", "WriteString", "Copy", "CopyN", "Close", "CloseWrite",
	"Open", "Create", "CreateNow", "CreateNew", "Stat", "List", "Remove", "Rename", "Mkdir", "Sync", "Commit", "CommitNew", "Abort",
	"Dial", "DialContext", "Listen", "Accept", "Do", "Save", "Load", "Start", "Run", "Wait",
}

// locksAroundIO counts, for a function, the locks that are held over something that
// reads, writes or waits.
func (e effects) locksAroundIO(f function) (n int) {
	ast.Inspect(f.decl.Body, func(node ast.Node) bool {
		block, ok := node.(*ast.BlockStmt)
		if !ok {
			return true
		}
		for i, s := range block.List {
			held := f.lockIn(s, "Lock", "RLock")
			if held == "" {
				continue
			}
			region := block.List[i+1:]
			for j, s := range region {
				if f.lockIn(s, "Unlock", "RUnlock") == held {
					region = region[:j]
					break
				}
			}
			if slices.ContainsFunc(region, func(s ast.Stmt) bool { return e.in(f, s) }) {
				n++
			}
		}
		return true
	})
	return n
}

// lockIn returns the lock that a statement takes or gives back; "": none.
func (f function) lockIn(s ast.Stmt, names ...string) string {
	x, ok := s.(*ast.ExprStmt)
	if !ok {
		return ""
	}
	call, ok := x.X.(*ast.CallExpr)
	if !ok {
		return ""
	}
	callee := f.pkg.callee(call)
	if callee == nil || callee.Pkg() == nil || callee.Pkg().Path() != "sync" || !slices.Contains(names, callee.Name()) {
		return ""
	}
	return types.ExprString(call.Fun.(*ast.SelectorExpr).X)
}

// in reports whether a statement reads, writes or waits.
func (e effects) in(f function, s ast.Stmt) bool {
	w := finder{f, map[string]int{}}
	found := false
	ast.Inspect(s, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.GoStmt, *ast.FuncLit:
			return false
		case *ast.CallExpr:
			if callee := f.pkg.callee(n); callee != nil && (e[callee.FullName()] || transfers(callee)) {
				found = true
			}
		}
		return w.node(n)
	})
	return found || len(w.kinds) > 0
}
