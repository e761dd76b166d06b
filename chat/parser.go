package chat

import (
	"strings"
)

// markers are the texts with which models introduce calls of functions: Hermes and Qwen, Mistral, and Llama 3. In some models they are
// special tokens, which a decoder must not leave out of an answer that a Parser reads.
var markers = []string{openHermes, openMistral, openLlama}

const (
	openHermes  = "<tool_call>"
	closeHermes = "</tool_call>"
	openMistral = "[TOOL_CALLS]"
	argsMistral = "[ARGS]"
	openLlama   = "<|python_tag|>"
	endThought  = "</think>"
	fence       = "```"
)

// Markers returns the texts with which models mark function calls, such as <tool_call>. In some models, these texts are special tokens. A decoder
// must not omit them from an answer that a Parser reads.
func Markers() []string { return append(append([]string{}, markers...), argsMistral, closeHermes) }

// Part is a part of an answer: some text, or a part of a call.
type Part struct {
	Text string
	// Call is the number of the call, from 1. It is 0 for text.
	Call int
	// Name is the name of the function, in the first part of a call.
	Name string
	// Arguments is the next piece of the call's arguments. Together, the pieces are a JSON object, unless the model makes a mistake or the
	// answer ends within the object.
	Arguments string
}

// Parser finds function calls in a model's answer while the answer arrives. A Parser knows these forms:
//
//	<tool_call>{"name": "add", "arguments": {"a": 1}}</tool_call>           Hermes, Qwen; any number of them, also after text
//	[TOOL_CALLS][{"name": "add", "arguments": {"a": 1}}]                    Mistral
//	[TOOL_CALLS]add[ARGS]{"a": 1}                                           Mistral, since 2025; with or without [ARGS]
//	<|python_tag|>{"name": "add", "parameters": {"a": 1}}                   Llama 3, also without the marker
//	{"name": "add", "arguments": {"a": 1}}                                  other models; also in an array or a Markdown code block
//
// An object without a marker is a call only at the beginning of the answer or after the model's reasoning, and only if it names one of the Parser's
// functions. The rest of the answer is text. A Parser is not safe for concurrent use.
type Parser struct {
	names  map[string]bool // of functions
	state  func(*Parser) bool
	held   string // text that is not decided yet
	raw    string // since a marker: what is text if there is no call
	marker string
	array  bool // the object is in a list
	fenced bool // the object is in a block of Markdown
	begun  bool // there has been text, after which an object without a marker is no call
	inCall bool // what comes next is not text, unless the model makes a mistake
	object object
	calls  int
	parts  []Part
}

// NewParser returns a Parser for one answer. The model may call the functions in names.
func NewParser(names []string) *Parser {
	p := &Parser{names: map[string]bool{}, state: (*Parser).text}
	for _, name := range names {
		p.names[name] = true
	}
	return p
}

// Write adds a piece of the answer. It returns the parts that are complete; the Parser holds back text that may be the beginning of a call.
func (p *Parser) Write(text string) []Part {
	p.held += text
	for p.state(p) {
	}
	parts := p.parts
	p.parts = nil
	return parts
}

// Close ends the answer and returns the remaining parts.
func (p *Parser) Close() []Part {
	p.parts = nil
	if !p.object.streaming || p.object.done {
		p.emit(p.raw + p.held)
	}
	p.raw, p.held = "", ""
	return p.parts
}

// Within reports whether the answer so far ends within the arguments of a function call.
func (p *Parser) Within() bool { return p.object.streaming && !p.object.done }

// Calling reports whether the answer so far ends within a function call or directly after one. A call begins with its marker. If so, the
// next piece of the answer is not text, unless the model makes a mistake. An object without a marker counts only when it is certain to be a call.
func (p *Parser) Calling() bool { return p.inCall }

// emit adds a part of text.
func (p *Parser) emit(text string) {
	if text != "" {
		p.parts = append(p.parts, Part{Text: text})
	}
}

// text looks for a call in held. Like all states, it reports whether there is more to do now.
func (p *Parser) text() bool {
	if !p.begun && p.bare() {
		return true
	}
	at, found := len(p.held), ""
	for _, m := range append(markers, endThought) {
		if i := strings.Index(p.held, m); i >= 0 && i < at {
			at, found = i, m
		}
	}
	switch found {
	case "":
		n := len(p.held) - p.undecided()
		p.begun = p.begun || strings.TrimSpace(p.held[:n]) != ""
		p.emit(p.held[:n])
		p.held = p.held[n:]
		return false
	case endThought:
		at += len(endThought)
		p.emit(p.held[:at])
		p.held, p.begun = p.held[at:], false
		return true
	}
	n := len(strings.TrimRight(p.held[:at], space)) // the space before a call is no part of the text
	p.emit(p.held[:n])
	at += len(found)
	p.raw, p.held, p.marker = p.held[n:at], p.held[at:], found
	p.begun, p.array, p.fenced, p.inCall = true, false, false, true
	p.state = (*Parser).opened
	return true
}

const space = " \t\r\n"

// undecided returns the length of the end of held that may be the beginning of a call: space, the beginning of a marker, or, at the
// beginning of an answer, everything that may precede an object.
func (p *Parser) undecided() int {
	if rest := strings.TrimLeft(p.held, space); !p.begun && mayPrecede(rest) {
		return len(p.held)
	}
	longest := 0
	for _, m := range append(markers, endThought) {
		for n := min(len(m)-1, len(p.held)); n > longest; n-- {
			if strings.HasSuffix(p.held, m[:n]) {
				longest = n
			}
		}
	}
	rest := p.held[:len(p.held)-longest]
	return longest + len(rest) - len(strings.TrimRight(rest, space))
}

