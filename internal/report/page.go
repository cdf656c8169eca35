// SPDX-License-Identifier: Apache-2.0

package report

import (
	"fmt"
	"html"
	"strings"
	"time"

	"github.com/gvw-project/gvw/internal/chart"
	"github.com/gvw-project/gvw/internal/record"
)

// Run is a run, and what is known about its model.
type Run struct {
	Name    string // short, for legends
	Record  *record.Record
	Scores  *Scores  // predictions of the model; nil: none are given
	Weights *Weights // of the model; nil: no model is given
}

// Page is a report on one or two runs.
type Page struct {
	Runs []*Run
}

// view is a page under construction.
type view struct {
	b    []byte
	runs []*Run
}

// AppendHTML appends the page.
func (p *Page) AppendHTML(dst []byte) []byte {
	v := &view{b: dst, runs: p.Runs}
	var names []string
	for _, r := range p.Runs {
		names = append(names, r.Name)
	}
	title := "Run " + strings.Join(names, " and ")
	if len(names) > 1 {
		title = "Runs " + strings.Join(names, " and ")
	}
	v.addf(`<!DOCTYPE html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width,initial-scale=1">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'">
<meta name="color-scheme" content="light dark"><meta name="generator" content="gvw report">
<title>%s</title>
<style>%s%s</style></head>
<body>
%s<main>
<h1>%s</h1>
`, escape(title), pageStyle, chart.Style, chart.Defs, escape(title))
	v.summary()
	v.lossSection()
	v.timeSection()
	v.trafficSection()
	v.vectorSection()
	v.scoreSection()
	v.weightSection()
	v.eventSection()
	v.factSection()
	v.addf("</main>\n</body></html>\n")
	return v.b
}

// pageStyle is the style sheet of the page without its pictures.
const pageStyle = `:root{color-scheme:light dark;--bg:#fff;--fg:#1b1f24;--mute:#57606a;--rule:#d8dee4;--hit:#fff1c2}
@media (prefers-color-scheme:dark){:root{--bg:#14181d;--fg:#e8edf2;--mute:#a5b0bb;--rule:#343c45;--hit:#4a3f12}}
@media print{:root{--bg:#fff;--fg:#000;--mute:#333;--rule:#bbb;--hit:#eee}}
body{margin:0;background:var(--bg);color:var(--fg);font:15px/1.5 system-ui,-apple-system,"Segoe UI",Roboto,"DejaVu Sans",sans-serif}
main{max-width:1440px;margin:0 auto;padding:12px 16px 48px}
h1{font-size:1.5rem;margin:.4em 0;overflow-wrap:anywhere}h2{font-size:1.2rem;margin:1.8em 0 .4em;border-bottom:1px solid var(--rule);padding-bottom:.2em}
h3{font-size:1rem;margin:.6em 0 .2em}p{margin:.4em 0;max-width:70em}.mute,figcaption{color:var(--mute)}
.grid{display:grid;grid-template-columns:repeat(auto-fit,minmax(min(100%,540px),1fr));gap:12px 28px;align-items:start}
figure{margin:.5em 0;min-width:0}.scroll{overflow-x:auto}.scroll:focus-visible{outline:2px solid currentColor}
.chart{max-width:100%;height:auto;min-width:500px;display:block}
table{border-collapse:collapse;font-variant-numeric:tabular-nums}th,td{text-align:left;padding:3px 14px 3px 0;border-bottom:1px solid var(--rule);vertical-align:top}
td{overflow-wrap:anywhere;min-width:4em;max-width:46em}.num{text-align:right;white-space:nowrap}th{font-weight:600}thead th{color:var(--mute)}
tr.differs>*{background:var(--hit)}code,.mono{font-family:ui-monospace,"DejaVu Sans Mono",Menlo,monospace;font-size:.92em}
summary{cursor:pointer;margin:.5em 0}ul{padding-left:1.2em}
@media print{body{font-size:11px}main{padding:0;max-width:none}figure,table{break-inside:avoid}h2,h3{break-after:avoid}.scroll{overflow:visible}.chart{min-width:0}.grid{grid-template-columns:1fr 1fr}}
`

func (v *view) addf(format string, args ...any) { v.b = fmt.Appendf(v.b, format, args...) }

// section begins a section.
func (v *view) section(title string) { v.addf("<h2>%s</h2>\n", escape(title)) }

