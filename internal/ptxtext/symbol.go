package ptxtext

// The characters of codes and digits are printable ASCII without the space, none and the backquote.
const (
	digits  = 92  // number of them
	none    = '!' // at the start of a line: no tab; at its end: no semicolon
	leads   = 15  // the last characters start a code of two bytes
	singles = digits - leads
)

// Singles is the number of phrases with a code of one byte. They are the first of the table.
const Singles = singles

// MaxPhrases is the number of phrases in a table.
const MaxPhrases = singles + leads*digits

// digit returns the character with value v.
func digit(v int) byte {
	if v < '`'-'"' {
		return byte('"' + v)
	}
	return byte('"' + v + 1)
}

// value is the inverse of digit, and at least digits for other characters.
func value(c byte) int {
	switch {
	case c < '`':
		return int(c - '"') // a byte: large for c < '"'
	case c == '`':
		return digits
	}
	return int(c - '"' - 1)
}

// Symbols of phrases. Those of class c are classSymbol(c) and the kinds that follow it.
const (
	firstSymbol = 0x80
	symbolName  = 0xf0 // the name of the header
	symbolLine  = 0xf1 // a recent directive: the following digit is its number
	symbolByte  = 0xf2 // a byte: the following two digits are its value
)

// Kinds of references to a register or label of a class. The newest is the one that kindNext
// referred to last.
const (
	kindNext = 0  // the one after the newest, which it becomes
	kindNear = 1  // the newest, and with the next kinds those before it
	nears    = 12 // number of those kinds
	kindLow  = 13 // the following digit is its number
	kindFar  = 14 // the following digit, plus nears, is its distance from the newest
	kindBack = 15 // the following two digits are its distance
	kinds    = 16
)

// maxCopy is the length in bytes up to which the name and directives have symbols. It bounds what a
// byte of packed text expands to.
const maxCopy = 200

// classes are the prefixes of registers and, last, of labels. Labels also have numbers above that
// of the newest.
var classes = [...]string{"%p", "%r", "%rd", "%f", "%fd", "%rs", "$B"}

const (
	labels = len(classes) - 1
	ahead  = 8 // numbers by which kindNear of a label is above the newest
)

// Symbols returns all symbols. A table must have each of them as a phrase, so that it can express any
// text.
func Symbols() []byte {
	symbols := []byte{'\t'}
	for c := ' '; c <= '~'; c++ {
		symbols = append(symbols, byte(c))
	}
	for c := firstSymbol; c < firstSymbol+len(classes)*kinds; c++ {
		symbols = append(symbols, byte(c))
	}
	for c := symbolName; c <= symbolByte; c++ {
		symbols = append(symbols, byte(c))
	}
	return symbols
}

// Followed reports whether digits follow a symbol. Such a symbol ends its phrase.
func Followed(symbol byte) bool {
	if symbol >= symbolName {
		return symbol >= symbolLine
	}
	return symbol >= firstSymbol && symbol%kinds >= kindLow
}
