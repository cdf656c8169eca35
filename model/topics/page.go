// SPDX-License-Identifier: Apache-2.0

package topics

import (
	"bytes"
	"crypto/sha256"
	_ "embed"
	"encoding/base64"
	"fmt"
	"html/template"
	"sync"
)

// style is the style sheet of the page. The policy of the page has its hash, so that a browser
// applies no other and runs no script.
//
//go:embed page.css
var style string

// pageText is well-formed as XML, too.
//
//go:embed page.html
var pageText string

// page is parsed at first use, since most commands make no page.
var page = sync.OnceValue(func() *template.Template { return template.Must(template.New("topics").Parse(pageText)) })

// bar is a word with a bar of its probability; box is the part of the page for a topic.
type (
	bar struct{ Name, Width, Text string }
	box struct {
		Number int
		Text   string
		Bars   []bar
	}
)

// AppendHTML appends the report as a page that needs no other files. Bars are relative to the most
// probable word of all topics.
func (r *Report) AppendHTML(dst []byte, title string) ([]byte, error) {
	largest := 0.0
	for _, t := range r.Topics {
		for _, w := range t.Top {
			largest = max(largest, w.Probability)
		}
	}
	var boxes []box
	for _, t := range r.Topics {
		b := box{Number: t.Topic, Text: fmt.Sprintf("%.1f %% of all tokens, exclusivity %.3f", 100*t.Prevalence, t.Exclusivity)}
		if t.Coherence != nil {
			b.Text += ", NPMI " + npmi(t.Coherence)
		}
		if t.Alpha > 0 {
			b.Text += fmt.Sprintf(", alpha %.4g", t.Alpha)
		}
		for _, w := range t.Top {
			b.Bars = append(b.Bars, bar{w.Name, fmt.Sprintf("%.2f", 100*w.Probability/largest), fmt.Sprintf("%.4f", w.Probability)})
		}
		boxes = append(boxes, b)
	}
	sum := sha256.Sum256([]byte(style))
	var out bytes.Buffer
	err := page().Execute(&out, map[string]any{
		"Title": title, "Lines": r.lines(), "Topics": boxes,
		"Style": template.CSS(style), "Hash": "sha256-" + base64.StdEncoding.EncodeToString(sum[:]),
	})
	return append(dst, out.Bytes()...), err
}
