package main

import (
	"errors"
	"math"

	"github.com/gopherwarp/gopherwarp/device"
	"github.com/gopherwarp/gopherwarp/internal/kernels/matvec"
)

// step enqueues the computation of the next token from the last one.
func (m *model) step(s *device.Stream) error {
	err := Embed(s, device.Blocks{X: (m.hidden/8 + 127) / 128}, m.token, device.View[quad](m.table), device.View[numbers](m.x))
	for l := range m.layers {
		err = errors.Join(err, m.project(s, l), m.attention(s, l), m.output(s, l), m.gateUp(s, l), m.down(s, l))
	}
	return errors.Join(err, m.head(s), Choose(s, device.Blocks{X: 1}, m.scores.Best, m.token))
}

func (m *model) norm(layer, which int) matvec.Norm {
	return matvec.Norm{X: m.x, Gain: m.gains[layer][which], Epsilon: epsilon}
}

func (m *model) project(s *device.Stream, l int) error {
	return matvec.QKV(s, m.matrix(qkv, l), m.norm(l, 0), matvec.Token{
		Heads: m.heads, KeyHeads: m.keyHeads, Dim: headSize, Pages: m.pages(), At: m.at, Table: m.pageTable, Angles: m.angles,
		Q: m.q, K: m.k[l], V: m.v[l],
	})
}

// attentionScale is the scale of scores as exponents of 2.
func attentionScale() float32 { return float32(math.Log2E / math.Sqrt(headSize)) }

// attention enqueues one kernel or two.
func (m *model) attention(s *device.Stream, l int) error {
	if !m.oneKernel {
		return errors.Join(m.attend(s, l), m.join(s))
	}
	return AttendJoin(s, m.partBlocks(), device.View[quad](m.q), device.View[quad](m.k[l]), device.View[quad](m.v[l]), m.position,
		attentionScale(), device.View[numbers](m.sums), m.states, m.done, m.mixed)
}

// partBlocks returns a block for each head and part of the tokens.
func (m *model) partBlocks() device.Blocks { return device.Blocks{X: m.heads, Y: m.parts()} }

func (m *model) attend(s *device.Stream, l int) error {
	return Attend(s, m.partBlocks(), device.View[quad](m.q), device.View[quad](m.k[l]), device.View[quad](m.v[l]), m.position,
		attentionScale(), device.View[numbers](m.sums), m.states)
}

func (m *model) join(s *device.Stream) error {
	return Join(s, device.Blocks{X: m.heads}, m.sums, m.states, m.position, m.mixed)
}

func (m *model) output(s *device.Stream, l int) error {
	return matvec.Accumulate(s, m.matrix(output, l), m.mixed, m.x)
}

func (m *model) gateUp(s *device.Stream, l int) error {
	return matvec.GateUp(s, m.matrix(gateUp, l), m.norm(l, 1), m.mid)
}

func (m *model) down(s *device.Stream, l int) error {
	return matvec.Accumulate(s, m.matrix(down, l), m.mid, m.x)
}

func (m *model) head(s *device.Stream) error {
	return matvec.Logits(s, m.matrix(head, 0), m.norm(m.layers, 0), m.scores)
}
