// SPDX-License-Identifier: Apache-2.0

package topics_test

import (
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/gvw-project/gvw/feature"
	"github.com/gvw-project/gvw/model"
	"github.com/gvw-project/gvw/model/topics"
)

// small returns a model of 4 words and 2 topics with eta 0.5: λ is
//
//	word    0  1  2  3
//	topic 0 6  2  1  1
//	topic 1 1  1  4  4
func small() *model.Topics {
	return &model.Topics{
		Header:  model.Header{Bits: 2, LDA: 2, Options: []model.Option{model.FloatOption("lda_rho", 0.5)}},
		Weights: []float32{5.5, 0.5, 1.5, 0.5, 0.5, 3.5, 0.5, 3.5},
	}
}

// newModel returns the model with these words.
func newModel(t *testing.T, m *model.Topics, words []uint32) *topics.Model {
	t.Helper()
	out, err := topics.New(m, words)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

var near = cmpopts.EquateApprox(1e-9, 1e-12)

func TestReport(t *testing.T) {
	v := topics.NewVocabulary()
	for i, name := range []string{"a", "b", "c", "d"} {
		v.Add(uint32(i), []byte(name))
	}
	r := newModel(t, small(), nil).Report(v, 2)
	want := []topics.Topic{
		// Of equals, the word with the lower number comes first. Both topics have 8 tokens.
		{Topic: 0, Prevalence: 0.5, Exclusivity: (6./7 + 2./3) / 2, Top: []topics.Word{{"a", 0, 0.6, 6. / 7}, {"b", 1, 0.2, 2. / 3}}},
		{Topic: 1, Prevalence: 0.5, Exclusivity: 0.8, Top: []topics.Word{{"c", 2, 0.4, 0.8}, {"d", 3, 0.4, 0.8}}},
	}
	if diff := cmp.Diff(want, r.Topics, near); diff != "" {
		t.Error(diff)
	}
}

// Without word 0 topic 0 has 4 tokens less 3·eta, and comes second.
func TestWordsOutsideTheVocabularyDoNotCount(t *testing.T) {
	r := newModel(t, small(), []uint32{1, 2, 3}).Report(nil, 1)
	want := []topics.Topic{
		{Topic: 1, Prevalence: 7.5 / 10, Exclusivity: 4. / 9 / (4./9 + 1./4), Top: []topics.Word{{"2", 2, 4. / 9, 4. / 9 / (4./9 + 1./4)}}},
		{Topic: 0, Prevalence: 2.5 / 10, Exclusivity: 0.5 / (0.5 + 1./9), Top: []topics.Word{{"1", 1, 0.5, 0.5 / (0.5 + 1./9)}}},
	}
	if diff := cmp.Diff(want, r.Topics, near); diff != "" {
		t.Error(diff)
	}
}

func TestCoherence(t *testing.T) {
	r := newModel(t, small(), nil).Report(nil, 2)
	pairs := r.Pairs()
	for _, words := range [][]uint32{{0, 1, 0}, {0, 1, 2}, {0}, {1, 2, 3}, {3}, {2}, {3, 3}, {}} {
		pairs.Add(words)
	}
	r.Score(pairs)
	// 0 and 1 are each in 3 of 8 documents, both in 2; 2 and 3 each in 3, both in 1.
	first := math.Log((2./8)/(3./8*3./8)) / -math.Log(2./8)
	second := math.Log((1./8)/(3./8*3./8)) / -math.Log(1./8)
	mean := (first + second) / 2
	if diff := cmp.Diff([]*float64{&first, &second, &mean}, []*float64{r.Topics[0].Coherence, r.Topics[1].Coherence, r.Coherence}, near); diff != "" {
		t.Error(diff)
	}
	if r.Documents != 8 {
		t.Errorf("%d documents, want 8", r.Documents)
	}
	for _, c := range []struct {
		docs [][]uint32
		want float64
	}{{[][]uint32{{0, 1}, {0, 1}}, 1}, {[][]uint32{{0}, {1}}, -1}, {[][]uint32{{0, 1}, {}}, 1}} {
		one := newModel(t, small(), []uint32{0, 1}).Report(nil, 2)
		p := one.Pairs()
		for _, words := range c.docs {
			p.Add(words)
		}
		if one.Score(p); math.Abs(*one.Topics[0].Coherence-c.want) > 1e-9 {
			t.Errorf("%v: NPMI %v, want %v", c.docs, *one.Topics[0].Coherence, c.want)
		}
	}
}

func TestVocabulary(t *testing.T) {
	hashed := feature.HashStrings([]byte("north"), feature.HashStrings([]byte("place"), 0)) % 256
	for _, c := range []struct {
		ids  topics.IDs
		text string
		want map[uint32]string
	}{
		{topics.ByLine, "a\nb\r\nc", map[uint32]string{0: "a", 1: "b", 2: "c", 3: "3"}},
		{topics.ByHash, "place^north\n17\n", map[uint32]string{hashed: "place^north", 17: "17"}},
		{topics.ByColumn, "x\t7\ny 7 120\nx 7\n", map[uint32]string{7: "x|y"}},
	} {
		v, err := topics.ReadVocabulary(strings.NewReader(c.text), c.ids, 8)
		if err != nil {
			t.Fatal(err)
		}
		for index, want := range c.want {
			if got := v.Name(index); got != want {
				t.Errorf("%s: word %d is %q, want %q", topics.IDNames[c.ids], index, got, want)
			}
		}
		again, err := topics.ReadVocabulary(strings.NewReader(string(v.AppendText(nil))), topics.ByColumn, 8)
		if err != nil || string(again.AppendText(nil)) != string(v.AppendText(nil)) {
			t.Errorf("%s: read again: %v\n%s", topics.IDNames[c.ids], err, again.AppendText(nil))
		}
		if want := map[topics.IDs]int{topics.ByColumn: 2}[c.ids]; v.Shared() != want {
			t.Errorf("%s: %d names share a word, want %d", topics.IDNames[c.ids], v.Shared(), want)
		}
	}
}

// An empty vocabulary has no words, and not all of the model.
func TestWordsOfAnEmptyVocabulary(t *testing.T) {
	if words := topics.NewVocabulary().Words(); words == nil || len(words) != 0 {
		t.Errorf("got %v, want an empty list", words)
	}
}

func TestReadVocabularyNamesTheLine(t *testing.T) {
	for _, c := range []struct {
		ids  topics.IDs
		text string
		want string
	}{
		{topics.ByLine, "a\nb\nc", "line 3: word 2, but the model has 2^1 words"},
		{topics.ByColumn, "a 1\nb", "line 2: got \"b\", want a word and its number"},
		{topics.ByColumn, "a one", "line 1: got \"one\", want the word's number"},
		{topics.ByColumn, "a -1", "line 1: got \"-1\", want the word's number"},
		{topics.ByLine, "a\na", "line 2: got \"a\" for word 1, but it is the name of word 0"},
		{topics.ByLine, "\n\n", "line 2: got \"\" for word 1, but it is the name of word 0"},
		{topics.ByColumn, "a 1\nb 1\na 0", "line 3: got \"a\" for word 0, but it is the name of word 1"},
		{topics.ByHash, "", "the vocabulary is empty"},
		{topics.ByLine, "a\n" + strings.Repeat("x", 1<<17), "line 2: "},
	} {
		if _, err := topics.ReadVocabulary(strings.NewReader(c.text), c.ids, 1); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s of %.20q: got %v, want %q", topics.IDNames[c.ids], c.text, err, c.want)
		}
	}
}

