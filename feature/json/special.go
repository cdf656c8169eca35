// SPDX-License-Identifier: Apache-2.0

package json

import (
	"bytes"

	"github.com/gvw-project/gvw/feature"
)

// special reads the value of a key that begins with '_'.
func (p *Parser) special(top *frame, key []byte) *feature.MalformedError {
	switch {
	case string(key) == "_label":
		return p.label()
	case bytes.HasPrefix(key, []byte("_label_")):
		return p.labelPart(key[len("_label_"):])
	case fold(key, "_labelIndex"):
		return p.multiline(key)
	case bytes.HasPrefix(key, []byte("_label")):
		return p.fault("unknown key %q: labels are \"_label\" and \"_label_Weight\"", clip(key))
	case string(key) == "_text":
		return p.words(top)
	case fold(key, "_tag"):
		return p.tag()
	case string(key) == "_multi", string(key) == "_slots", string(key) == "_slot_id",
		string(key) == "_original_label_cost", fold(key, "__aid"):
		return p.multiline(key)
	}
	return p.skip()
}

func (p *Parser) multiline(key []byte) *feature.MalformedError {
	return p.fault("%q belongs to an example of several actions, which a linear learner does not have", clip(key))
}

// tag reads the value of "_tag".
func (p *Parser) tag() *feature.MalformedError {
	switch p.peek() {
	case 'n':
		return p.literal("null")
	case '"':
		text, err := p.readText()
		if err == nil {
			p.b.Tag(text)
		}
		return err
	}
	return p.fault("a tag is text")
}

// words reads the value of "_text": names of features.
func (p *Parser) words(top *frame) *feature.MalformedError {
	switch p.peek() {
	case 'n':
		return p.literal("null")
	case '"':
	default:
		return p.fault("\"_text\" is text")
	}
	text, err := p.readText()
	if err != nil {
		return err
	}
	p.joined = append(p.joined[:0], text...)
	text = p.joined
	for i := 0; i < len(text); {
		start := i
		for ; i < len(text) && text[i] != ' ' && text[i] != '\t'; i++ {
			if text[i] == ':' || text[i] == '|' {
				text[i] = '_'
			}
		}
		if i > start {
			p.b.Feature(cut(text[start:i]), 1)
			top.used = true
		}
		i++
	}
	return nil
}

// label reads the value of "_label".
func (p *Parser) label() *feature.MalformedError {
	switch p.peek() {
	case 'n':
		return p.literal("null")
	case '{':
		p.i++
		return p.labelObject()
	case '"':
		text, err := p.readText()
		if err == nil {
			p.b.Label(cut(text))
		}
		return err
	case 't', 'f', '[':
		return p.fault("a label is a number, text like \"1 0.5\" or an object")
	}
	v, err := p.number()
	if err == nil {
		p.b.SetLabel(v)
	}
	return err
}

// labelObject reads the members of a label, behind its '{'.
func (p *Parser) labelObject() *feature.MalformedError {
	p.b.SetLabel(feature.NoLabel)
	for first := true; ; first = false {
		c := p.peek()
		if c == '}' {
			p.i++
			return nil
		}
		if !first {
			if c != ',' {
				return p.fault("a comma or '}' is needed")
			}
			p.i++
		}
		key, err := p.readKey()
		if err != nil {
			return err
		}
		if err := p.labelPart(key); err != nil {
			return err
		}
	}
}

// labelPart reads the value of a part of the label.
func (p *Parser) labelPart(name []byte) *feature.MalformedError {
	var set func(b *feature.Builder, v float32)
	switch {
	case fold(name, "Label"):
		set = (*feature.Builder).SetLabel
	case fold(name, "Weight"):
		set = (*feature.Builder).SetWeight
	case fold(name, "Initial"):
		set = (*feature.Builder).SetInitial
	case fold(name, "Action"), fold(name, "Cost"), fold(name, "Probability"), fold(name, "Pdf_value"):
		return p.fault("%q is part of a contextual bandit's label, which a linear learner does not have", clip(name))
	default:
		return p.fault("a label has Label, Weight and Initial, not %q", clip(name))
	}
	switch p.peek() {
	case 'n':
		return p.literal("null")
	case '"', 't', 'f', '[', '{':
		return p.fault("%s of a label is a number", clip(name))
	}
	v, err := p.number()
	if err == nil {
		set(p.b, v)
	}
	return err
}

// fold reports whether key is name, ignoring case.
func fold(key []byte, name string) bool {
	return len(key) == len(name) && bytes.EqualFold(key, []byte(name))
}
