// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestParseMessage(t *testing.T) {
	const two = "Content-Type: multipart/%s; boundary=\"x y\"\n\n" +
		"preamble\n--x y\nContent-Type: text/plain\n\nplain words\n" +
		"--x y\nContent-Type: text/html\n\n<b>html</b> words\n--x y--\n"
	for _, c := range []struct{ name, raw, subject, body string }{
		{"plain", "From a@b  Thu\nSubject: Hello\nTo: x\n\nthe body\n", "Hello", "the body"},
		{"carriage returns", "Subject: Hello\r\n\r\nthe\r\nbody\r\n", "Hello", "the\nbody"},
		{"folded header", "Subject: Hello\n\tworld\nX: y\n\nb\n", "Hello world", "b"},
		{"encoded header", "Subject: =?iso-8859-1?Q?Gr=FC=DFe?= =?utf-8?B?w6k=?=\n\nb\n", "Grüßeé", "b"},
		{"unknown charset", "Subject: =?x-none?Q?=E9t=E9?=\n\nb\n", "été", "b"},
		{"Latin-1 body", "\nna\xefve\n", "", "naïve"},
		{"quoted-printable", "Content-Transfer-Encoding: quoted-printable\n\nlong=\n er =3D\n", "", "long er ="},
		{"base64", "Content-Transfer-Encoding: base64\n\naGVsbG8gd29y\nbGQ=\n", "", "hello world"},
		{"torn base64", "Content-Transfer-Encoding: base64\n\naGVsbG8gd29yb\n", "", "hello wor"},
		{"alternatives: the first", fmt.Sprintf(two, "alternative"), "", "plain words"},
		{"mixed: all", fmt.Sprintf(two, "mixed"), "", "plain words\nhtml words"},
		{"an attachment is no text", "Content-Type: application/zip\n\nPK\n", "", ""},
		{"a lying boundary", "Content-Type: multipart/mixed; boundary=z\n\nwords\n", "", "words"},
		{"no header field", "no field here\n\nbody\n", "", "body"},
		{"html that says it is plain", "\n<html><body><p>one<br>two<p>three</body></html>\n", "", "one two three"},
		{"empty", "", "", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			m := parseMessage([]byte(c.raw))
			subject, body := strings.TrimSpace(m.subject), strings.TrimSpace(m.body)
			if c.name == "html that says it is plain" {
				body = strings.Join(strings.Fields(body), " ")
			}
			if subject != c.subject || body != c.body {
				t.Errorf("subject %q, body %q; want %q, %q", subject, body, c.subject, c.body)
			}
		})
	}
}

func TestSubjectsLoseTagsAndAddresses(t *testing.T) {
	for in, want := range map[string]string{
		"[ILUG] printers":              "printers",
		"Re: [ILUG] printers":          "Re: printers",
		"re: fwd: [SAtalk] [OT] x":     "re: fwd: x",
		"Re[2]: [use Perl] x":          "Re[2]: x",
		"an array a[1] stays":          "an array a[1] stays",
		"for joe@example.org only":     "for   only",
		"mail mailto:joe@example.org!": "mail  !",
	} {
		if got := strings.TrimSpace(cleanSubject(in)); got != want {
			t.Errorf("%q: %q, want %q", in, got, want)
		}
	}
}