func TestNewRefusesDamagedModels(t *testing.T) {
	for _, bad := range []float32{-1, float32(math.NaN()), float32(math.Inf(1))} {
		m := small()
		m.Weights[5] = bad
		if _, err := topics.New(m, nil); err == nil || !strings.Contains(err.Error(), "word 2 has") {
			t.Errorf("%v: got %v, want an error that names word 2", bad, err)
		}
	}
	if _, err := topics.New(small(), []uint32{4}); err == nil {
		t.Error("a word beyond the model is accepted")
	}
}

// The perplexity is that of another implementation, in Python with SciPy's digamma.
func TestCompletionOfAnotherImplementation(t *testing.T) {
	m, err := model.ReadTopics(open(t, "../testdata/lda/themes.lda"), model.Limits{})
	if err != nil {
		t.Fatal(err)
	}
	c := newModel(t, m, nil).NewCompletion(slices.Repeat([]float64{0.1}, int(m.LDA)))
	lines, err := os.ReadFile("testdata/numbers.vw")
	if err != nil {
		t.Fatal(err)
	}
	parser, err := feature.NewParser(feature.Config{Bits: 7, NoConstant: true})
	if err != nil {
		t.Fatal(err)
	}
	var b feature.Batch
	for line := range strings.Lines(string(lines)) {
		if err := parser.AppendLine(&b, []byte(line), 1); err != nil {
			t.Fatal(err)
		}
	}
	for i := range b.Examples {
		c.Add(b.FeaturesOf(&b.Examples[i]))
	}
	const wantPerplexity, wantTokens = 319.7147772724721, 197
	got, tokens := c.Perplexity()
	if math.Abs(got-wantPerplexity) > 1e-9*got || tokens != wantTokens {
		t.Errorf("perplexity %v of %d tokens, want %v of %d", got, tokens, wantPerplexity, wantTokens)
	}
}

