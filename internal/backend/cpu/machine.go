package cpu

import (
	"fmt"
	"strings"

	"github.com/gopherwarp/gopherwarp/internal/backend/cpu/layout"
	"github.com/gopherwarp/gopherwarp/internal/ir"
)

// machine writes what the warps of a block do one after the other, each as a state machine: the states are
// regions. At a barrier of the block a warp keeps its variables and the next one's turn
// comes; when all had theirs the first goes on.
func (c *blockCoder) machine() {
	m := &machine{blockCoder: c, number: map[*layout.Region]int{}}
	for _, g := range c.List {
		if m.heads(g) {
			m.number[g] = len(m.states)
			m.states = append(m.states, g)
		}
		m.barriers = m.barriers || isBlockBarrier(g)
	}
	m.state, m.waiting = c.name("state", "state"), c.name("waiting", "waiting")
	if !m.barriers {
		m.warps()
		return
	}
	m.again = c.name("again", "again")
	c.out.line("for %s, %s := false, true; %s; %s = true {", m.again, m.waiting, m.waiting, m.again)
	c.out.line("%s = false", m.waiting)
	c.out.append(c.out.capture(m.warps))
	c.out.line("}")
}

type machine struct {
	*blockCoder
	states                []*layout.Region
	number                map[*layout.Region]int // of the states
	barriers              bool                   // warps wait for each other
	state, waiting, again string                 // names
}

func isBlockBarrier(g *layout.Region) bool { return g.Meets != nil && g.Meets.Op == ir.OpBarrier }

// heads reports whether g is a state, and not just what follows in another.
func (m *machine) heads(g *layout.Region) bool {
	var before []*layout.Region
	for _, h := range m.List {
		for _, s := range h.To {
			if m.Of[s.ID] == g {
				before = append(before, h)
			}
		}
	}
	return len(before) != 1 || before[0].Branch != nil || isBlockBarrier(before[0])
}

// warps writes the loop over the warps.
func (m *machine) warps() {
	threads, warp, end, alive := m.threadCount(), m.word("warp"), m.word("end"), m.word("alive")
	next := m.name("warps", "warps")
	if m.barriers {
		m.out.label(next)
	}
	m.out.line("for %s := 0; %s < %s; %s += 32 {", warp, warp, threads, warp)
	m.out.line("%s := min(%s+32, %s)", end, warp, threads)
	m.out.line("%s, %s := 0, ^uint32(0)>>(32+%s-%s)", m.state, alive, warp, end)
	if m.barriers {
		kept, vars := m.saved()
		m.out.line("if %s {", m.again)
		m.out.line("%s = %s", vars, kept)
		m.out.line("}")
	}
	m.out.line("for %s < %d {", m.state, len(m.states))
	m.out.line("switch %s {", m.state)
	for i, g := range m.states {
		m.out.line("case %d:", i)
		m.out.append(m.out.capture(func() { m.chain(g) }))
	}
	m.out.line("}")
	m.out.line("}")
	if m.barriers {
		m.out.line("*(*int)(%s) = %d", m.elementAt("states", 8, operand("%s", warp)), len(m.states))
	}
	m.out.line("}")
}

// threadCount returns the number of threads in a block.
func (m *machine) threadCount() string {
	if d := m.f.Block; d != [3]int{} {
		return fmt.Sprint(d[0] * max(1, d[1]) * max(1, d[2]))
	}
	name := m.name("threads count", "count")
	m.launch = append(m.launch, line{text: fmt.Sprintf("%s := %s.Threads()", name, m.word("blocks"))})
	return name
}

// saved returns the variables of a warp, and where they are while it waits.
func (m *machine) saved() (places, variables string) {
	warp := operand("%s", m.word("warp"))
	to := []string{fmt.Sprintf("*(*int)(%s)", m.elementAt("states", 8, warp)), fmt.Sprintf("*(*uint32)(%s)", m.elementAt("alives", 4, warp))}
	from := []string{m.state, m.word("alive")}
	for _, v := range m.declared(nil) {
		if m.isRoot(v) {
			panic(refuse("a pointer is live across a barrier"))
		}
		t := v.Type
		if t.IsPtr() {
			t = ir.I64
		}
		to = append(to, fmt.Sprintf("*(*%s)(%s)", m.typeName(t, false), m.elementAt(v, t.Size(), warp)))
		from = append(from, m.nameOf(v))
	}
	return strings.Join(to, ", "), strings.Join(from, ", ")
}

// chain writes a state: regions that follow each other and nothing else.
func (m *machine) chain(g *layout.Region) {
	for {
		n := &layout.Node{Block: g.First}
		m.body(n)
		if g.Leaves && len(g.To) > 0 {
			m.out.line("if %s == 0 {", m.word("alive"))
			m.out.line("%s = %d", m.state, len(m.states))
			m.out.line("continue")
			m.out.line("}")
		}
		if g.Branch != nil {
			holds, _ := m.condition(n)
			m.out.line("if %s {", holds)
			m.out.line("%s = %d", m.state, m.number[m.Of[g.To[0].ID]])
			m.out.line("} else {")
			m.out.line("%s = %d", m.state, m.number[m.Of[g.To[1].ID]])
			m.out.line("}")
			return
		}
		if len(g.To) == 0 {
			m.out.line("%s = %d", m.state, len(m.states))
			return
		}
		to := m.Of[g.To[0].ID]
		if number, ok := m.number[to]; ok {
			m.out.line("%s = %d", m.state, number)
			if isBlockBarrier(g) {
				m.wait()
			}
			return
		}
		g = to
	}
}

// wait writes that the warp waits for the others.
func (m *machine) wait() {
	places, variables := m.saved()
	m.out.line("%s = %s", places, variables)
	m.out.line("%s = true", m.waiting)
	m.out.line("continue %s", m.name("warps", "warps"))
}
