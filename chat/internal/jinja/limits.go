package jinja

import "strings"

// The limits of one run of a template.
const (
	mostSteps     = 1 << 24 // statements, iterations, calls of macros, elements of lists, and 256 bytes of text
	mostPrinted   = 1 << 26 // bytes that tags print, those of macros also where their result is printed
	mostBytes     = 1 << 26 // of one value
	mostAllocated = 1 << 30 // bytes that all operations allocate together, whether they are still in use or not
	mostElements  = 1 << 22 // of a list or dictionary
	mostMacros    = 1000    // that call each other
	mostDepth     = 20000   // of expressions, statements and values within each other
	mostNested    = 200     // expressions and statements within each other in the source
)

const (
	bytesPerStep    = 256
	bytesPerElement = 16
)

// work counts what a template does.
type work struct {
	interrupt                                 func() error // may be nil
	line                                      int          // of the statement that runs
	steps, printed, allocated, macros, nested int
}

// fail ends the run with an error at the current line.
func (w *work) fail(format string, args ...any) { fail(w.line, format, args...) }

// spend counts steps.
func (w *work) spend(n int) {
	const often = 256 // steps from one call of interrupt to the next
	before := w.steps
	if w.steps += n; w.steps > mostSteps {
		w.fail("the template takes more than %d steps", mostSteps)
	}
	if w.interrupt == nil || before/often == w.steps/often {
		return
	}
	if err := w.interrupt(); err != nil {
		panic(failure{err})
	}
}

// read counts the work of reading n bytes of text.
func (w *work) read(n int) { w.spend(n / bytesPerStep) }

// bytes counts n bytes of a new value that has size bytes with them.
func (w *work) bytes(n, size int) {
	if n > mostBytes || size > mostBytes {
		w.fail("a value of the template has more than %d bytes", mostBytes)
	}
	w.allocate(n)
	w.read(n)
}

// allocate counts bytes.
func (w *work) allocate(n int) {
	if w.allocated += n; w.allocated > mostAllocated {
		w.fail("the template allocates more than %d bytes", mostAllocated)
	}
}

// elements counts n new elements of a list that has size elements with them.
func (w *work) elements(n, size int) {
	if n > mostElements || size > mostElements {
		w.fail("a list of the template has more than %d elements", mostElements)
	}
	w.spend(n)
	w.allocate(n * bytesPerElement)
}

// times returns n multiplied by count, or a number above all limits.
func times(n, count int) int {
	if n > 0 && count > mostAllocated/n {
		return mostAllocated + 1
	}
	return n * count
}

// enter begins an expression, a statement, or a value within another one; leave ends it.
func (w *work) enter() {
	if w.nested++; w.nested > mostDepth {
		w.fail("the template or one of its values is nested more than %d deep", mostDepth)
	}
}

func (w *work) leave() { w.nested-- }

// builder builds a new string, whose bytes count.
type builder struct {
	w *work
	b strings.Builder
}

func (b *builder) write(s string) {
	b.w.bytes(len(s), b.b.Len()+len(s))
	b.b.WriteString(s)
}

func (b *builder) repeat(s string, n int) {
	b.w.bytes(times(len(s), n), b.b.Len()+times(len(s), n))
	for range n {
		b.b.WriteString(s)
	}
}

func (b *builder) String() string { return b.b.String() }