func open(t *testing.T, name string) io.Reader {
	t.Helper()
	b, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	return strings.NewReader(string(b))
}

func TestFormsOfTheReport(t *testing.T) {
	v := topics.NewVocabulary()
	v.Add(0, []byte(`<script>alert("&")</script>`))
	v.Add(0, []byte("b"))
	r := newModel(t, small(), nil).Report(v, 2)
	pairs := r.Pairs()
	pairs.Add([]uint32{0, 1})
	r.Score(pairs)
	text := string(r.AppendText(nil))
	for _, want := range []string{"2 topics, 4 words, alpha 0.1, eta 0.5\n", "2 names share their word", "NPMI", "|b 1\n", "    1      50.0%  -1.000       0.800  2 3\n"} {
		if !strings.Contains(text, want) {
			t.Errorf("the text has no %q:\n%s", want, text)
		}
	}
	data, err := r.AppendJSON(nil)
	if err != nil {
		t.Fatal(err)
	}
	var again topics.Report
	if err := json.Unmarshal(data, &again); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(r, &again); diff != "" {
		t.Errorf("the JSON has another report:\n%s", diff)
	}
	html, err := r.AppendHTML(nil, "Topics & bars")
	if err != nil {
		t.Fatal(err)
	}
	if s := string(html); strings.Contains(s, "<script") || strings.Contains(s, " style=") || strings.Count(s, "://") != 1 {
		t.Errorf("the page has a script, an inline style or an address:\n%s", s)
	}
	_, rest, _ := strings.Cut(string(html), "<style>")
	sheet, _, _ := strings.Cut(rest, "</style>")
	sum := sha256.Sum256([]byte(sheet))
	policy := ""
	d := xml.NewDecoder(strings.NewReader(string(html)))
	for bars := 0; ; {
		switch token, err := d.Token(); {
		case errors.Is(err, io.EOF):
			if bars != 4 {
				t.Errorf("%d bars, want 4", bars)
			}
			if want := "style-src 'sha256-" + base64.StdEncoding.EncodeToString(sum[:]) + "'"; !strings.HasSuffix(policy, want) {
				t.Errorf("policy %q, want %q at its end", policy, want)
			}
			return
		case err != nil:
			t.Fatalf("the page is not well-formed: %v\n%s", err, html)
		default:
			e, _ := token.(xml.StartElement)
			switch {
			case e.Name.Local == "rect":
				bars++
			case e.Name.Local == "meta" && e.Attr[0].Value == "Content-Security-Policy":
				policy = e.Attr[1].Value
			}
		}
	}
}

func FuzzReadVocabulary(f *testing.F) {
	f.Add("a\t1\nb\t2\n", 2)
	f.Add("place^north\nx", 1)
	f.Fuzz(func(t *testing.T, text string, ids int) {
		v, err := topics.ReadVocabulary(strings.NewReader(text), topics.IDs(ids), 6)
		if err != nil {
			return
		}
		for _, index := range v.Words() {
			if index >= 64 || v.Name(index) == "" && !strings.Contains("\n"+text, "\n") {
				t.Fatalf("word %d of 64 is %q", index, v.Name(index))
			}
		}
	})
}

func ExampleModel_Report() {
	v, err := topics.ReadVocabulary(strings.NewReader("sail\nwave\noven\nflour\n"), topics.ByLine, 2)
	if err != nil {
		fmt.Println(err)
		return
	}
	m, err := topics.New(small(), v.Words())
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, t := range m.Report(v, 2).Topics {
		fmt.Printf("topic %d, %.0f %% of the tokens: %s, %s\n", t.Topic, 100*t.Prevalence, t.Top[0].Name, t.Top[1].Name)
	}
	// Output:
	// topic 0, 50 % of the tokens: sail, wave
	// topic 1, 50 % of the tokens: oven, flour
}