func TestBodiesLoseFooters(t *testing.T) {
	for name, c := range map[string]struct{ in, want string }{
		"mailman": {
			"text\n\n_______________________________________________\nExmh-workers mailing list\nExmh-workers@redhat.com\nhttps://listman.redhat.com/mailman/listinfo/exmh-workers\n",
			"text",
		},
		"ilug":        {"text\n-- \nIrish Linux Users' Group: ilug@linux.ie\nhttp://www.linux.ie/mailman/listinfo/ilug for (un)subscription information.\n", "text\n--"},
		"sourceforge": {"text\n\n-------------------------------------------------------\nThis sf.net email is sponsored by: Jabber\nDon't just IM\n", "text"},
		"feed":        {"URL: http://boingboing.net/#85\nDate: Not supplied\n\nnews of http://example.org/x today", "news of   today"},
		"spam's own":  {"You are on our mailing list.\nTo unsubscribe click here\n", "You are on our mailing list.\nTo unsubscribe click here"},
		"address":     {"write to joe.doe+x@mail.example.org, please", "write to  , please"},
	} {
		t.Run(name, func(t *testing.T) {
			if got := strings.TrimSpace(cleanBody(c.in)); got != c.want {
				t.Error(cmp.Diff(c.want, got))
			}
		})
	}
}

func TestHTMLKeepsVisibleText(t *testing.T) {
	in := `<head><style>p {}</style></head><script>var x = "<p>"</script><p title="a">Cl<!-- x -->ick <b>he</b>re &amp; now<br>a &lt; b</p>`
	want := "Click here & now a < b"
	if got := strings.Join(strings.Fields(htmlText(in)), " "); got != want {
		t.Errorf("%q, want %q", got, want)
	}
}

func TestWordsAreDistinctLowerCaseAndSafe(t *testing.T) {
	in := "Don't MISS it! A 50% off: you'd pay $9.99|now, you'd! Ünïcode " + strings.Repeat("x", 21)
	want := []string{"dont", "miss", "it", "!", "off", "youd", "pay", "$", "now", "ünïcode"}
	if diff := cmp.Diff(want, words(in)); diff != "" {
		t.Error(diff)
	}
}

func TestLine(t *testing.T) {
	ex := newExample(1, "spam-1/00001", message{"Win!", "four words of text"})
	const want = "1 'spam-1/00001|s:0.707 win !|b:0.5 four words of text\n"
	if got := string(ex.appendLine(nil)); strings.ReplaceAll(got, " |b", "|b") != want {
		t.Errorf("%q, want %q", got, want)
	}
}

func TestSameLettersAreOneMessage(t *testing.T) {
	a := newExample(-1, "a", message{"one", "Hello, world 1"})
	b := newExample(1, "b", message{"two", "hello\nWORLD!"})
	c := newExample(1, "c", message{"Hello world", ""})
	kept, same := unique([]example{a, b, c})
	if len(kept) != 1 || kept[0].tag != "a" || same != 2 {
		t.Errorf("kept %d, first %q, same %d", len(kept), kept[0].tag, same)
	}
}

// corpus makes a folder with the layout of the package.
func corpus(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	for _, g := range groups {
		if err := os.MkdirAll(filepath.Join(dir, g.name), 0o700); err != nil {
			t.Fatal(err)
		}
		for i := range 20 {
			text := fmt.Sprintf("Subject: %s\n\nmessage %c of %s\n", g.name, 'a'+i, g.name)
			if err := os.WriteFile(filepath.Join(dir, g.name, fmt.Sprintf("%05d.x.txt", i)), []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
		}
	}
	return dir
}

func TestConvertIsDeterministicAndSplitsAll(t *testing.T) {
	dir := corpus(t)
	var files [2][2]string
	for i := range files {
		out := t.TempDir()
		if err := convert(io.Discard, dir, out); err != nil {
			t.Fatal(err)
		}
		for j, name := range []string{"train.vw.gz", "test.vw.gz"} {
			b, err := os.ReadFile(filepath.Join(out, name))
			if err != nil {
				t.Fatal(err)
			}
			files[i][j] = string(b)
		}
	}
	if files[0] != files[1] {
		t.Error("two runs differ")
	}
}

func TestConvertNamesTheMissingFolder(t *testing.T) {
	err := convert(&bytes.Buffer{}, t.TempDir(), t.TempDir())
	if err == nil || !strings.Contains(err.Error(), "easy-ham-1") {
		t.Errorf("error %v, want one that names easy-ham-1", err)
	}
}
