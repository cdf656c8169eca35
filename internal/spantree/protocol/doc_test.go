// SPDX-License-Identifier: Apache-2.0

package protocol

import (
	"fmt"
	"maps"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/gvw-project/gvw/internal/wire"
)

const protocolPage = "../../../docs/protocol.md"

// section returns the cells of the table rows below a heading of the page,
// without the header of the table.
func section(t *testing.T, page, heading string) (rows [][]string) {
	t.Helper()
	_, text, found := strings.Cut(page, "\n"+heading+"\n")
	if !found {
		t.Errorf("%s has no %q", protocolPage, heading)
		return nil
	}
	if next := regexp.MustCompile(`\n#+ `).FindStringIndex(text); next != nil {
		text = text[:next[0]]
	}
	for line := range strings.Lines(text) {
		if !strings.HasPrefix(line, "| ") {
			continue
		}
		cells := strings.Split(strings.Trim(strings.TrimSpace(line), "|"), "|")
		for i := range cells {
			cells[i] = strings.TrimSpace(cells[i])
		}
		rows = append(rows, cells)
	}
	return rows
}

func TestProtocolPageHasEveryFrame(t *testing.T) {
	text, err := os.ReadFile(protocolPage)
	if err != nil {
		t.Fatal(err)
	}
	page := string(text)
	var want [][]string
	for _, kind := range slices.Sorted(maps.Keys(FrameKinds)) {
		k, from := FrameKinds[kind], "rank"
		if kind&fromServer != 0 {
			from = "server"
		}
		want = append(want, []string{fmt.Sprint(uint8(kind)), fmt.Sprintf("[%s](#%s)", k.name, strings.ToLower(k.name)), from, fmt.Sprint(k.Limit)})
	}
	var got [][]string
	for _, row := range section(t, page, "### Frames") {
		if len(row) == 5 && row[0] != "type" {
			got = append(got, row[:4])
		}
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("the table of frames, -code +page:\n%s", d)
	}
	for kind, k := range FrameKinds {
		t.Run(k.name, func(t *testing.T) { checkFrameTable(t, page, kind) })
	}
}

func checkFrameTable(t *testing.T, page string, kind frameType) {
	t.Helper()
	c := wire.Describe()
	FrameKinds[kind].newFrame().code(&c)
	if kind.Checked() {
		c.U32("crc32c", new(uint32))
	}
	want, offset, fixed := [][]string(nil), 0, true
	for _, f := range c.Fields() {
		at := "…"
		if fixed {
			at = fmt.Sprint(offset)
		}
		want = append(want, []string{at, f.Name, f.Kind})
		offset += f.Size
		fixed = fixed && f.Size > 0
	}
	var got [][]string
	for _, row := range section(t, page, "### "+kind.String()) {
		if len(row) == 4 && row[0] != "offset" {
			got = append(got, row[:3])
		}
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("the fields, -code +page:\n%s", d)
	}
}

func TestProtocolPageHasEveryCode(t *testing.T) {
	text, err := os.ReadFile(protocolPage)
	if err != nil {
		t.Fatal(err)
	}
	var want, got [][]string
	for _, c := range slices.Sorted(maps.Keys(codeNames)) {
		want = append(want, []string{fmt.Sprint(uint16(c)), c.String()})
	}
	for _, row := range section(t, string(text), "### Codes of a refusal") {
		if row[0] != "code" {
			got = append(got, row[:2])
		}
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("-code +page:\n%s", d)
	}
}

// The hello of docs/protocol.md is equal to the bytes of AppendHello.
func TestProtocolPageHasTheHello(t *testing.T) {
	text, err := os.ReadFile(protocolPage)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, row := range section(t, string(text), "### The hello") {
		if row[0] != "offset" {
			got = append(got, row[1])
		}
	}
	hello := AppendHello(nil)
	want := []string{fmt.Sprintf("% x", hello[:8]), fmt.Sprintf("% x", hello[8:16]), fmt.Sprintf("% x", hello[16:])}
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("-code +page:\n%s", d)
	}
}
