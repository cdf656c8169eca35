// SPDX-License-Identifier: Apache-2.0

package sgdstage

import "strconv"

// write writes the lines of -p and -r. scores are probabilities if these are predicted, and
// best is the chosen class.
func (m *Chooser) write(tag []byte, scores []float32, best int, shown *ClassLabels) error {
	files := m.tally.Files
	if files.Mute {
		return nil
	}
	if p := files.Predictions; p != nil {
		line := p.Buf[:0]
		if m.Probabilities || m.Scores {
			line = shown.append(line, scores)
		} else {
			line = append(line, shown.text(best)...)
		}
		if err := p.AddLine(line, tag); err != nil {
			return err
		}
	}
	raw := files.Raw
	if raw == nil || m.Probabilities || m.Scores { // as in vw the file of -r stays empty then
		return nil
	}
	numbered := *shown
	numbered.Names = nil // vw writes numbers to -r even with --named_labels
	return raw.AddLine(numbered.append(append(raw.Buf[:0], ' '), scores), tag)
}

// append appends class:score for each class. Scores have six significant digits, as C++ streams
// print them by default.
func (l *ClassLabels) append(dst []byte, scores []float32) []byte {
	for i, v := range scores {
		if i > 0 {
			dst = append(dst, ' ')
		}
		dst = append(append(dst, l.text(i)...), ':')
		dst = strconv.AppendFloat(dst, float64(v), 'g', 6, 64)
	}
	return dst
}