// heading begins a part of a section. A name of a run that begins it stays as it is.
func (v *view) heading(title string) {
	if len(v.runs) == 1 {
		title = sentence(title)
	}
	v.addf("<h3>%s</h3>\n", escape(title))
}

// para adds a paragraph.
func (v *view) para(format string, args ...any) {
	text := fmt.Sprintf(format, args...)
	if len(v.runs) == 1 {
		text = sentence(text)
	}
	v.addf("<p>%s</p>\n", escape(text))
}

// figure adds a picture with a heading, and a caption unless it is empty.
func (v *view) figure(title, caption string, draw func(dst []byte) []byte) {
	v.addf("<figure>")
	v.heading(title)
	v.addf(`<div class="scroll" tabindex="0" role="group" aria-label="%s">`+"\n", escape(title))
	v.b = draw(v.b)
	v.addf("</div>")
	if caption != "" {
		v.addf("<figcaption>%s</figcaption>", escape(caption))
	}
	v.addf("</figure>\n")
}

// lines adds a picture of lines, unless there are none.
func (v *view) lines(title, caption string, l *chart.Lines) {
	if len(l.Series) == 0 {
		return
	}
	v.figure(title, caption, func(dst []byte) []byte { return l.AppendSVG(dst, chart.Inline) })
}

// grid begins and ends pictures beside each other.
func (v *view) grid(begin bool) {
	if begin {
		v.addf("<div class=\"grid\">\n")
		return
	}
	v.addf("</div>\n")
}

// row is a row of a table.
type row struct {
	cells   []string
	differs bool // mark it: the runs differ in it
}

// table adds a table. A heading that begins with # is of a column of numbers. The first cell of a row is its heading.
func (v *view) table(caption string, head []string, rows []row) {
	v.addf(`<div class="scroll" tabindex="0" role="group" aria-label="%s"><table>`, escape(caption))
	v.addf("<thead><tr>")
	classes := make([]string, len(head))
	for i, h := range head {
		if name, ok := strings.CutPrefix(h, "#"); ok {
			h, classes[i] = name, ` class="num"`
		}
		v.addf(`<th scope="col"%s>%s</th>`, classes[i], escape(h))
	}
	v.addf("</tr></thead>\n<tbody>\n")
	for _, r := range rows {
		mark := ""
		if r.differs {
			mark = ` class="differs"`
		}
		v.addf("<tr%s>", mark)
		for i, c := range r.cells {
			if i == 0 {
				if r.differs {
					c = "≠ " + c
				}
				v.addf(`<th scope="row"%s>%s</th>`, classes[i], escape(c))
				continue
			}
			v.addf("<td%s>%s</td>", classes[i], escape(c))
		}
		v.addf("</tr>\n")
	}
	v.addf("</tbody></table></div>\n")
}

// details adds contents that are folded.
func (v *view) details(summary string, add func()) {
	if len(v.runs) == 1 {
		summary = sentence(summary)
	}
	v.addf("<details><summary>%s</summary>\n", escape(summary))
	add()
	v.addf("</details>\n")
}

// label returns what belongs to a run, with its name if there are several.
func (v *view) label(r *Run, what string) string {
	switch {
	case len(v.runs) == 1:
		return what
	case what == "":
		return r.Name
	}
	return r.Name + ", " + what
}

// sentence returns text with a capital letter.
func sentence(s string) string { return strings.ToUpper(s[:1]) + s[1:] }

func escape(s string) string { return html.EscapeString(s) }

// seconds formats a time.
func seconds(s float64) string {
	d := time.Duration(s * float64(time.Second))
	switch {
	case d >= time.Hour:
		return d.Round(time.Second).String()
	case d >= time.Minute:
		return d.Round(100 * time.Millisecond).String()
	}
	return chart.Number(s) + " s"
}

// bytesText formats a number of bytes.
func bytesText(n float64) string {
	for _, u := range []string{"B", "KiB", "MiB", "GiB"} {
		if n < 1024 {
			return chart.Number(n) + " " + u
		}
		n /= 1024
	}
	return chart.Number(n) + " TiB"
}

// clock formats a time of a record.
func clock(t float64) string {
	if t <= 0 {
		return "unknown"
	}
	return time.UnixMicro(int64(t * 1e6)).UTC().Format("2006-01-02 15:04:05 UTC")
}
