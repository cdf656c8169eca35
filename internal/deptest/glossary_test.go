// SPDX-License-Identifier: Apache-2.0

package deptest

import (
	"regexp"
	"slices"
	"strings"
	"testing"
)

var (
	// definition is an entry of the glossary: - **Term**: text.
	definition = regexp.MustCompile(`(?m)^- \*\*([^*]+)\*\*: `)
	// reference is a term in italics, which another entry defines.
	reference = regexp.MustCompile(`(?:^|[^*])\*([^*\s][^*]*)\*(?:[^*]|$)`)
)

// glossaryFaults lists terms that a glossary defines twice, and references to terms that it does
// not define. A reference may be in the plural, or leave out the last words of a term.
func glossaryFaults(text string) (faults []string) {
	var terms []string
	for _, m := range definition.FindAllStringSubmatch(text, -1) {
		term := strings.ToLower(m[1])
		if slices.Contains(terms, term) {
			faults = append(faults, term+" is defined twice")
		}
		terms = append(terms, term)
	}
	for _, m := range reference.FindAllStringSubmatch(text, -1) {
		name := strings.ToLower(strings.Join(strings.Fields(m[1]), " "))
		if name == "italics" { // the preamble
			continue
		}
		if !slices.ContainsFunc(terms, func(term string) bool {
			return term == name || term+"s" == name || strings.HasPrefix(term, name+" ")
		}) {
			faults = append(faults, name+" is not defined")
		}
	}
	return faults
}

func TestGlossaryDefinesEachTermOnce(t *testing.T) {
	text := documents(t)["docs/glossary.md"]
	for _, fault := range glossaryFaults(text) {
		t.Errorf("docs/glossary.md: %s", fault)
	}
	if n := len(definition.FindAllString(text, -1)); n < 50 {
		t.Errorf("docs/glossary.md defines %d terms; want the form \"- **Term**: text\"", n)
	}
}

func TestGlossaryFaults(t *testing.T) {
	text := "- **Rank**: a position of an *elastic* job. Other\n  *ranks* and *lost\n  links*.\n- **Elastic job**: x.\n- **Rank**: y.\n"
	got := strings.Join(glossaryFaults(text), "; ")
	if want := "rank is defined twice; lost links is not defined"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
}
