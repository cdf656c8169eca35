// SPDX-License-Identifier: Apache-2.0

package topics

import "github.com/gvw-project/gvw/internal/fmath"

// Pairs counts the documents that have one or two of the top words of a topic.
type Pairs struct {
	docs   int
	places map[uint32][]place // of each top word
	single [][]int            // documents with the word, by topic of the report and place
	double [][][]int          // documents with both words, of which the first has the lower place
	found  [][]int            // scratch: places of the words of a document, by topic
	seen   map[uint32]int     // last document with the word
}

// place is where a topic of the report has a word.
type place struct{ topic, at int }

// Pairs returns counters for the top words of the report.
func (r *Report) Pairs() *Pairs {
	p := &Pairs{places: map[uint32][]place{}, found: make([][]int, len(r.Topics)), seen: map[uint32]int{}}
	for topic, t := range r.Topics {
		n := len(t.Top)
		p.single = append(p.single, make([]int, n))
		rows := make([][]int, n)
		for at, w := range t.Top {
			p.places[w.Index] = append(p.places[w.Index], place{topic, at})
			rows[at] = make([]int, n)
		}
		p.double = append(p.double, rows)
	}
	return p
}

// Add counts a document with these words, which may occur more than once.
func (p *Pairs) Add(words []uint32) {
	p.docs++
	for topic := range p.found {
		p.found[topic] = p.found[topic][:0]
	}
	for _, word := range words {
		if p.seen[word] == p.docs {
			continue
		}
		for _, at := range p.places[word] {
			p.seen[word] = p.docs
			p.found[at.topic] = append(p.found[at.topic], at.at)
		}
	}
	for topic, found := range p.found {
		for i, a := range found {
			p.single[topic][a]++
			for _, b := range found[:i] {
				p.double[topic][min(a, b)][max(a, b)]++
			}
		}
	}
}

// Score sets the coherence of each topic and their mean, if there are documents.
func (r *Report) Score(p *Pairs) {
	if r.Documents = p.docs; p.docs == 0 || len(r.Topics) == 0 {
		return
	}
	mean := 0.0
	for topic := range r.Topics {
		c := p.coherence(topic)
		r.Topics[topic].Coherence = &c
		mean += c / float64(len(r.Topics))
	}
	r.Coherence = &mean
}

// coherence returns the mean NPMI of the pairs of a topic; 0 for fewer than two words.
func (p *Pairs) coherence(topic int) float64 {
	sum, n := 0.0, 0
	for a, row := range p.double[topic] {
		for b := a + 1; b < len(row); b++ {
			sum += p.npmi(p.single[topic][a], p.single[topic][b], row[b])
			n++
		}
	}
	return sum / float64(max(n, 1))
}

// npmi returns the NPMI of two words by the numbers of their documents and of those with both.
func (p *Pairs) npmi(a, b, both int) float64 {
	docs := float64(p.docs)
	switch joint := float64(both) / docs; {
	case both == 0:
		return -1
	case both == p.docs:
		return 1 // the limit of words that occur only together
	default:
		return fmath.Log(joint*docs*docs/(float64(a)*float64(b))) / -fmath.Log(joint)
	}
}
