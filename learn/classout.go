// SPDX-License-Identifier: Apache-2.0

package learn

import "strconv"

// write writes the lines of -p and -r. scores are probabilities where those are
// asked for.
func (m *chooser) write(tag []byte, scores []float32, best int, shown *classLabels) error {
	files := m.tally.files
	if files.mute {
		return nil
	}
	if p := files.predictions; p != nil {
		line := p.buf[:0]
		if m.probabilities || m.scores {
			line = shown.append(line, scores)
		} else {
			line = append(line, shown.text(best)...)
		}
		if err := p.addLine(line, tag); err != nil {
			return err
		}
	}
	raw := files.raw
	if raw == nil || m.probabilities || m.scores { // the file stays empty, as vw's
		return nil
	}
	numbered := *shown
	numbered.names = nil // as in vw
	return raw.addLine(numbered.append(append(raw.buf[:0], ' '), scores), tag)
}

// append appends class:score for each class, six significant digits each.
func (l *classLabels) append(dst []byte, scores []float32) []byte {
	for i, v := range scores {
		if i > 0 {
			dst = append(dst, ' ')
		}
		dst = append(append(dst, l.text(i)...), ':')
		dst = strconv.AppendFloat(dst, float64(v), 'g', 6, 64)
	}
	return dst
}
