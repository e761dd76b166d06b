package vasm

import (
	"slices"
	"strings"
)

// opposite are the jumps on the opposite condition.
var opposite = map[string]string{
	"JEQ": "JNE", "JNE": "JEQ", "JLT": "JGE", "JGE": "JLT", "JGT": "JLE", "JLE": "JGT",
	"JCS": "JCC", "JCC": "JCS", "JHI": "JLS", "JLS": "JHI",
}

func (in inst) label() (name string, ok bool) { return strings.CutSuffix(in.op, ":") }

// straighten takes detours out of the ways that jumps go.
func straighten(code []inst) []inst {
	for {
		n := len(code)
		follow(code)
		code = invert(code)
		code = reachable(code)
		if len(code) == n {
			return code
		}
	}
}

// follow lets jumps to jumps lead where those lead, and jumps to one of several labels at a place to the last of them.
func follow(code []inst) {
	lead := map[string]string{}
	for i, in := range code {
		if name, ok := in.label(); ok {
			next := behindLabels(code, i)
			if next < len(code) && code[next].op == "JMP" {
				lead[name] = code[next].ops[0].text
			} else if last, ok := code[next-1].label(); ok && last != name {
				lead[name] = last
			}
		}
	}
	for i, in := range code {
		if isJump(in.op) {
			to := in.ops[0].text
			for range len(lead) { // unless jumps go round in circles
				if lead[to] == "" {
					break
				}
				to = lead[to]
			}
			if to != in.ops[0].text {
				code[i].ops = []Operand{{kind: target, text: to}}
			}
		}
	}
}

// behindLabels returns the first instruction after i that is not a label.
func behindLabels(code []inst, i int) int {
	for i++; i < len(code); i++ {
		if _, ok := code[i].label(); !ok && code[i].op != "" {
			break
		}
	}
	return i
}

// invert makes one jump of one over another, and none of one to what is next. It writes over code, after what it reads.
func invert(code []inst) []inst {
	out := code[:0]
	for i := 0; i < len(code); i++ {
		in := code[i]
		if isJump(in.op) && leadsTo(code, i, in.ops[0].text) {
			continue
		}
		if i+1 < len(code) && opposite[in.op] != "" && code[i+1].op == "JMP" && leadsTo(code, i+1, in.ops[0].text) {
			in.op, in.ops = opposite[in.op], code[i+1].ops
			i++
		}
		out = append(out, in)
	}
	return out
}

// leadsTo reports whether the label stands right after instruction i.
func leadsTo(code []inst, i int, label string) bool {
	return slices.ContainsFunc(code[i+1:behindLabels(code, i)], func(in inst) bool { return in.op == label+":" })
}

// reachable returns the code without that after jumps to which nothing leads, and without labels that
// nothing leads to.
func reachable(code []inst) []inst {
	used := map[string]bool{}
	for _, in := range code {
		if isJump(in.op) {
			used[in.ops[0].text] = true
		}
	}
	dead := false
	return slices.DeleteFunc(code, func(in inst) bool {
		if name, ok := in.label(); ok {
			dead = dead && !used[name]
			return !used[name]
		}
		gone := dead
		dead = dead || in.op == "JMP" || in.op == "RET"
		return gone
	})
}