// mayPrecede reports whether a text may come before an object without a marker: nothing, the beginning of a list, or that of a block of
// Markdown.
func mayPrecede(text string) bool {
	if strings.HasPrefix(fence+"json", text) {
		return true
	}
	if after, ok := strings.CutPrefix(text, fence); ok {
		text = strings.TrimLeft(strings.TrimPrefix(after, "json"), space)
	}
	return strings.TrimRight(text, space) == "[" || text == ""
}

// bare looks for an object without a marker, and reports whether there is one.
func (p *Parser) bare() bool {
	rest := strings.TrimLeft(p.held, space)
	fenced := false
	if after, ok := strings.CutPrefix(rest, fence); ok {
		rest, fenced = strings.TrimLeft(strings.TrimPrefix(after, "json"), space), true
	}
	list, array := strings.CutPrefix(rest, "[")
	if array {
		rest = strings.TrimLeft(list, space)
	}
	if !strings.HasPrefix(rest, "{") {
		return false
	}
	p.raw, p.held, p.marker = p.held[:len(p.held)-len(rest)], rest, ""
	p.begun, p.array, p.fenced = true, array, fenced
	p.begin("")
	return true
}

// opened reads what follows a marker: an object, a list of objects, or the name of a function.
func (p *Parser) opened() bool {
	rest := strings.TrimLeft(p.held, space)
	if list, ok := strings.CutPrefix(rest, "["); ok && !p.array && p.marker == openMistral {
		p.array = true
		p.take(len(p.held) - len(list))
		return true
	}
	if strings.HasPrefix(rest, "{") {
		p.take(len(p.held) - len(rest))
		p.begin("")
		return true
	}
	if p.marker == openMistral && !p.array {
		return p.named()
	}
	if rest != "" {
		p.fail()
	}
	return rest != ""
}

// longestName is the length of the longest name of a function, and of what may follow it before the arguments.
const longestName = 128

// named reads the name of a function that its arguments follow.
func (p *Parser) named() bool {
	name, _, found := strings.Cut(p.held, "{")
	if !found {
		if len(p.held) > longestName {
			p.fail()
			return true
		}
		return false
	}
	n := len(name)
	name, _, _ = strings.Cut(name, "[")
	if name = strings.TrimSpace(name); name == "" || strings.ContainsAny(name, space) {
		p.fail()
		return true
	}
	p.take(n)
	p.begin(name)
	return true
}

// take moves the beginning of held to raw.
func (p *Parser) take(n int) { p.raw, p.held = p.raw+p.held[:n], p.held[n:] }

// fail makes a text of what looked like a call.
func (p *Parser) fail() {
	p.emit(p.raw)
	p.raw, p.object, p.state, p.inCall = "", object{}, (*Parser).text, false
}

// begin begins an object: a call, or the arguments of the function with a name.
func (p *Parser) begin(name string) {
	p.object = object{name: name, alone: name != ""}
	p.state = (*Parser).call
}

// known reports whether a call may be one of a function.
func (p *Parser) known(name string) bool { return name != "" && (p.marker != "" || p.names[name]) }

// call reads an object.
func (p *Parser) call() bool {
	var arguments []byte
	o := &p.object
	n := 0
	for n < len(p.held) && !o.done {
		before := o.streaming
		wanted := o.next(p.held[n], p.known)
		if o.streaming && !before {
			p.calls++
			p.parts = append(p.parts, Part{Call: p.calls, Name: o.name})
		}
		if wanted {
			arguments = append(arguments, p.held[n])
		}
		n++
	}
	p.take(n)
	if len(arguments) > 0 {
		p.parts = append(p.parts, Part{Call: p.calls, Arguments: string(arguments)})
	}
	if o.streaming {
		p.raw, p.inCall = "", true // certainly no text
	}
	return o.done && p.end()
}

// end ends an object.
func (p *Parser) end() bool {
	if o := &p.object; !o.streaming {
		name, arguments, ok := o.whole()
		if !ok || !p.known(name) {
			p.fail()
			return true
		}
		p.calls++
		p.parts = append(p.parts, Part{Call: p.calls, Name: name, Arguments: arguments})
	}
	p.raw, p.object, p.state, p.inCall = "", object{}, (*Parser).after, true
	return true
}

// after reads what follows a call: the end of its form, or another call.
func (p *Parser) after() bool {
	p.held = strings.TrimLeft(p.held, space)
	rest := p.held
	if rest != "" && (rest[0] == ',' || rest[0] == ';') {
		rest = strings.TrimLeft(rest[1:], space)
	}
	if rest == "" {
		return false
	}
	if p.marker != openHermes && strings.HasPrefix(rest, "{") {
		p.held = rest
		p.begin("")
		return true
	}
	for _, end := range p.ends() {
		if next, ok := strings.CutPrefix(rest, end); ok {
			p.held = next
			p.array = p.array && end != "]"
			p.fenced = p.fenced && end != fence
			return true
		}
		if strings.HasPrefix(end, rest) {
			return false
		}
	}
	p.state, p.inCall = (*Parser).text, false
	return true
}

// ends returns what may follow a call in its form.
func (p *Parser) ends() (list []string) {
	if p.marker == openHermes {
		list = append(list, closeHermes)
	}
	if p.array {
		list = append(list, "]")
	}
	if p.fenced {
		list = append(list, fence)
	}
	return list
}
