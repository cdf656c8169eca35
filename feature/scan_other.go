// SPDX-License-Identifier: Apache-2.0

//go:build !amd64 || noasm

package feature

const hasFast = false

func (p *Parser) markLine([]byte) {}

func (p *Parser) scan(fs []Feature, _ []byte, i int, _ uint32, _ float32) ([]Feature, int) {
	return fs, i
}
