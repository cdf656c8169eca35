// SPDX-License-Identifier: Apache-2.0

package deptest

import (
	"fmt"
	"go/ast"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

var (
	// named is `path/file.go` followed by its functions, methods or types,
	// each in backquotes: `feature/parser.go` `Parser.AppendLine`, `NewParser`.
	named = regexp.MustCompile("`([a-z0-9_/.-]+\\.go)`((?:[\\s,]+(?:and\\s+)?`[A-Za-z0-9_.]+`)*)")
	quote = regexp.MustCompile("`([A-Za-z0-9_.]+)`")
	// word is an identifier in backquotes, with or without its type or package.
	word = regexp.MustCompile("`([A-Za-z]\\w*(?:\\.[A-Za-z]\\w*)?)`")
	// environment is the name of an environment variable.
	environment = regexp.MustCompile(`^[A-Z0-9]+(_[A-Z0-9]+)+$`)
	// pythonName is the definition of a class or a function of Python.
	pythonName = regexp.MustCompile(`(?m)^ *(?:class|def) (\w+)`)
	// link is [text](target) within the repository.
	link = regexp.MustCompile(`\]\(([^)#:]+)(#[^)]*)?\)`)
)

// otherNames are names of other programs, formats and messages in documents.
var otherNames = map[string]string{
	"GOMAXPROCS":           "an environment variable of the Go runtime",
	"KRB5CCNAME":           "an environment variable of Kerberos",
	"LogisticRegression":   "a class of scikit-learn",
	"PATH":                 "an environment variable of every shell",
	"TMPDIR":               "an environment variable of every shell",
	"WELCOME":              "a message of the handshake, which has no type in Go",
	"False":                "a constant of Python",
	"OneVsRestClassifier":  "a class of scikit-learn",
	"RANK":                 "an environment variable of torchrun",
	"SGDClassifier":        "a class of scikit-learn",
	"True":                 "a constant of Python",
	"ValueError":           "an exception of Python",
	"backoffLimitPerIndex": "a field of a Kubernetes job",
	"fs.defaultFS":         "a property of Hadoop",
}

// documents returns the Markdown files: at the top, in docs/, and beside code.
func documents(t *testing.T) map[string]string {
	t.Helper()
	docs := map[string]string{}
	for _, pattern := range []string{"*.md", "docs/*.md", "bench/*.md", "quickstart/*.md"} {
		paths, err := filepath.Glob(filepath.Join(root, filepath.FromSlash(pattern)))
		if err != nil {
			t.Fatal(err)
		}
		for _, path := range paths {
			text, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			rel, err := filepath.Rel(root, path)
			if err != nil {
				t.Fatal(err)
			}
			docs[filepath.ToSlash(rel)] = string(text)
		}
	}
	return docs
}

// declared returns what each file declares at its top level: names of
// functions and types, methods as Type.Method, and fields of structs and
// methods of interfaces likewise.
func declared(t *testing.T) map[string]map[string]bool {
	t.Helper()
	all := map[string]map[string]bool{}
	for _, s := range allSources(t) {
		names := map[string]bool{}
		for _, d := range s.file.Decls {
			switch d := d.(type) {
			case *ast.FuncDecl:
				name := d.Name.Name
				if d.Recv != nil {
					name = receiver(d.Recv.List[0].Type) + "." + name
				}
				names[name] = true
			case *ast.GenDecl:
				for _, spec := range d.Specs {
					switch spec := spec.(type) {
					case *ast.TypeSpec:
						names[spec.Name.Name] = true
						for _, member := range members(spec.Type) {
							names[spec.Name.Name+"."+member] = true
						}
					case *ast.ValueSpec:
						for _, n := range spec.Names {
							names[n.Name] = true
						}
					}
				}
			}
		}
		all[s.path] = names
	}
	modules, err := filepath.Glob(filepath.Join(root, "python", "gvw", "*.py"))
	if err != nil {
		t.Fatal(err)
	}
	for _, module := range modules {
		text, err := os.ReadFile(module)
		if err != nil {
			t.Fatal(err)
		}
		names := map[string]bool{}
		for _, m := range pythonName.FindAllStringSubmatch(string(text), -1) {
			names[m[1]] = true
		}
		all["python/gvw/"+filepath.Base(module)] = names
	}
	return all
}

func receiver(e ast.Expr) string {
	switch e := e.(type) {
	case *ast.StarExpr:
		return receiver(e.X)
	case *ast.IndexExpr:
		return receiver(e.X)
	case *ast.IndexListExpr:
		return receiver(e.X)
	case *ast.Ident:
		return e.Name
	}
	return ""
}

func members(e ast.Expr) (names []string) {
	var list *ast.FieldList
	switch e := e.(type) {
	case *ast.StructType:
		list = e.Fields
	case *ast.InterfaceType:
		list = e.Methods
	default:
		return nil
	}
	for _, f := range list.List {
		for _, n := range f.Names {
			names = append(names, n.Name)
		}
	}
	return names
}

// missing lists the files and identifiers that a document names and the code does not have.
// It also counts all that the document names.
func missing(text string, have map[string]map[string]bool) (faults []string, count int) {
	for _, m := range named.FindAllStringSubmatch(text, -1) {
		path := m[1]
		names, ok := have[path]
		count++
		if !ok {
			faults = append(faults, fmt.Sprintf("no file %s", path))
			continue
		}
		for _, q := range quote.FindAllStringSubmatch(m[2], -1) {
			if count++; !names[q[1]] {
				faults = append(faults, fmt.Sprintf("%s declares no %s", path, q[1]))
			}
		}
	}
	return faults, count
}

// unplaced lists identifiers that a document names without a file and that no file
// declares. A word without a capital letter and a dot may be anything, such as a command.
func unplaced(text string, have map[string]map[string]bool) (faults []string) {
	known := map[string]bool{}
	for path, names := range have {
		pkg := filepath.Base(filepath.Dir(path))
		for name := range names {
			known[name], known[pkg+"."+name] = true, true
			if _, member, ok := strings.Cut(name, "."); ok {
				known[member] = true
			}
		}
	}
	for _, m := range word.FindAllStringSubmatch(text, -1) {
		name := m[1]
		_, suffix, dotted := strings.Cut(name, ".")
		switch {
		case known[name], otherNames[name] != "", environment.MatchString(name):
		case suffix == "go", suffix == "md", suffix == "sh", suffix == "vw": // a file
		case dotted, name != strings.ToLower(name):
			faults = append(faults, fmt.Sprintf("no file declares %s", name))
		}
	}
	return faults
}

func TestNamesInDocumentsExist(t *testing.T) {
	have := declared(t)
	for doc, text := range documents(t) {
		faults, count := missing(text, have)
		for _, fault := range faults {
			t.Errorf("%s: %s", doc, fault)
		}
		if doc != "CHANGELOG.md" { // it also names what was removed
			for _, fault := range unplaced(text, have) {
				t.Errorf("%s: %s", doc, fault)
			}
		}
		if doc == "docs/tour.md" && count < 20 {
			t.Errorf("%s names only %d files and functions: does it have the form that this test reads?", doc, count)
		}
	}
}

func TestMissingFindsAbsentNames(t *testing.T) {
	have := map[string]map[string]bool{"a/b.go": {"F": true, "T.M": true}}
	text := "See `a/b.go` `F`, `T.M` and `T.N`; then `a/c.go` `G`. A `word` alone is nothing."
	faults, count := missing(text, have)
	if want := "[a/b.go declares no T.N no file a/c.go]"; fmt.Sprint(faults) != want || count != 5 {
		t.Errorf("%v of %d, want %s of 5", faults, count, want)
	}
}

func TestMissingReadsOnAfterALineBreak(t *testing.T) {
	have := map[string]map[string]bool{"a/b.go": {"F": true}}
	faults, count := missing("See `a/b.go`\n`F`,\n`G` and\n`H`.", have)
	if want := "[a/b.go declares no G a/b.go declares no H]"; fmt.Sprint(faults) != want || count != 4 {
		t.Errorf("%v of %d, want %s of 4", faults, count, want)
	}
}

func TestUnplacedFindsWhatNoFileDeclares(t *testing.T) {
	have := map[string]map[string]bool{"a/b.go": {"T": true, "T.Move": true, "stage": true}}
	text := "`T` `T.Move` `Move` `a.T` `stage` `gvw` `x.md` `GVW_FAULT` `test.sh` `PATH` `-b 18`; `T.hybrid` `Stop` `c.T`"
	if got, want := fmt.Sprint(unplaced(text, have)), "[no file declares T.hybrid no file declares Stop no file declares c.T]"; got != want {
		t.Errorf("%s, want %s", got, want)
	}
}

func TestLinksBetweenDocumentsHold(t *testing.T) {
	for doc, text := range documents(t) {
		for _, m := range link.FindAllStringSubmatch(text, -1) {
			target := m[1]
			if strings.Contains(target, " ") {
				continue // not a link: code in brackets and parentheses
			}
			if _, err := os.Stat(filepath.Join(root, filepath.Dir(doc), target)); err != nil {
				t.Errorf("%s: link to %s: %v", doc, target, err)
			}
		}
	}
}
